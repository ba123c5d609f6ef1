import tool


def test_tool():
    assert tool.tool(3) == 2

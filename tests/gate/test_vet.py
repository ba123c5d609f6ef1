"""What is refused by its text alone, each trick beside an honest test that looks like it."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from gate.admit import REASONS
from gate.vet import vet

HOSTILE = sorted((Path(__file__).parent / "hostile").glob("*.py"))
FIRST_LINE = re.compile(r"# refused: ([a-z-]+(?:, [a-z-]+)*) by: (vet|runs)")
MODULES = ("bank.account", "bank")


def reason(code: str, modules: tuple[str, ...] = MODULES) -> str:
    decision = vet(textwrap.dedent(code), modules)
    if decision is None:
        return ""
    assert not decision.kept
    assert decision.detail
    return decision.reason


def body(text: str, arguments: str = "", head: str = "") -> str:
    """A draft whose only test does that, with the imports of most of these cases."""
    imports = "import bank, bank.account, os, sys\nfrom bank import withdraw, Account\n"
    lines = textwrap.indent(textwrap.dedent(text).strip("\n"), "    ")
    return f"{imports}{textwrap.dedent(head)}\ndef test_x({arguments}):\n{lines}\n"


# The collection


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.stem)
def test_every_hostile_draft_is_refused_by_its_text_or_left_to_its_runs(path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    said = FIRST_LINE.fullmatch(code.split("\n")[0])
    assert said, "its first line says by which reasons it is refused, and by what"
    reasons = said[1].split(", ")
    assert set(reasons) <= set(REASONS) - {"kept"}
    assert reason(code, ("bank",)) in (reasons if said[2] == "vet" else [""])


def test_the_collection_holds_every_refusal_that_a_draft_alone_can_get() -> None:
    lines = [path.read_text(encoding="utf-8").split("\n")[0] for path in HOSTILE]
    found = {name for line in lines for name in line.partition(" by:")[0][11:].split(", ")}
    assert len(lines) >= 25
    assert set(REASONS) - found == {
        "kept",
        "duplicate",  # takes two drafts
        "environment-differs",  # takes an instrument that is at fault
    }


# Parsing and counting


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def test_x(:\n", "(line 1)"),
        ("def test_x():\nreturn 1\n", "(line 2)"),
        ("def test_x():\n    pass\n\0", "null byte"),
        ("x = " + "(" * 300 + ")" * 300, "nested"),
        ("x = " + "-" * 100_000 + "1", "Python cannot parse it"),
        ("'''", "(line 1)"),
    ],
)
def test_what_does_not_parse_is_refused_with_pythons_own_words(code: str, words: str) -> None:
    decision = vet(code, MODULES)
    assert decision is not None
    assert decision.reason == "does-not-parse"
    assert words in decision.detail


def test_a_draft_that_is_nested_too_deeply_to_be_read_is_refused() -> None:
    assert reason("X = " + "'a' + " * 700 + "'b'\ndef test_x(): pass\n") == "detects-harness"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("", "no-test"),
        ("def check(): assert 1", "no-test"),
        ("class Test:\n    def check(self): pass", "no-test"),
        ("class Helper:\n    def test_x(self): pass", "no-test"),
        ("class TestX:\n    def __init__(self): pass\n    def test_x(self): pass", "no-test"),
        ("if __name__ == '__main__':\n    def test_x(): pass", "no-test"),
        ("def helper():\n    def test_x(): pass", "no-test"),
        ("import pytest\n@pytest.fixture\ndef test_data(): return 1", "no-test"),
        ("def test_a(): pass\ndef test_b(): pass", "several-tests"),
        ("def test_a(): pass\nclass TestB:\n    def test_b(self): pass", "several-tests"),
        ("def test_a(): pass\ntest_b = lambda: None", "several-tests"),
        ("def test_a(): pass\nif True:\n    async def test_b(): pass", "several-tests"),
        ("try:\n    def test_a(): pass\nexcept OSError:\n    def test_b(): pass", "several-tests"),
        ("def test_x(): pass", ""),
        ("async def test_x(): pass", ""),
        ("def testing(): pass", ""),
        ("class TestX:\n    def test_x(self): pass\n    def helper(self): pass", ""),
        ("class TestX:\n    class TestY:\n        def test_x(self): pass", ""),
        ("import unittest\nclass Bank(unittest.TestCase):\n    def test_x(self): pass", ""),
        (
            "from unittest import IsolatedAsyncioTestCase as T, TestCase\nclass Base(TestCase): "
            "pass\nclass Bank(Base):\n    async def test_x(self): pass",
            "",
        ),
        ("import sys\nif sys.platform:\n    def test_x(): pass\nelse:\n    def test_x(): pass", ""),
        ("test_data = [1, 2]\ndef test_x(): pass", ""),
        ("def helper(): pass\ndef test_x(): helper()", ""),
        ("def test_x(): pass\nif __name__ == '__main__':\n    def test_y(): pass", ""),
    ],
)
def test_exactly_one_function_that_pytest_would_collect_is_a_test(code: str, expected: str) -> None:
    assert reason(code) == expected


# Reading


@pytest.mark.parametrize(
    "text",
    [
        "import inspect; inspect.getsource(withdraw)",
        "from inspect import getsourcelines as lines; lines(withdraw)",
        "import inspect as i; i.getsourcefile(bank)",
        "import inspect; getattr(inspect, 'getsource')(withdraw)",
        "import linecache",
        "from tokenize import generate_tokens",
        "import importlib; importlib.import_module('dis').dis(withdraw)",
        "import marshal",
        "import ctypes",
        "withdraw.__code__",
        "withdraw.__func__.__code__.co_code",
        "getattr(withdraw, '__code__')",
        "getattr(withdraw, '__co' + 'de__')",
        "getattr(withdraw, '__edoc__'[::-1])",
        "part = 'code'; getattr(withdraw, f'__{part}__')",
        "'{0.__code__}'.format(withdraw)",
        "open(bank.__file__)",
        "open(getattr(bank, '__file__'))",
        "open(vars(bank)['__file__'])",
        "open(sys.modules['bank'].__file__)",
        "import importlib; open(importlib.import_module('bank.account').__file__)",
        "other = bank; open(other.__file__)",
        "open('account.py')",
        "from pathlib import Path; (Path(__file__).parent / 'account.py').read_text()",
        "os.stat('bank/account.py')",
        "open('bank/__pycache__/account.cpython-311.pyc', 'rb')",
        "import importlib.util; importlib.util.cache_from_source('x')",
        "bank.__cached__",
        "bank.__loader__.get_data('x')",
        "bank.__spec__.origin",
        "import importlib.util as u; u.find_spec('bank').loader.get_source('bank')",
        "import pkgutil; pkgutil.get_data('bank', 'account.py')",
        "import traceback; traceback.extract_tb(None)",
        "error.__traceback__.tb_frame",
        "(x for x in y).gi_frame.f_locals",
    ],
)
def test_what_reads_source_or_bytecode_is_refused(text: str) -> None:
    assert reason(body(text)) == "reads-source"


# Looking at what runs it


@pytest.mark.parametrize(
    "text",
    [
        "import _hermutic_start",
        "from _hermutic_start import emit",
        "'HERMUTIC' in os.environ",
        "bank.hermutic",
        "name = '_her' + 'mutic_start'",
        "for name in sys.modules: pass",
        "len(sys.modules)",
        "mods = sys.modules",
        "sys.modules.items()",
        "name = 'x'; sys.modules[name + str(1)]",
        "for name in os.environ: pass",
        "os.environ.items()",
        "sorted(os.environ)",
        "from os import environ; list(environ)",
        "open('/proc/self/maps')",
        "sys._getframe(1)",
        "from sys import _getframe",
        "import gc; gc.get_objects()",
        "sys.flags.dont_write_bytecode",
        "sys.dont_write_bytecode",
        "sys.settrace(None)",
        "import inspect; inspect.stack()",
        "os.environ.get('PYTEST_CURRENT_TEST')",
        "eval(input())",
        "exec(open('x').read())",
        "code = compile(str(1), 'x', 'exec')",
        "run = exec",
        "list(map(eval, ['1']))",
        "import builtins; builtins.exec(str(1))",
        "import builtins; getattr(builtins, 'exec')(str(1))",
        "__import__(str(1))",
        "import importlib; importlib.import_module(f'{bank}')",
        "__builtins__",
        "globals()['__builtins__']",
        "().__class__.__base__.__subclasses__()",
        "for fd in range(3, 99): os.write(fd, b'x')",
        "os.write(200, b'x')",
    ],
)
def test_what_looks_at_what_runs_it_is_refused(text: str) -> None:
    assert reason(body(text)) == "detects-harness"


def test_constant_code_is_read_like_the_rest() -> None:
    assert reason(body("exec('import inspect; inspect.getsource(f)')")) == "reads-source"
    assert reason(body("eval('withdraw.__' + 'code__')")) == "reads-source"
    assert reason(body("exec('bank.withdraw = None')")) == "patches"
    assert reason(body("exec('withdraw = None', vars(bank))")) == "patches"
    assert reason(body("assert eval('1 + 1') == 2")) == ""


def test_the_drafts_own_file_may_be_named_and_words_for_people_say_what_they_like() -> None:
    assert reason(body("assert __name__ == 'test_hermutic_0a1b2c3d4e5f'")) == ""
    assert reason(body("'''Detects what hermutic found in bank.py: inspect.getsource.'''")) == ""


# Patching


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("monkeypatch.setattr(bank, 'withdraw', print)", "monkeypatch"),
        ("monkeypatch.setattr('bank.account.withdraw', print)", "monkeypatch"),
        ("monkeypatch.setattr(bank.account.Account, 'owner', 1)", "monkeypatch"),
        ("monkeypatch.setattr(target=Account, name='owner', value=1)", "monkeypatch"),
        ("monkeypatch.delattr(Account, 'owner')", "monkeypatch"),
        ("monkeypatch.setitem(bank.PLANS, 'x', 1)", "monkeypatch"),
        ("monkeypatch.setitem(bank.__dict__, 'x', 1)", "monkeypatch"),
        ("monkeypatch.setitem(sys.modules, 'bank', None)", "monkeypatch"),
        ("monkeypatch.delitem(sys.modules, 'bank.account')", "monkeypatch"),
        ("with patch('bank.withdraw'): pass", ""),
        ("with mock.patch('bank.withdraw'): pass", ""),
        ("with mock.patch.object(bank, 'withdraw'): pass", ""),
        ("with mock.patch.object('bank.Account', 'owner'): pass", ""),
        ("with patch.multiple('bank', withdraw=1): pass", ""),
        ("with patch.dict(bank.PLANS, x=1): pass", ""),
        ("with patch.dict('bank.PLANS', x=1): pass", ""),
        ("with patch.dict(sys.modules, {'bank': None}): pass", ""),
        ("with patch.dict('sys.modules', values={'bank': None}): pass", ""),
        ("with patch(bank.__name__ + '.withdraw'): pass", ""),
        ("name = 'bank.withdraw'\nwith patch(name): pass", ""),
        ("mocker.patch('bank.withdraw')", "mocker"),
        ("mocker.patch.object(bank, 'withdraw')", "mocker"),
        ("mocker.spy(bank, 'withdraw')", "mocker"),
        ("setattr(bank, 'withdraw', print)", ""),
        ("delattr(bank, 'withdraw')", ""),
        ("for name in ('a', 'b'): setattr(bank, name, 1)", ""),
        ("for one in (bank, bank.account): one.withdraw = print", ""),
        ("object.__setattr__(bank, 'withdraw', print)", ""),
        ("type.__setattr__(Account, 'owner', 1)", ""),
        ("bank.__setattr__('withdraw', print)", ""),
        ("bank.withdraw = print", ""),
        ("bank.LIMIT += 1", ""),
        ("del bank.withdraw", ""),
        ("bank.account.Account.owner = 1", ""),
        ("withdraw.limit = 1", ""),
        ("module = bank\nmodule.withdraw = print", ""),
        ("module = sys.modules['bank']\nmodule.withdraw = print", ""),
        ("Account().__class__.owner = 1", ""),
        ("account = Account()\ntype(account).owner = 1", ""),
        ("vars(bank)['withdraw'] = print", ""),
        ("bank.__dict__.update(withdraw=print)", ""),
        ("withdraw.__globals__['LIMIT'] = 1", ""),
        ("sys.modules['bank'] = None", ""),
        ("del sys.modules['bank']", ""),
        ("sys.modules.pop('bank')", ""),
        ("import importlib; importlib.reload(bank)", ""),
        ("from importlib import reload; reload(sys.modules['bank'])", ""),
        ("from .. import account\naccount.LIMIT = 1", ""),
    ],
)
def test_what_changes_the_code_under_test_is_refused(text: str, arguments: str) -> None:
    head = "from unittest import mock\nfrom unittest.mock import patch\n"
    assert reason(body(text, arguments, head)) == "patches"


def test_a_decorator_patches_like_a_call() -> None:
    code = """
        from unittest.mock import patch

        @patch("bank.withdraw")
        def test_x(fake):
            pass
    """
    assert reason(code) == "patches"


# Other tests, and the session


@pytest.mark.parametrize(
    ("head", "text"),
    [
        ("def pytest_runtest_setup(item): pass", "pass"),
        ("def pytest_generate_tests(metafunc): pass", "pass"),
        ("pytest_plugins = ['x']", "pass"),
        ("from elsewhere import pytest_runtest_call", "pass"),
        ("import pytest\n@pytest.fixture(autouse=True)\ndef f(): pass", "pass"),
        ("import pytest\npytest.exit('x')", "pass"),
        ("import pytest", "pytest.exit('x')"),
        ("import pytest", "pytest.main()"),
        ("import pytest", "pytest.raises = None"),
        ("import _pytest.runner", "_pytest.runner.call_and_report = None"),
        ("import sys\nsys.exit(0)", "pass"),
        ("raise SystemExit", "pass"),
        ("if withdraw(1, 1):\n    quit()", "pass"),
        ("import os", "os._exit(0)"),
        ("from os import _exit", "pass"),
        ("", "request.config.pluginmanager.register(1)"),
        ("import sys", "sys.modules['pytest'] = None"),
    ],
)
def test_what_reaches_other_tests_or_ends_the_session_is_refused(head: str, text: str) -> None:
    assert reason(body(text, "request", head)) == "breaks-neighbour"


@pytest.mark.parametrize(
    ("head", "text"),
    [
        ("import pytest\npytestmark = pytest.mark.skip", "pass"),
        ("import pytest as p\npytestmark = [p.mark.xfail(strict=True)]", "pass"),
        ("import pytest\npytestmark = pytest.mark.skipif(True, reason='x')", "pass"),
        ("from pytest import mark\npytestmark = mark.xfail", "pass"),
        ("import pytest", "pytest.skip('x')"),
        ("from pytest import xfail", "xfail('x')"),
        ("import unittest", "raise unittest.SkipTest"),
        ("", "request.node.add_marker('xfail')"),
    ],
)
def test_what_keeps_a_failure_from_counting_is_refused(head: str, text: str) -> None:
    assert reason(body(text, "request", head)) == "no-test"


def test_a_refusal_names_the_line_and_the_thing() -> None:
    decision = vet("import bank\n\n\ndef test_x():\n    bank.withdraw = print\n", ("bank",))
    assert decision is not None
    assert decision.detail == "it changes bank.withdraw, a part of the code under test (line 5)"


# Honest tests


EVERYTHING = """
import ast, asyncio, copy, functools, gc, importlib, importlib.util, inspect, logging, pickle
import pkgutil, random, re, time, types, warnings
from pathlib import Path
from unittest.mock import Mock, patch
import pytest
"""
FIXTURES = "tmp_path, monkeypatch, capsys, caplog, recwarn, request"
HONEST = """
assert withdraw(3, 1) == 2

(tmp_path / 'a.txt').write_text('x')
assert (tmp_path / 'a.txt').exists()

with open(tmp_path / 'a.py', 'w') as file:
    file.write('x')

monkeypatch.setenv('LIMIT', '1')
monkeypatch.chdir('/')
monkeypatch.setattr(time, 'sleep', print)
monkeypatch.setattr('time.sleep', print)
monkeypatch.setattr(bank.time, 'sleep', print)
monkeypatch.setattr(sys, 'argv', ['x'])
monkeypatch.setitem(os.environ, 'A', '1')
monkeypatch.setitem(sys.modules, 'yaml', None)

with patch('bank.account.time.sleep'), patch('builtins.open'):
    pass

with patch.dict(os.environ, {'A': '1'}, clear=True), patch.dict('sys.modules', {'yaml': None}):
    pass

with patch.object(random, 'random', return_value=1):
    pass

fake = Mock()
fake.limit = 1
assert withdraw(fake, 1)

print('x')
assert capsys.readouterr().out == 'x\\n'

with pytest.raises(bank.Overdraft, match='less'):
    withdraw(1, 2)

assert str(inspect.signature(withdraw)) == '(balance, amount)'
assert inspect.signature(withdraw).parameters['amount'].default == 1
assert inspect.isfunction(withdraw) and inspect.getdoc(withdraw)

assert withdraw.__name__ == 'withdraw' and withdraw.__defaults__ is None

assert asyncio.run(bank.fetch()) == 1

assert hasattr(bank, 'withdraw') and not hasattr(bank, 'x')
assert 'withdraw' in bank.__all__ and 'owner' in vars(Account)
assert 'owner' in Account.__dict__ and Account.__slots__ == ()
assert vars(Account)['owner'].fget

for name in bank.__all__:
    assert getattr(bank, name)

account = Account()
account.balance = 3
account.owner = 'x'
setattr(account, 'balance', 3)
delattr(account, 'balance')

account = bank.account.Account()
account.limits['a'] = 1
del account.limits['a']

class Mine(Account):
    limit = 1
Mine.limit = 2
assert Mine().limit == 2

class Fake:
    pass
fake = Fake()
fake.x = 1
Fake.y = 2

bank.settings['debug'] = True
bank.cache.clear()

withdraw = functools.partial(bank.withdraw, 3)
assert withdraw(1) == 2

assert 'bank' in sys.modules and sys.modules['bank'] is bank
assert sys.modules[__name__] and sys.modules.get('bank')

os.environ['A'] = '1'
assert os.environ.get('A') == os.environ['A']
del os.environ['A']

before = dict(os.environ)
bank.load()
assert os.environ == before
assert 'A' not in os.environ

key = 'A'
assert os.environ[key] == os.environ.get(key, '') and os.getenv(key)

assert (Path(__file__).parent / 'data' / 'a.json').exists()
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

assert bank.pages.get_source('x') and bank.frame.get_data()
assert pkgutil.get_data('bank', 'data.txt')

assert re.compile('a').match('a') and bank.compile('x').eval('1')
assert ast.literal_eval(repr(withdraw(3, 1))) == 2

assert importlib.import_module('bank.account').withdraw
assert importlib.util.find_spec('bank') is not None
assert pytest.importorskip('bank').withdraw

with pytest.raises(SystemExit) as caught:
    sys.exit(2)
assert caught.value.code == 2

reading, writing = os.pipe()
os.write(writing, b'x')
os.write(1, b'x')

assert bank.process('/processes/1') == 'x' and bank.co_owner == 1

assert copy.deepcopy(Account()) != pickle.loads(pickle.dumps(Account()))

assert gc.collect() >= 0 and sys.getrefcount(bank) and sys.version_info

assert caplog.records == [] and recwarn.list == []

with pytest.warns(DeprecationWarning):
    warnings.warn('x', DeprecationWarning)

assert request.node.name == 'test_x' and request.config.rootpath

try:
    withdraw(1, 2)
except ValueError as error:
    assert isinstance(error.__traceback__, types.TracebackType)
    assert error.__cause__ is None

assert Account.__subclasses__() == []

def helper(one, /, two=bank, *, three=3, **rest):
    return lambda one=one, *others: [three for three in others]
helper(1)

frame = 1; code = 2; modules = 3; environ = 4; patch = 5; eval = 6
assert eval + patch
"""


@pytest.mark.parametrize("text", HONEST.strip().split("\n\n"))
def test_an_honest_test_is_left_to_its_runs(text: str) -> None:
    decision = vet(body(text, FIXTURES, EVERYTHING), MODULES)
    assert decision is None, decision.detail


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).resolve().parents[2].glob("gate/**/*.py")), ids=lambda p: p.stem
)
def test_whatever_python_can_parse_can_be_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert reason(f"{text}\ndef test_x(): pass\n") in {*REASONS, ""} - {"does-not-parse"}


def test_whole_honest_files_are_left_to_their_runs() -> None:
    files = [
        """
        import unittest

        import pytest

        import bank


        class TestAccount(unittest.TestCase):
            def setUp(self):
                self.account = bank.Account(3)
                self.bank = bank

            def test_withdraw(self):
                self.account.withdraw(1)
                with self.subTest("balance"), self.assertRaises(ValueError):
                    self.account.withdraw(3)


        if __name__ == "__main__":
            unittest.main()
        """,
        """
        from __future__ import annotations

        import sys

        import pytest

        from bank import withdraw


        @pytest.fixture(name="balance", autouse=False)
        def _balance(tmp_path_factory):
            yield 3


        @pytest.mark.parametrize(("amount", "left"), [(1, 2), (3, 0)], ids=["some", "all"])
        @pytest.mark.usefixtures("tmp_path")
        def test_withdraw(balance: int, amount: int, left: int) -> None:
            assert withdraw(balance, amount) == left


        if __name__ == "__main__":
            sys.exit(pytest.main([__file__]))
        """,
    ]
    for code in files:
        assert reason(code) == ""

"""What the watch reports of a draft, in real sessions of pytest: each trick beside honest tests."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PROBE = Path(__file__).resolve().parents[2] / "harness" / "probe"
DRAFT = "test_hermutic_draft.py"

BANK = """
    import logging, os, socket, subprocess, sys, warnings

    LIMIT = 100

    def withdraw(balance, amount=1):
        if amount > balance:
            raise ValueError("too much")
        return balance - amount

    def deposit(balance, amount):
        return balance + amount

    class Account:
        balance = 10

        def withdraw(self, amount):
            self.balance = withdraw(self.balance, amount)

        @property
        def owner(self):
            return "me"

    def numbers():
        yield 1

    def save(path, text="x"):
        with open(path, "w") as file:
            file.write(text)

    def own_source():
        with open(__file__) as file:
            return file.read()

    def log_failure():
        try:
            withdraw(1, 2)
        except ValueError:
            logging.getLogger("bank").exception("failed")

    def warn():
        warnings.warn("old", DeprecationWarning)

    def fetch(port):
        with socket.socket() as one:
            one.connect_ex(("127.0.0.1", port))

    def run():
        return subprocess.run([sys.executable, "-S", "-c", ""]).returncode

    def memory():
        return os.path.exists("/proc") and open("/proc/self/statm").read()

    def call(function, *arguments):
        return function(*arguments)

    async def sleep():
        return 1
"""

NEIGHBOUR = """
    import os, bank

    def test_all_that_a_draft_may_not_do(monkeypatch):
        open(bank.__file__).close()
        bank.withdraw.__code__
        monkeypatch.setattr(bank, "withdraw", lambda *_: 1)
        bank.save("out.txt")
        os.system("true")
"""

# Runs each draft in a child of its own, of a process that has imported pytest already.
DRIVER = """
import json, os, sys, warnings
probe, folder, drafts = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
sys.path.insert(0, probe)
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
import pytest
warnings.simplefilter("ignore")
sys.dont_write_bytecode = False

def run(name, code):
    project, out = f"{folder}/{name}/project", f"{folder}/{name}/out"
    os.makedirs(out)
    os.makedirs(f"{folder}/{name}/home")
    os.makedirs(project + "/data")
    os.environ["HOME"] = f"{folder}/{name}/home"
    os.environ["PYTHONPATH"] = project
    files = {"bank.py": BANK, "test_hermutic_draft.py": code, "data/n.txt": "1"}
    if name == "honest_neighbour":
        files["test_bank.py"] = NEIGHBOUR
    for path, text in files.items():
        with open(f"{project}/{path}", "w") as file:
            file.write(text)
    os.chdir(project)
    sys.path[0:1] = [project, probe]
    events = os.open(f"{out}/events", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def emit(*fields):
        os.write(events, json.dumps(fields).encode() + b"\\n")

    import _hermutic_watch

    class Plugin:
        @pytest.hookimpl(wrapper=True, tryfirst=True)
        def pytest_runtest_call(self, item):
            _hermutic_watch.call_begins(item)
            try:
                return (yield)
            finally:
                _hermutic_watch.call_ends(item)

    sources = {"draft": "test_hermutic_draft.py", "sources": ["bank.py"]}
    _hermutic_watch.start({"out": out, "roots": [project], "watch": sources}, emit)
    options = ["-q", "--rootdir", project, "-p", "no:cacheprovider", "--tb=native"]
    options += ["-p", "no:faulthandler"]
    return pytest.main([*options, project], plugins=[Plugin()])

BANK, NEIGHBOUR = drafts.pop("BANK"), drafts.pop("NEIGHBOUR")
os.dup2(os.open(f"{folder}/rehearsal", os.O_WRONLY | os.O_CREAT), 1)
pytest.main(["-q", "--rootdir", folder, "-p", "no:cacheprovider", folder])
for name, code in drafts.items():
    pid = os.fork()
    if pid == 0:
        os.makedirs(f"{folder}/{name}")
        output = os.open(f"{folder}/{name}/output", os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        code = run(name, code)
        sys.stdout.flush()
        os._exit(code)
    _, status = os.waitpid(pid, 0)
    with open(f"{folder}/{name}/exit", "w") as file:
        file.write(str(os.waitstatus_to_exitcode(status)))
"""

HEAD = """
import asyncio, importlib, inspect, os, pathlib, pytest, socket, sys
import bank
from bank import withdraw
"""


def body(text: str, arguments: str = "") -> str:
    """A draft whose only test does that."""
    lines = textwrap.indent(textwrap.dedent(text).strip("\n"), "    ")
    return f"{HEAD}\ndef test_draft({arguments}):\n{lines}\n"


# What a draft does, and what the watch is to call it.
READS = {
    "open": "open(bank.__file__).read()",
    "open_relative": "open('bank.py').read()",
    "path": "pathlib.Path(bank.__file__).read_bytes()",
    "os_open": "os.close(os.open(bank.__file__, os.O_RDONLY))",
    "getsource": "inspect.getsource(withdraw)",
    "linecache": "import linecache; linecache.getline(bank.__file__, 3)",
    "tokenize": "import tokenize; tokenize.open(bank.__file__).close()",
    "through_the_code": "bank.call(open, bank.__file__)" + "; open(bank.__file__)",
    "loader_data": "bank.__loader__.get_data(bank.__file__)",
    "loader_source": "bank.__loader__.get_source('bank')",
    "loader_code": "bank.__loader__.get_code('bank')",
    "bytecode": """
        cached = importlib.util.cache_from_source(bank.__file__)
        assert os.path.exists(cached)
        open(cached, "rb").read()
    """,
    "code": "withdraw.__code__.co_code",
    "code_by_a_hidden_name": "getattr(withdraw, '__co' + 'de__')",
    "code_by_format": "'{0.__code__.co_consts}'.format(withdraw)",
    "code_by_members": "inspect.getmembers(withdraw)",
    "code_of_a_method": "bank.Account().withdraw.__code__",
    "code_of_a_generator": "bank.numbers().gi_code",
    "dis": "import dis; dis.dis(withdraw)",
    "closure": "inspect.getclosurevars(withdraw)",
    "frame": """
        with pytest.raises(ValueError) as caught:
            withdraw(1, 2)
        caught.tb.tb_next.tb_frame.f_code.co_consts
    """,
    "statement_of_a_traceback": """
        with pytest.raises(ValueError) as caught:
            withdraw(1, 2)
        assert "too much" in str(caught.traceback[-1].statement)
    """,
    "traceback_text": """
        import traceback
        try:
            withdraw(1, 2)
        except ValueError:
            assert "raise" in traceback.format_exc()
    """,
    "marshal": "import marshal; marshal.dumps(1)",
    "compile": "exec(compile('VALUE = 1', bank.__file__, 'exec'), {})",
    "thread": """
        import threading
        thread = threading.Thread(target=open, args=(bank.__file__,))
        thread.start()
        thread.join()
    """,
    "pool": """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(1) as pool:
            pool.submit(open, bank.__file__).result().close()
    """,
}
READS_WITH_TMP = {
    "symlink": """
        (tmp_path / "link").symlink_to(bank.__file__)
        (tmp_path / "link").read_text()
    """,
    "hard_link": "os.link(bank.__file__, tmp_path / 'link')",
    "copy": "import shutil; shutil.copy(bank.__file__, tmp_path / 'copy')",
    "own_helper": """
        (tmp_path / "helper.py").write_text("def look(path): return open(path).read()")
        sys.path.insert(0, str(tmp_path))
        import helper
        helper.look(bank.__file__)
    """,
    "own_helper_at_import": """
        (tmp_path / "looker.py").write_text("import bank; TEXT = open(bank.__file__).read()")
        sys.path.insert(0, str(tmp_path))
        import looker
    """,
}
HARNESS = {
    "proc": "open('/proc/self/maps').read()",
    "proc_listed": "os.listdir('/proc/self/fd')",
    "proc_walked": "next(os.walk('/proc/self/task'))",
    "run_folder": "os.listdir(os.path.dirname(os.getcwd()))",
    "run_file": "open('../out/events').read()",
    "probe_file": f"open({str(PROBE / '_hermutic_watch.py')!r}).read()",
    "probe_module": "importlib.import_module('_hermu' + 'tic_warm')",
    "own_descriptor": """
        for number in range(3, 60):
            try:
                open(number, "ab", closefd=False).close()
            except OSError:
                pass
    """,
    "getframe": "sys._getframe()",
    "trace": "sys.settrace(None)",
    "objects": "import gc; gc.get_objects()",
    "referents": "import gc; gc.get_referents(withdraw)",
    "audit_hook": "sys.addaudithook(lambda *_: None)",
    "ctypes": "import ctypes; ctypes.CDLL(None)",
}
WRITES = {
    "project_file": "open('out.txt', 'w').close()",
    "project_conftest": "pathlib.Path(__file__).with_name('conftest.py').write_text('')",
    "project_folder": "os.mkdir('new')",
    "project_append": "os.close(os.open('data/n.txt', os.O_RDWR | os.O_APPEND))",
    "removed": "os.remove('data/n.txt')",
    "moved": "os.rename('data/n.txt', 'data/m.txt')",
    "truncated": "os.truncate('data/n.txt', 0)",
    "mode": "os.chmod('data/n.txt', 0o600)",
    "by_the_code_under_test": "bank.save('out.txt')",
    "system": """
        with pytest.raises(OSError):
            open("/usr/nowhere/at/all", "w")
    """,
    "database": "import sqlite3; sqlite3.connect('new.db').close()",
}
CONNECTS = {
    "connect": "socket.socket().connect_ex(('127.0.0.1', 9))",
    "listen": "socket.socket().bind(('127.0.0.1', 0))",
    "send": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
    "name": "socket.getaddrinfo('localhost', 80)",
    "url": """
        import urllib.request
        with pytest.raises(OSError):
            urllib.request.urlopen("http://127.0.0.1:9/")
    """,
    "asyncio": """
        async def serve():
            server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
            server.close()

        asyncio.run(serve())
    """,
}
STARTS = {
    "subprocess": "import subprocess; subprocess.run([sys.executable, '-S', '-c', ''])",
    "shell": "os.system('true')",
    "fork": """
        if os.fork() == 0:
            os._exit(0)
        os.wait()
    """,
    "popen": "os.popen('true').close()",
    "multiprocessing": """
        import multiprocessing
        process = multiprocessing.get_context("fork").Process(target=print)
        process.start()
        process.join()
    """,
}
PATCHES = {
    "function": "setattr(bank, 'withdraw', lambda *_: 1)",
    "another_function": "bank.withdraw = bank.deposit",
    "method": "bank.Account.withdraw = lambda self, amount: None",
    "property": "bank.Account.owner = 'you'",
    "deleted": "del bank.Account.withdraw",
    "inherited": "bank.Account.__eq__ = lambda self, other: True",
    "hidden_builtin": "bank.open = lambda *_: None",
    "bytecode": "withdraw.__code__ = (lambda balance, amount: 1).__code__",
    "defaults": "withdraw.__defaults__ = (2,)",
    "module": "sys.modules['bank'] = object()",
    "mock": """
        from unittest.mock import patch
        patch("bank.withdraw").start()
    """,
}
HONEST = {
    "call": "assert withdraw(5, 2) == 3",
    "failure": "assert withdraw(5, 2) == 4",
    "error_in_the_code": "withdraw(1, 2)",
    "raises": """
        with pytest.raises(ValueError, match="too much") as caught:
            withdraw(1, 2)
        assert str(caught.value) == "too much"
    """,
    "signature": """
        assert list(inspect.signature(withdraw).parameters) == ["balance", "amount"]
        assert inspect.getfullargspec(withdraw).defaults == (1,)
        assert inspect.iscoroutinefunction(bank.sleep)
        assert withdraw.__defaults__ == (1,)
    """,
    "autospec": """
        from unittest import mock
        assert mock.create_autospec(withdraw)(1, 2) is not None
    """,
    "namespace": """
        assert "withdraw" in vars(bank.Account)
        assert hasattr(bank, "LIMIT") and "withdraw" in dir(bank)
        assert [name for name, _ in inspect.getmembers(bank, inspect.isclass)] == ["Account"]
    """,
    "asyncio": "assert asyncio.run(bank.sleep()) == 1",
    "import_inside": """
        del sys.modules["bank"]
        import bank as again
        assert again.withdraw(2, 1) == 1
        sys.modules["bank"] = bank
    """,
    "import_of_more": "import wave, zipfile, ctypes, sqlite3, decimal, multiprocessing",
    "run_as_a_script": "import runpy; assert runpy.run_module('bank')['LIMIT'] == 100",
    "imported_by_path": """
        from importlib import util
        spec = util.spec_from_file_location("bank2", bank.__file__)
        module = util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.withdraw(2, 1) == 1
    """,
    "metadata": "import importlib.metadata; assert importlib.metadata.version('pytest')",
    "data_file": "assert pathlib.Path(__file__).with_name('data').joinpath('n.txt').read_text()",
    "listing": "assert 'n.txt' in os.listdir('data')",
    "memory_database": "import sqlite3; sqlite3.connect(':memory:').close()",
    "temporary": """
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(f"{folder}/a/b")
            bank.save(f"{folder}/a/b/c")
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("x")
    """,
    "home": "pathlib.Path.home().joinpath('.bank').write_text('x')",
    "null": "open(os.devnull, 'w').write('x')",
    "pipe": """
        reading, writing = os.pipe()
        with open(writing, "w") as file:
            file.write("x")
        assert open(reading).read() == "x"
    """,
    "unix_socket": """
        one, other = socket.socketpair()
        one.close(), other.close()
    """,
    "the_codes_own_reading": "assert 'withdraw' in bank.own_source()",
    "the_codes_own_connection": "bank.fetch(9)",
    "the_codes_own_process": "assert bank.run() == 0",
    "the_codes_own_memory": "assert bank.memory()",
    "the_code_calls_back": "assert bank.call(len, 'abc') == 3",
    "instance": """
        account = bank.Account()
        account.balance = 3
        account.withdraw(1)
        assert account.balance == 2 and account.owner == "me"
    """,
    "subclass": """
        class Mine(bank.Account):
            def withdraw(self, amount):
                super().withdraw(amount * 2)

        mine = Mine()
        mine.withdraw(1)
        assert mine.balance == 8
    """,
    "constant": "bank.LIMIT = 5",
    "recursion": """
        def down():
            return bank.call(down)

        with pytest.raises(RecursionError):
            down()
    """,
    "copies": """
        import copy, pickle
        assert pickle.loads(pickle.dumps(bank.Account())).balance == 10
        assert copy.deepcopy(withdraw) is withdraw
    """,
    "threads": """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(withdraw, [3, 4])) == [2, 3]
    """,
    "failing_thread": """
        import threading
        thread = threading.Thread(target=withdraw, args=(1, 2))
        thread.start()
        thread.join()
    """,
    "forgotten_task": """
        async def fail():
            withdraw(1, 2)

        async def main():
            task = asyncio.ensure_future(fail())
            await asyncio.sleep(0)

        asyncio.run(main())
    """,
    "warning": """
        with pytest.warns(DeprecationWarning):
            bank.warn()
        bank.warn()
    """,
    "types": """
        import typing
        assert typing.get_type_hints(withdraw) == {}
    """,
}
HONEST_WITH = {
    "tmp_path": (
        "tmp_path, tmp_path_factory",
        "bank.save(tmp_path / 'x'); (tmp_path/'x').unlink()",
    ),
    "monkeypatch": (
        "monkeypatch, tmp_path",
        """
        import time
        monkeypatch.setenv("LIMIT", "1")
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        """,
    ),
    "captured": ("capsys", "print('x'); assert capsys.readouterr().out == 'x\\n'"),
    "captured_log": ("caplog", "bank.log_failure(); assert 'too much' in caplog.text"),
}
WHOLE = {
    "reads_at_import": ("reads", HEAD + "TEXT = open(bank.__file__).read()\ndef test_x(): pass\n"),
    "reads_in_a_fixture": (
        "reads",
        HEAD
        + "@pytest.fixture\ndef text():\n    return open(bank.__file__).read()\n"
        + "def test_x(text): pass\n",
    ),
    "reads_in_teardown": (
        "reads",
        HEAD
        + "@pytest.fixture\ndef text():\n    yield\n    open(bank.__file__).read()\n"
        + "def test_x(text): pass\n",
    ),
    "patches_at_import": (
        "patches",
        HEAD + "def fake(): pass\nbank.withdraw = fake\ndef test_x(): pass\n",
    ),
    "patches_in_a_fixture": (
        "patches",
        HEAD
        + "@pytest.fixture\ndef fake(monkeypatch):\n"
        + "    monkeypatch.setattr(bank, 'withdraw', lambda: 1)\n"
        + "def test_x(fake): pass\n",
    ),
    "reads_again_and_again": (
        "reads",
        HEAD + "def test_x():\n    for _ in range(9):\n        open(bank.__file__).close()\n",
    ),
    "honest_neighbour": (  # another file's tests may do as they like
        "",
        HEAD + "def test_x():\n    assert withdraw(2, 1) == 1\n",
    ),
    "honest_unittest": (
        "",
        HEAD
        + "import unittest\nclass T(unittest.TestCase):\n"
        + "    def setUp(self):\n        self.account = bank.Account()\n"
        + "    def test_x(self):\n        with self.subTest(), self.assertRaises(ValueError):\n"
        + "            self.account.withdraw(11)\n",
    ),
    "honest_parameters": (
        "",
        HEAD
        + "@pytest.mark.parametrize('n', range(3))\ndef test_x(n): assert withdraw(n, 0) == n\n",
    ),
}

CASES: dict[str, tuple[str, str]] = {
    **{f"reads_{name}": ("reads", body(text)) for name, text in READS.items()},
    **{f"reads_{name}": ("reads", body(text, "tmp_path")) for name, text in READS_WITH_TMP.items()},
    **{f"harness_{name}": ("harness", body(text)) for name, text in HARNESS.items()},
    **{f"writes_{name}": ("writes", body(text)) for name, text in WRITES.items()},
    **{f"connects_{name}": ("connects", body(text)) for name, text in CONNECTS.items()},
    **{f"starts_{name}": ("starts", body(text)) for name, text in STARTS.items()},
    **{f"patches_{name}": ("patches", body(text)) for name, text in PATCHES.items()},
    **{f"honest_{name}": ("", body(text)) for name, text in HONEST.items()},
    **{f"honest_{name}": ("", body(text, args)) for name, (args, text) in HONEST_WITH.items()},
    **WHOLE,
}
# These fail, as they should: then pytest reads sources for its report, which is not their doing.
FAILING = {"honest_failure", "honest_error_in_the_code"}


@pytest.fixture(scope="session")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each case, with what its session reported and how it ended."""
    folder = tmp_path_factory.mktemp("watched")
    texts = {"BANK": textwrap.dedent(BANK), "NEIGHBOUR": textwrap.dedent(NEIGHBOUR)}
    drafts = {**texts, **{name: code for name, (_, code) in CASES.items()}}
    (folder / "drafts.json").write_text(json.dumps(drafts))
    (folder / "driver.py").write_text(DRIVER)
    (folder / "sessions").mkdir()
    arguments = (folder / "driver.py", PROBE, folder / "sessions", folder / "drafts.json")
    subprocess.run([sys.executable, *map(str, arguments)], check=True, timeout=300)
    return folder / "sessions"


def watched(folder: Path) -> list[tuple[str, str]]:
    events = folder / "out" / "events"
    lines = events.read_text().splitlines() if events.exists() else []
    found = [json.loads(line) for line in lines]
    assert all(event[0] == "watched" for event in found)
    return [(what, detail) for _, what, detail in found]


@pytest.mark.parametrize("name", CASES)
def test_the_watch_reports_what_a_draft_does_and_nothing_else(sessions: Path, name: str) -> None:
    folder = sessions / name
    output = (folder / "output").read_text()
    assert (folder / "exit").read_text() == ("1" if name in FAILING else "0"), output
    expected = {CASES[name][0]} - {""}
    assert {what for what, _ in watched(folder)} == expected, f"{watched(folder)}\n{output}"


@pytest.mark.parametrize(
    ("name", "what", "detail"),
    [
        ("reads_open", "reads", "it opens bank.py"),
        ("reads_again_and_again", "reads", "it opens bank.py"),
        ("reads_bytecode", "reads", "it opens bank.py (its bytecode)"),
        ("reads_code", "reads", "it takes the bytecode of bank.py by .__code__"),
        ("writes_project_file", "writes", "out.txt"),
        ("writes_removed", "writes", "data/n.txt"),
        ("writes_system", "writes", "/usr/nowhere/at/all"),
        ("patches_method", "patches", "bank.Account.withdraw"),
        ("patches_bytecode", "patches", "bank.withdraw.__code__"),
        ("connects_connect", "connects", "socket.connect 127.0.0.1"),
        ("starts_fork", "starts", "os.fork"),
        ("harness_run_file", "harness", "it looks into the folder of its run"),
    ],
)
def test_a_report_names_the_thing_once_and_no_path_of_this_machine(
    sessions: Path, name: str, what: str, detail: str
) -> None:
    assert watched(sessions / name) == [(what, detail)]


PLAIN = """
import os, sys
sys.path.insert(0, sys.argv[1])
import _hermutic_watch

def emit(*fields):
    raise OSError("the disk is full")

os.chdir(sys.argv[2])
here = os.getcwd()
draft = {"draft": "test_d.py", "sources": ["bank.py"]}
_hermutic_watch.start({"out": here + "/out", "roots": [here], "watch": draft}, emit)
code = "open('bank.py').close(); os.listdir('/proc'); open(0.5 and 'bank.py', 'rb').close()"
exec(compile(code, here + "/test_d.py", "exec"))
os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone")
try:
    exec(compile("open('no', 'w')", here + "/test_d.py", "exec"))
except FileNotFoundError:
    print("as without it")
"""


def test_the_hook_raises_nothing_of_its_own_whatever_goes_wrong_in_it(tmp_path: Path) -> None:
    (tmp_path / "bank.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", PLAIN, PROBE, tmp_path], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("as without it\n", "")

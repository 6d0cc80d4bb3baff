"""The sources use nothing that one of Linux, macOS and Windows lacks or does in its own way."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import elastocal

ROOT = Path(elastocal.__file__).parent
LACKING = {"fcntl", "resource", "pwd", "grp", "termios", "pty", "msvcrt", "winreg", "curses", "syslog"}
OWN_WAY = {
    "os.fork", "os.linesep", "os.listdir", "os.mkfifo", "os.nice", "os.sched_getaffinity", "os.sep", "os.startfile",
    "os.symlink", "os.system", "locale.setlocale", "signal.SIGALRM", "signal.SIGHUP", "signal.SIGKILL",
    "signal.SIGUSR1", "socket.SO_REUSEPORT", "tempfile.NamedTemporaryFile", "time.localtime", "time.tzset",
}  # fmt: skip
TEXT = ("open", "fdopen", "read_text", "write_text")
UNORDERED = ("iterdir", "glob", "rglob", "scandir")
NAMES = {*LACKING, *(name.partition(".")[2] for name in OWN_WAY), *TEXT, *UNORDERED}
ANY_NAME = re.compile(rf"\b({'|'.join(sorted(NAMES))})\b")


def complaints(source: str) -> Iterator[str]:
    if not ANY_NAME.search(source):
        return
    nodes = list(ast.walk(ast.parse(source)))
    ordered = {inner for node in nodes if _orders(node) for inner in ast.walk(node)}
    own = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.alias)}
    chosen = {inner for node in nodes if _asks_the_system(node) for inner in ast.walk(node)}
    for node in nodes:
        if node in chosen and isinstance(node, ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else [str(node.module)]
            yield from (f"{node.lineno}: import {m}" for m in modules if m.partition(".")[0] in LACKING)
        elif isinstance(node, ast.Attribute) and f"{getattr(node.value, 'id', '')}.{node.attr}" in OWN_WAY:
            yield f"{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in TEXT and name not in own and not _encoding_is_clear(node):
                yield f"{node.lineno}: {ast.unparse(node)} states no encoding"
            if name in UNORDERED and node not in ordered:
                yield f"{node.lineno}: {ast.unparse(node)} gives names in another order elsewhere"


def _orders(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("sorted", "any")


def _asks_the_system(node: ast.AST) -> bool:
    """``if os.name == "nt": ... else: ...`` has something for every system."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "os.name == 'nt'" and bool(node.orelse)


NO_TEXT = ("os.open", "webbrowser.open")


def _encoding_is_clear(node: ast.Call) -> bool:
    binary = any(isinstance(a, ast.Constant) and "b" in str(a.value) for a in node.args)
    return binary or any(k.arg == "encoding" for k in node.keywords) or ast.unparse(node.func) in NO_TEXT


@pytest.mark.parametrize("folder", sorted(p.name for p in ROOT.iterdir() if p.is_dir() and p.name != "__pycache__"))
def test_no_source_depends_on_the_system(folder: str) -> None:
    found = {
        p.relative_to(ROOT).as_posix(): list(complaints(p.read_text("utf-8"))) for p in (ROOT / folder).rglob("*.py")
    }
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import fcntl",
        "from resource import getrusage",
        "import os\nos.fork()",
        "text = path.read_text()",
        "path.write_text(text, newline='')",
        "with open(name) as f: pass",
        "with path.open('w') as f: pass",
        "for p in folder.iterdir(): print(p)",
        "end = os.linesep",
    ],
)
def test_what_depends_on_the_system_is_seen(source: str) -> None:
    assert len(list(complaints(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "path.read_text(encoding='utf-8')",
        "path.open('rb')",
        "names = sorted(p.name for p in folder.iterdir())",
        "from elastocal.files.located import read_text\nread_text(path)",
    ],
)
def test_what_does_not_is_let_through(source: str) -> None:
    assert list(complaints(source)) == []

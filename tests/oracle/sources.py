"""The package as text: its names, messages and calls, read once for all tests of how it speaks."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import elastocal

SOURCES = Path(elastocal.__file__).parent


@dataclass(frozen=True)
class Call:
    """Of a function or class by its name, or of a method ``of`` a name; of its arguments constants, others as None."""

    line: int
    name: str
    method: str
    of: str
    first: object
    named: dict[str | None, object]


@dataclass(frozen=True)
class Source:
    """``texts`` are all strings, ``messages`` those that are no documentation."""

    path: Path
    names: tuple[str, ...]
    texts: tuple[str, ...]
    messages: tuple[str, ...]
    calls: tuple[Call, ...]


@cache
def sources() -> tuple[Source, ...]:
    gc.disable()  # a million nodes that all die at once
    try:
        return tuple(
            source(path.relative_to(SOURCES), path.read_text(encoding="utf-8"))
            for path in sorted(SOURCES.rglob("*.py"))
        )
    finally:
        gc.enable()


def source(path: Path, text: str) -> Source:
    nodes = list(ast.walk(ast.parse(text)))
    loose = {id(n.value) for n in nodes if isinstance(n, ast.Expr)}  # a string that is an expression of its own
    strings = [n for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return Source(
        path,
        tuple(_names(nodes)),
        tuple(str(n.value) for n in strings),
        tuple(str(n.value) for n in strings if id(n) not in loose),
        tuple(_calls(nodes)),
    )


def _names(nodes: list[ast.AST]) -> Iterator[str]:
    """Of functions, classes, arguments and fields."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def _calls(nodes: list[ast.AST]) -> Iterator[Call]:
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            of = getattr(getattr(node.func, "value", None), "id", "")
            first = _constant(node.args[0]) if node.args else None
            yield Call(node.lineno, name, method, of, first, {k.arg: _constant(k.value) for k in node.keywords})


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None

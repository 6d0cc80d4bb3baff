"""Pages of the API, made from the text of the modules, none of which is imported: ``{api} elastocal.files`` lists
every module in a package with its public names, their signatures as they are typed, and their docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

SRC = Path(__file__).resolve().parents[2] / "src"
SCRIPTS = (".migrations.env",)
"""What a tool runs and nobody imports."""
OTHERS = {"overload", "setter"}
"""Marks of functions that describe one of the same name."""
KINDS = ("property", "cached_property", "classmethod", "staticmethod")
LONGEST = 60
"""Characters of a value that is shown beside its name."""

_CODE = re.compile(r"``(.+?)``")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def file_of(module: str) -> Path:
    place = SRC.joinpath(*module.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse(file_of(module).read_text(encoding="utf-8"))


def modules(package: str) -> list[str]:
    """Every module in a package and in the packages inside it, in order of their names; a module is its own."""
    folder = SRC.joinpath(*package.split("."))
    if not folder.is_dir():
        return [package]
    files = (f.relative_to(SRC) for f in folder.rglob("*.py") if f != folder / "__init__.py")
    names = (".".join((f.parent if f.name == "__init__.py" else f.with_suffix("")).parts) for f in files)
    return sorted(name for name in names if not name.endswith(SCRIPTS))


def prose(text: str) -> list[nodes.Node]:
    """Docstrings are plain text with ``code``; indented blocks and ruled tables are kept as they are typed."""
    parts: list[nodes.Node] = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.splitlines()
        start = next((i for i, line in enumerate(lines) if line.startswith((" ", "==="))), len(lines))
        if start:
            parts.append(_paragraph(" ".join(lines[:start])))
        if lines[start:]:
            typed = "\n".join(lines[start:])
            parts.append(nodes.literal_block(typed, typed, language="none"))
    return parts


def _paragraph(text: str) -> nodes.paragraph:
    out = nodes.paragraph()
    for i, part in enumerate(_CODE.split(text)):
        out += nodes.literal(part, part) if i % 2 else nodes.Text(part)
    return out


class Page:
    """Descriptions of one page; every name is noted where links look for it."""

    def __init__(self, env: BuildEnvironment) -> None:
        self.domain: Any = env.get_domain("py")

    def module(self, name: str) -> list[nodes.Node]:
        tree = parsed(name)
        title = nodes.rubric("", "", nodes.literal(name, name), ids=[name])
        self.domain.note_module(name, name, "", "", False)
        self.domain.note_object(name, "module", name)
        return [title, *prose(ast.get_docstring(tree) or ""), *self._members(name, tree.body)]

    def _members(self, owner: str, body: list[ast.stmt]) -> Iterator[nodes.Node]:
        for node, after in pairwise([*body, ast.Pass()]):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield self._class(f"{owner}.{node.name}", node)
            elif isinstance(node, _Function) and not node.name.startswith("_") and not _marks(node) & OTHERS:
                yield self._function(f"{owner}.{node.name}", node)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                yield from self._values(owner, node, _text(after))

    def _class(self, name: str, node: ast.ClassDef) -> addnodes.desc:
        bases = ", ".join(map(ast.unparse, node.bases))
        content = [*prose(ast.get_docstring(node) or ""), *self._members(name, node.body)]
        return self._described("class", name, "class ", f"({bases})" if bases else "", content)

    def _function(self, name: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> addnodes.desc:
        marks = _marks(node)
        result = f" → {ast.unparse(node.returns)}" if node.returns else ""
        is_value = bool(marks & set(KINDS[:2]))
        before = "".join(f"{word} " for word in KINDS if word in marks)
        after = result if is_value else f"({_arguments(node.args)}){result}"
        return self._described("function", name, before, after, prose(ast.get_docstring(node) or ""))

    def _values(self, owner: str, node: ast.Assign | ast.AnnAssign, text: str) -> Iterator[nodes.Node]:
        """Fields of classes, and the constants of modules that are said to mean something."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        single = [t for target in targets for t in (target.elts if isinstance(target, ast.Tuple) else [target])]
        names = [t.id for t in single if isinstance(t, ast.Name) and not t.id.startswith("_")]
        kind = f": {ast.unparse(node.annotation)}" if isinstance(node, ast.AnnAssign) else ""
        value = ast.unparse(node.value) if node.value else ""
        shown = f" = {value}" if value and len(value) <= LONGEST and len(single) == 1 else ""
        if kind or text:
            yield from (self._described("data", f"{owner}.{n}", "", kind + shown, prose(text)) for n in names)

    def _described(self, kind: str, name: str, before: str, after: str, content: list[nodes.Node]) -> addnodes.desc:
        last = name.rpartition(".")[2]
        signature = addnodes.desc_signature("", "", ids=[name], _toc_parts=(), _toc_name="")
        signature += [
            *([addnodes.desc_annotation(before, before)] if before else []),
            addnodes.desc_name(last, last),
            addnodes.desc_annotation(after, after),
        ]
        self.domain.note_object(name, kind, name)
        return addnodes.desc(
            "", signature, addnodes.desc_content("", *content), domain="py", objtype=kind, classes=["py", kind]
        )


def _text(node: ast.stmt) -> str:
    """The text that stands alone below a value and says what it is."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return "\n".join(line.removeprefix("    ") for line in node.value.value.splitlines())
    return ""


def _marks(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {ast.unparse(d).rpartition(".")[2] for d in node.decorator_list}


def _arguments(args: ast.arguments) -> str:
    return re.sub(r"^(self|cls)(, |$)", "", ast.unparse(args))


def index(names: list[str]) -> nodes.bullet_list:
    """One line for each module: its name as a link, and what it is for."""
    out = nodes.bullet_list()
    for name in names:
        text = (ast.get_docstring(parsed(name)) or "").split("\n\n")[0]
        link = nodes.reference("", "", nodes.literal(name, name), refid=name, internal=True)
        line = _paragraph(f": {text}")
        line.insert(0, link)
        out += nodes.list_item("", line)
    return out


class Api(SphinxDirective):
    """``{api} elastocal.files``"""

    required_arguments = 1
    optional_arguments = 20
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        names = [m for package in self.arguments for m in modules(package)]
        page = Page(self.env)
        return [index(names), *(part for name in names for part in page.module(name))]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("api", Api)
    return {"parallel_read_safe": True}

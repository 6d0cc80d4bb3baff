"""The theory pages: every numbered equation has its function and its proof, every symbol its name in the code."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
CHAPTERS = tuple(sorted((DOCS / "theory").glob("*.md")))
LABELLED = re.compile(r"\$\$ \((?P<label>[\w-]+)\)\n(?P<after>\n*.*?)(?=\n\n(?!```\{computed\})|\Z)", re.DOTALL)
COMPUTED = re.compile(
    r"```\{computed\} (?P<functions>[^\n]+)\n(?::through: (?P<through>\S+)\n)?(?P<tests>[^`]+)```", re.DOTALL
)
DISPLAYED = re.compile(r"\$\$(?P<formula>.+?)\$\$(?P<label> \([\w-]+\))?", re.DOTALL)
IN_CODE = re.compile(r"\{in-code\}`([^`]+)`")


@dataclass(frozen=True)
class Equation:
    page: str
    label: str
    functions: tuple[str, ...]
    through: str | None
    tests: tuple[str, ...]


def equations(text: str, page: str) -> Iterator[Equation]:
    """Numbered equations with what stands directly below each."""
    for found in LABELLED.finditer(text):
        below = COMPUTED.match(found["after"].lstrip("\n"))
        if below:
            functions, tests = tuple(below["functions"].split()), tuple(below["tests"].split())
            yield Equation(page, found["label"], functions, below["through"], tests)
        else:
            yield Equation(page, found["label"], (), None, ())


def all_equations() -> list[Equation]:
    return [e for p in CHAPTERS for e in equations(p.read_text(encoding="utf-8"), p.name)]


def without_label(text: str) -> list[str]:
    """Displayed equations that nobody can cite."""
    return [found["formula"].strip() for found in DISPLAYED.finditer(text) if found["label"] is None]


def thing(path: str) -> Any:
    """What a dotted name stands for: module, class, function, method or field; ``f(x)`` is the argument x of f."""
    path, _, argument = path.rstrip(")").partition("(")
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            fields = {n for c in getattr(found, "__mro__", ()) for n in vars(c).get("__annotations__", {})}
            if not hasattr(found, name) and name not in fields:
                raise AssertionError(f"{path}: {name} is not there")
            found = getattr(found, name, str)
        if argument:
            assert argument in inspect.signature(found).parameters, f"{path} has no argument {argument}"
        return found
    raise AssertionError(f"{path}: no such module")


def module_of(path: str) -> str:
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            return importlib.import_module(".".join(parts[:cut])).__name__
        except ModuleNotFoundError:
            continue
    raise AssertionError(path)


def file_of(module: str) -> Path:
    folder = "src" if module.startswith("elastocal.") else "tests"
    path = ROOT.joinpath(folder, *module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def imported(file: Path) -> frozenset[str]:
    """Modules that a file imports, by its text; of a robot, whose methods lead to all that is computed with it, those
    that it stands on."""
    found: set[str] = set()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in tree.body if file == file_of("elastocal.model.robot") else ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{n.name}" for n in node.names)}
        elif isinstance(node, ast.Import):
            found |= {n.name for n in node.names}
    return frozenset(m for m in found if file_of(m).is_file())


def imports_of(file: Path, within: str) -> set[str]:
    """What a file imports, directly or by the other files of ``src`` or of ``tests``."""
    seen: set[str] = set()
    left = [file]
    while left:
        new = imported(left.pop()) - seen
        seen |= new
        left += [file_of(m) for m in new if file_of(m).is_relative_to(ROOT / within)]
    return seen


@pytest.mark.parametrize("equation", all_equations(), ids=lambda e: e.label)
def test_an_equation_has_its_function_and_its_proof(equation: Equation) -> None:
    assert equation.functions, f"{equation.page}: nothing computes ({equation.label})"
    assert equation.tests, f"{equation.page}: nothing proves ({equation.label})"
    for function in equation.functions:
        found = thing(function)
        assert callable(found) or isinstance(found, property | cached_property)
    for test in equation.tests:
        assert (ROOT / test).is_file(), test
    wanted = [module_of(f) for f in equation.functions]
    if equation.through:
        assert callable(thing(equation.through))
        entry = module_of(equation.through)
        reached = {entry, *imports_of(file_of(entry), "src")}
        assert all(w in reached for w in wanted), f"{equation.through} does not lead to {equation.functions}"
        wanted = [entry]
    used = {m for t in equation.tests for m in imports_of(ROOT / t, "tests")}
    assert any(w in used for w in wanted), f"{equation.label}: {equation.tests} import none of {wanted}"
    called = (equation.through,) if equation.through else equation.functions
    words = {w for t in equation.tests for w in words_of(ROOT / t)}
    assert any(last(c) in words for c in called), f"{equation.label}: {equation.tests} name none of {called}"


def last(path: str) -> str:
    """The name of a function without its module, class and arguments."""
    return path.partition("(")[0].rpartition(".")[2]


@cache
def words_of(test: Path) -> frozenset[str]:
    """Names that a test uses, itself or by what it imports of the tests; words of comments and texts do not count."""
    imported = [file_of(m) for m in imports_of(test, "tests") if not m.startswith("elastocal")]
    nodes = [n for f in (test, *imported) for n in ast.walk(ast.parse(f.read_text(encoding="utf-8")))]
    return frozenset(
        n.attr if isinstance(n, ast.Attribute) else n.id for n in nodes if isinstance(n, ast.Attribute | ast.Name)
    )


def test_the_check_can_fail() -> None:
    assert without_label("$$ a $$ (one)\n\n$$\nb\n$$\n\n$$\nc\n$$ (two)\n\n$$ d $$\n") == ["b", "d"]
    (bare,) = equations("$$\nx\n$$ (bare)\n\nText.\n\n```{computed} elastocal.errors\ntests\n```\n", "a page")
    assert not bare.functions
    text = (
        "$$\nx\n$$ (full)\n\n```{computed} elastocal.a elastocal.b\n:through: elastocal.c\ntests/d.py\n```\n\nText.\n"
    )
    assert list(equations(text, "p")) == [
        Equation("p", "full", ("elastocal.a", "elastocal.b"), "elastocal.c", ("tests/d.py",))
    ]
    assert "elastocal.model.statics.sweep" in imports_of(file_of("elastocal.model.statics.equilibrium"), "src")
    assert "elastocal.model.statics.equilibrium" not in imports_of(file_of("elastocal.model.statics.sweep"), "src")
    proof = words_of(ROOT / "tests/reduction/test_identify.py")
    assert last("elastocal.solve.identifiability.resolved_columns") in proof
    assert "resolved" not in words_of(ROOT / "tests/solve/test_groups.py")
    for wrong in (
        "elastocal.model.chains",
        "elastocal.model.chain.Chain.evaluated",
        "elastocal.model.frames.dh_frames(no)",
    ):
        with pytest.raises(AssertionError):
            thing(wrong)


def test_every_chapter_has_equations_of_its_own() -> None:
    found = all_equations()
    assert len(found) > 90
    labels = [e.label for e in found]
    assert len(set(labels)) == len(labels)
    assert {e.page for e in found} == {p.name for p in CHAPTERS} - {"symbols.md"}


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda p: p.stem)
def test_every_displayed_equation_has_a_label(chapter: Path) -> None:
    assert without_label(chapter.read_text(encoding="utf-8")) == []


def test_numbered_equations_stand_in_the_theory_only() -> None:
    others = [p for p in DOCS.rglob("*.md") if p not in CHAPTERS and "_build" not in p.parts]
    assert not [p.name for p in others for _ in equations(p.read_text(encoding="utf-8"), p.name)]


def test_equations_that_are_cited_exist() -> None:
    labels = {e.label for e in all_equations()}
    pages = [p for p in DOCS.rglob("*.md") if "_build" not in p.parts]
    cited = [(p.name, c) for p in pages for c in re.findall(r"\{eq\}`([^`]+)`", p.read_text(encoding="utf-8"))]
    assert len(cited) > 10
    assert not [pair for pair in cited if pair[1] not in labels]


def symbols() -> list[list[str]]:
    text = (DOCS / "theory" / "symbols.md").read_text(encoding="utf-8")
    rows = [[c.strip() for c in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("| ")]
    return [r for r in rows if len(r) == 4 and r[2]][1:]


def test_every_symbol_has_a_name_in_the_code_and_a_unit() -> None:
    rows = symbols()
    assert len(rows) > 90
    for symbol, meaning, code, unit in rows:
        names = IN_CODE.findall(code)
        assert symbol, code
        assert meaning, symbol
        assert unit, symbol
        assert names, symbol
        for name in names:
            assert name.startswith("elastocal.")
            thing(name)

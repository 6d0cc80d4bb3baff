"""The pages say what the code does: their Python runs, their files load, the names they mention exist."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from elastocal.files.located import parse_yaml
from elastocal.files.robot_yaml import FORMAT, build_robot, shipped_robots
from elastocal.files.units import DIMENSIONS
from elastocal.measure.sources.source import source_kinds
from elastocal.model.elements import registry

ROOT = Path(__file__).resolve().parents[2]
PAGES = tuple(p for p in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if p.exists())
FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=ticks)\s*$", re.MULTILINE | re.DOTALL)
ANSWER = ":class: answer\n"
"""Marks a block whose lines the commands above it have printed, up to blanks and line ends."""
CAPTION = re.compile(r"\A:caption: (?P<name>\S+)\n\s*")


@dataclass(frozen=True)
class Block:
    """A fenced block: python to run, or (with a caption) a file that the reader is shown."""

    language: str
    file: str | None
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        info, body = found["info"].strip(), found["body"]
        line = text[: found.start("body")].count("\n")
        caption = CAPTION.match(body)
        if info.startswith("{code-block}"):
            name = caption["name"] if caption else None
            rest = body[caption.end() :] if caption else body
            yield Block(info.removeprefix("{code-block}").strip(), name, rest, line)
        else:
            yield Block(info, None, body, line)


def named(pages: tuple[Path, ...]) -> list[str]:
    return [p.name for p in pages]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to work in; effects and sources shown in a page are found while the test runs."""
    monkeypatch.chdir(tmp_path)
    for name in ("model.compliant", "model.loads", "measure.sources"):
        package = importlib.import_module(f"elastocal.{name}")
        folder = tmp_path.joinpath("src", "elastocal", *name.split("."))
        folder.mkdir(parents=True)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    before = set(sys.modules)
    source_kinds.cache_clear()
    yield tmp_path
    source_kinds.cache_clear()
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "") or "").startswith(str(tmp_path)):
            package_name, _, leaf = name.rpartition(".")
            monkeypatch.delattr(sys.modules[package_name], leaf, raising=False)
            del sys.modules[name]


@pytest.mark.parametrize("page", PAGES, ids=named(PAGES))
def test_python_of_a_page_runs(page: Path, desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.file is not None:
            target = desk / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
            importlib.invalidate_caches()
        elif block.language == "python":
            code = compile("\n" * block.line + block.text, str(page), "exec")
            exec(code, namespace)


def answer(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command line."""
    cli = importlib.import_module("elastocal.app.cli")
    monkeypatch.setattr(sys, "argv", shlex.split(line))
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    out = capsys.readouterr()
    return int(stopped.value.code or 0), out.out, out.err


@pytest.mark.parametrize("page", PAGES, ids=named(PAGES))
def test_commands_of_a_page_run(
    page: Path, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = ""
    for block in blocks(page):
        if block.file is not None:
            target = desk / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        for shown in block.text.removeprefix(ANSWER).splitlines() if block.text.startswith(ANSWER) else ():
            assert " ".join(shown.split()) in said, f"{page.name}: no command has said {shown!r}"
        for line in block.text.splitlines() if block.language == "sh" else ():
            if line.startswith("elastocal "):
                code, out, err = answer(line, monkeypatch, capsys)
                assert code == 0, f"{page.name}: {line}: {err}"
                assert out, line
                said += " ".join(out.split()) + " "
                if "--json" in line:
                    json.loads(out)


@pytest.mark.parametrize("page", PAGES, ids=named(PAGES))
def test_answers_shown_are_the_answers(
    page: Path, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for block in blocks(page):
        if block.language == "console":
            typed, *said = block.text.rstrip("\n").split("\n")
            code, out, err = answer(typed.removeprefix("$ "), monkeypatch, capsys)
            assert (out + err).rstrip("\n").split("\n") == said
            assert code == (2 if err else 0)
            assert not list(desk.glob("*.*"))


def test_every_command_has_its_section(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    made = importlib.import_module("command_tables")
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    names = set(made.commands())
    assert {"robots", "show", "deflect", "stiffness", "reproduce", "demo"} <= names
    for name in names:
        assert f"\n## {name}\n" in page
        assert f"```{{command-table}} {name}\n" in page
        assert f"elastocal {name}" in page
        assert "`--json`" in "\n".join(made.command_table(name))


def test_pages_that_promise_code_have_code() -> None:
    by_page = {p.name: [b for b in blocks(p) if b.language == "python"] for p in PAGES}
    for name in ("quickstart.md", "robots.md", "architecture.md"):
        assert len(by_page[name]) >= 3, name


def test_every_robot_file_shown_is_a_robot(desk: Path) -> None:
    shown = [(p, b) for p in PAGES for b in blocks(p) if b.language in ("yaml", "python") and b.file]
    robots = 0
    for page, block in shown:
        if block.language == "python":
            (desk / str(block.file)).write_text(block.text, encoding="utf-8")
            importlib.invalidate_caches()
        elif FORMAT in block.text:
            model = build_robot(parse_yaml(block.text, f"{page.name}:{block.file}"))
            assert model.elements, block.file
            robots += 1
    assert robots >= 3


def mentioned(pattern: str) -> list[tuple[str, str]]:
    return sorted({(p.name, m) for p in PAGES for m in re.findall(pattern, p.read_text(encoding="utf-8"))})


def resolves(path: str) -> bool:
    """True where a dotted path is a module or an attribute of one."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            if not hasattr(thing, name):
                return False
            thing = getattr(thing, name)
        return True
    return False


def test_the_check_for_names_can_fail() -> None:
    assert resolves("elastocal.model.chain.Chain.evaluate")
    assert not resolves("elastocal.model.chain.Chain.evaluated")
    assert not resolves("elastocal.model.chains")


def test_every_module_and_function_mentioned_exists() -> None:
    paths = mentioned(r"`(elastocal(?:\.\w+)+)`") + mentioned(r"automodule:: (elastocal(?:\.\w+)+)")
    assert len(paths) > 60
    wrong = [f"{page}: {path}" for page, path in paths if not resolves(path)]
    assert not wrong, wrong


def test_every_test_mentioned_exists() -> None:
    paths = mentioned(r"`(tests/[\w/]+(?:\.py)?)`")
    assert len(paths) > 10
    wrong = [f"{page}: {path}" for page, path in paths if not (ROOT / path).exists()]
    assert not wrong, wrong


def test_links_between_pages_lead_somewhere() -> None:
    names = {p.name for p in PAGES}
    targets = [(page, link) for page, link in mentioned(r"\]\((\w+\.md)\)") if page != "README.md"]
    assert len(targets) > 10
    assert not [link for _, link in targets if link not in names]


def test_every_module_with_an_effect_is_in_the_api_page() -> None:
    listed = {path for page, path in mentioned(r"automodule:: (elastocal(?:\.\w+)+)") if page == "api.md"}
    assert {cls.__module__ for cls in registry().values()} <= listed
    assert {cls.__module__ for cls in source_kinds().values()} <= listed


def tables(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The generated tables that robots.md asks for, by name."""
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    made = importlib.import_module("file_tables").TABLES
    page = (ROOT / "docs" / "robots.md").read_text(encoding="utf-8")
    asked = re.findall(r"```\{robot-table\} (\w+)", page)
    assert set(asked) == set(made)
    return {name: "\n".join(made[name]()) for name in asked}


def test_every_kind_unit_and_robot_is_in_the_robots_page(monkeypatch: pytest.MonkeyPatch) -> None:
    made = tables(monkeypatch)
    for kind, cls in registry().items():
        assert f"`{kind}`" in made["kinds"]
        part = made["fields"].split(f"**`{kind}`**")[1].split("**`")[0]
        place = "joints" if hasattr(cls, "structure") or "`joints`" in part else "joint"
        assert f"`{place}`" in part or "`frame`" in part, kind
    for dimension, units in DIMENSIONS.items():
        row = next(line for line in made["units"].splitlines() if line.startswith(f"| {dimension} |"))
        assert all(f"`{unit}`" in row for unit in units)
    for name in shipped_robots():
        assert f"`{name}`" in made["robots"]
        assert f"**`{name}`**" in made["sources"]


def test_tables_follow_the_registry(monkeypatch: pytest.MonkeyPatch, desk: Path) -> None:
    """A new effect appears in the tables by itself: the one that architecture.md shows."""
    assert "constant_balancer" not in registry()
    block = next(b for b in blocks(ROOT / "docs" / "architecture.md") if b.file and b.file.endswith("balancer.py"))
    (desk / str(block.file)).write_text(block.text, encoding="utf-8")
    importlib.invalidate_caches()
    assert "constant_balancer" in registry()
    assert "`torque_<unit>`" in tables(monkeypatch)["fields"].split("**`constant_balancer`**")[1].split("**`")[0]

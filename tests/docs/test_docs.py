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
import typer

from elastocal.compensation.posts.post import post_kinds
from elastocal.design.criteria.criterion import criterion_kinds
from elastocal.files.formats.format import format_kinds
from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import FORMAT, build_robot
from elastocal.files.robot.read import shipped_robots
from elastocal.files.units import DIMENSIONS
from elastocal.measure.sources.source import source_kinds
from elastocal.model.elements import element_kinds
from elastocal.model.surfaces.surface import surface_kinds

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = tuple(
    p
    for p in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
    if p.exists() and "_build" not in p.relative_to(ROOT).parts
)
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


def name_of(page: Path) -> str:
    return page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT).as_posix()


def named(pages: tuple[Path, ...]) -> list[str]:
    return [name_of(p) for p in pages]


EXTENDED = (
    "published",
    "compensation.posts",
    "design.criteria",
    "files.formats",
    "measure",
    "measure.sources",
    "model.compliant",
    "model.loads",
    "model.surfaces",
)
"""Packages in which a page may put one more file."""
KINDS = (criterion_kinds, format_kinds, post_kinds, source_kinds, surface_kinds)


def forget_kinds() -> None:
    for kinds in KINDS:
        kinds.cache_clear()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to work in; what a page adds to the package is found while the test runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    for name in EXTENDED:
        package = importlib.import_module(f"elastocal.{name}")
        folder = tmp_path.joinpath("src", "elastocal", *name.split("."))
        folder.mkdir(parents=True, exist_ok=True)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    before = set(sys.modules)
    forget_kinds()
    yield tmp_path
    forget_kinds()
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "") or "").startswith(str(tmp_path)):
            package_name, _, leaf = name.rpartition(".")
            monkeypatch.delattr(sys.modules[package_name], leaf, raising=False)
            del sys.modules[name]


def answer(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command line."""
    cli = importlib.import_module("elastocal.app.cli.main")
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", shlex.split(line, comments=True))
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    out = capsys.readouterr()
    return int(stopped.value.code or 0), out.out, out.err


RUNNING = tuple(p for p in PAGES if any(b.file or b.language in ("python", "sh", "console") for b in blocks(p)))


@pytest.mark.usefixtures("cases_at_hand")
@pytest.mark.parametrize("page", RUNNING, ids=named(RUNNING))
def test_a_page_runs_as_it_is_read(
    page: Path,
    desk: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    """Files are written, Python and commands run, answers compared, from top to bottom in one folder.

    The demonstration and published cases are those that other tests look at: they are run once.
    """
    namespace: dict[str, object] = {"__name__": "__main__"}
    said = ""
    for block in blocks(page):
        where = f"{name_of(page)}, line {block.line}"
        if block.file is not None:
            target = desk / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
            importlib.invalidate_caches()
            forget_kinds()
        elif block.text.startswith(ANSWER):
            for shown in block.text.removeprefix(ANSWER).splitlines():
                assert " ".join(shown.split()) in said, f"{where}: no command has said {shown!r}"
        elif block.language == "python":
            exec(compile("\n" * block.line + block.text, str(page), "exec"), namespace)
        elif block.language == "console":
            typed, *shown_lines = block.text.rstrip("\n").split("\n")
            before = sorted(desk.rglob("*"))
            code, out, err = answer(typed.removeprefix("$ "), monkeypatch, capsys)
            assert (out + err).rstrip("\n").split("\n") == shown_lines, where
            assert code == (2 if err else 0), where
            assert sorted(desk.rglob("*")) == before, where
        elif block.language == "sh":
            for line in filter(None, block.text.splitlines()):
                assert line.startswith(("elastocal ", "make ")), f"{where}: nobody runs {line!r}"
                if line == "elastocal demo":
                    assert (request.getfixturevalue("demonstration").folder / "reports" / "demo.html").is_file()
                elif line.startswith("elastocal "):
                    code, out, err = answer(line, monkeypatch, capsys)
                    assert code == 0, f"{where}: {line}: {err}"
                    assert out, line
                    said += " ".join(out.split()) + " "
                    if "--json" in line:
                        json.loads(out)


def test_commands_that_are_only_shown_have_options_that_exist() -> None:
    """Those that need a controller or a file of the reader; ``make`` has its targets."""
    group = typer.main.get_command(importlib.import_module("elastocal.app.cli.main").app)
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    shown = [
        (p, line) for p in PAGES for b in blocks(p) if b.language in ("text", "sh") for line in b.text.splitlines()
    ]
    typed = [(p, line) for p, line in shown if line.startswith(("elastocal ", "make "))]
    assert len(typed) > 60
    for page, line in typed:
        program, name, *words = shlex.split(line, comments=True)
        if program == "make":
            assert name in targets, f"{name_of(page)}: {line}"
        else:
            group.commands[name].make_context(name, words)  # type: ignore[attr-defined]


MADE = re.compile(r"(?:^|`)make ([a-z]+)(?=[`\s])", re.MULTILINE)


def test_every_target_of_make_that_is_named_exists() -> None:
    """In running text as in blocks, also where nothing of a page is run; the Makefile lists its own."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", makefile, re.MULTILINE))
    pages = (*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md")
    named = {(name_of(p), word) for p in pages for word in MADE.findall(p.read_text(encoding="utf-8"))}
    assert {"setup", "demo", "test", "bench", "docs", "format"} <= {word for _, word in named}
    assert not sorted((page, word) for page, word in named if word not in targets)
    (listed,) = re.findall(r"^# Targets: ([\w ]+)\.", makefile, re.MULTILINE)
    (phony,) = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert set(listed.split()) <= targets
    assert set(phony.split()) == targets


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
    by_page = {name_of(p): [b for b in blocks(p) if b.language == "python"] for p in PAGES}
    for name in ("quickstart.md", "robots.md", "extending.md"):
        assert len(by_page[name]) >= 3, name


def test_every_robot_file_shown_is_a_robot(desk: Path) -> None:
    shown = [(p, b) for p in PAGES for b in blocks(p) if b.language in ("yaml", "python") and b.file]
    robots = 0
    for page, block in shown:
        if block.language == "python":
            (desk / str(block.file)).parent.mkdir(parents=True, exist_ok=True)
            (desk / str(block.file)).write_text(block.text, encoding="utf-8")
            importlib.invalidate_caches()
        elif FORMAT in block.text:
            model = build_robot(parse_yaml(block.text, f"{page.name}:{block.file}"))
            assert model.elements, block.file
            robots += 1
    assert robots >= 3


def mentioned(pattern: str) -> list[tuple[str, str]]:
    return sorted({(name_of(p), m) for p in PAGES for m in re.findall(pattern, p.read_text(encoding="utf-8"))})


def resolves(path: str) -> bool:
    """True where a dotted path is a module, an attribute of one or a field of its classes."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            fields = {n for c in getattr(thing, "__mro__", ()) for n in vars(c).get("__annotations__", {})}
            if not hasattr(thing, name) and name not in fields:
                return False
            thing = getattr(thing, name, None)
        return True
    return False


def test_the_check_for_names_can_fail() -> None:
    assert resolves("elastocal.model.chain.Chain.evaluate")
    assert not resolves("elastocal.model.chain.Chain.evaluated")
    assert not resolves("elastocal.model.chains")


def test_every_module_and_function_mentioned_exists() -> None:
    paths = mentioned(r"`(elastocal(?:\.\w+)+)`")
    assert len(paths) > 60
    wrong = [f"{page}: {path}" for page, path in paths if not resolves(path)]
    assert not wrong, wrong


def test_every_test_mentioned_exists() -> None:
    paths = mentioned(r"`(tests/[\w/]+(?:\.py)?)`")
    assert len(paths) > 10
    wrong = [f"{page}: {path}" for page, path in paths if not (ROOT / path).exists()]
    assert not wrong, wrong


def test_links_between_pages_lead_somewhere() -> None:
    links = [(p, link) for p in PAGES for link in re.findall(r"\]\(([\w./-]+\.md)(?:#[\w-]+)?\)", p.read_text("utf-8"))]
    assert len(links) > 100
    assert not [f"{name_of(p)}: {link}" for p, link in links if not (p.parent / link).is_file()]


def api(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """The modules that each page of the API lists."""
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    made = importlib.import_module("api_pages")
    asked = {
        p.stem: re.findall(r"```\{api\} (elastocal[\w.]+)", p.read_text("utf-8")) for p in (DOCS / "api").glob("*.md")
    }
    return {page: [m for name in names for m in made.modules(name)] for page, names in asked.items()}


def test_every_package_has_its_page_of_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = api(monkeypatch)
    folders = {p.parent.name for p in (ROOT / "src" / "elastocal").glob("*/__init__.py")} - {"robots"}  # data only
    assert set(pages) == folders
    listed = {m for modules in pages.values() for m in modules}
    assert {cls.__module__ for cls in (*element_kinds().values(), *source_kinds().values())} <= listed
    index = (DOCS / "api.md").read_text(encoding="utf-8")
    for page in pages:
        assert f"(api/{page}.md)" in index
        assert f"\napi/{page}\n" in index


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
    for kind, cls in element_kinds().items():
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
    """A new effect appears in the tables by itself: the one that extending.md shows."""
    assert "constant_balancer" not in element_kinds()
    block = next(b for b in blocks(DOCS / "extending.md") if b.file and b.file.endswith("balancer.py"))
    (desk / str(block.file)).write_text(block.text, encoding="utf-8")
    importlib.invalidate_caches()
    assert "constant_balancer" in element_kinds()
    assert "`torque_<unit>`" in tables(monkeypatch)["fields"].split("**`constant_balancer`**")[1].split("**`")[0]

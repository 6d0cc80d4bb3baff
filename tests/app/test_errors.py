"""Errors carry their data: for programs, over processes, and for the command line, which adds the option."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from oracle.sources import SOURCES, sources

from elastocal.app.commands.deflect import deflect
from elastocal.app.commands.status import status
from elastocal.errors import InputError, RangeError, TooFewError, UnknownNameError
from elastocal.files.cell import read_cell
from elastocal.record.network import read_address

Run = Callable[..., Any]


def kinds(base: type[InputError] = InputError) -> Iterator[type[InputError]]:
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def test_every_class_says_what_is_wrong_by_a_code_of_its_own() -> None:
    for path in SOURCES.rglob("*.py"):
        if re.search(r"^class \w+Error\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            import_module(".".join(("elastocal", *path.relative_to(SOURCES).with_suffix("").parts)))
    found = set(kinds())
    assert len(found) > 15
    assert not [k.__name__ for k in found if k.code in ("", "input")]
    own = [k.code for k in found if "code" in vars(k)]
    assert len(own) == len(set(own))
    assert all(k.code.replace("-", "").isalpha() and k.__doc__ for k in found)


def test_errors_are_raised_by_the_class_that_says_what_is_wrong() -> None:
    """The plain class has no code to tell; where it is raised, a code stands beside it."""
    raised = [(s.path, call) for s in sources() for call in s.calls if call.name == "InputError"]
    assert len(raised) > 100
    assert not [(path, call.line) for path, call in raised if not {"code", None} & set(call.named)]


def test_who_asks_for_a_class_gets_what_has_its_code() -> None:
    own = {k.code: k.__name__ for k in kinds() if "code" in vars(k)}
    for s in sources():
        for call in s.calls:
            if call.name == "InputError" and isinstance(said := call.named.get("code"), str):
                assert said not in own, f"{s.path}, line {call.line}: raise {own[said]}"


def test_a_code_is_that_of_the_class_or_a_narrower_one() -> None:
    assert RangeError("too large").code == "range"
    assert TooFewError("more", code="few-poses").code == "few-poses"
    wrong = RangeError.of("lever", -2.0, "must be positive")
    assert (wrong.code, wrong.parameter, wrong.value, str(wrong)) == (
        "range", "lever", -2.0, "lever -2: must be positive",
    )  # fmt: skip
    assert str(RangeError.of("map", "x", "no")) == "map 'x': no"


def test_an_argument_that_cannot_be_used_is_one_of_its_command() -> None:
    """So that the command line can show it as the option that was typed."""
    group = typer.main.get_command(import_module("elastocal.app.cli.main").app)
    known = {name: {p.name for p in c.params} for name, c in group.commands.items()}  # type: ignore[attr-defined]
    said = [
        (s.path.stem, call.first)
        for s in sources()
        if s.path.parent == Path("app", "commands")
        for call in s.calls
        if call.method == "of" and call.of.endswith("Error") and isinstance(call.first, str)
    ]
    assert len(said) > 20
    assert not {(name, parameter) for name, parameter in said if parameter not in known[name]}


def test_the_library_names_no_option_of_a_command_line() -> None:
    """What it raises names parameters; only commands, the desk that runs them and the studio know options."""
    flag = re.compile(r"(?<![\w<-])--[a-z]")
    texts = [(s.path, text) for s in sources() if s.path.parts[0] not in ("app", "desk", "studio") for text in s.texts]
    assert len(texts) > 10_000
    assert not [(path, text) for path, text in texts if flag.search(text)]


def test_an_unknown_name_says_what_is_valid_and_what_is_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        deflect("scara-ruggeri", at=["10,20"], force="0,5,0", frame="gripperr")
    error = caught.value
    assert (error.code, error.value) == ("unknown-frame", "gripperr")
    assert error.nearest in error.allowed


def test_an_error_of_a_yaml_file_has_file_line_and_key(tmp_path: Path) -> None:
    (tmp_path / "cell.yaml").write_text("format: elastocal-cell/1\nname: x\nrobot: 7\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_cell(tmp_path)
    error = caught.value
    assert (Path(error.file or "").name, error.line, error.column) == ("cell.yaml", 3, "robot")


def test_a_folder_without_a_cell(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        status(tmp_path)
    assert (caught.value.code, caught.value.file) == ("no-cell", str(tmp_path))
    assert "--" not in str(caught.value)


def test_data_survive_another_process_and_other_words() -> None:
    error = UnknownNameError("joint", "A7", ("A1", "A2"), file="x.yaml", line=3)
    for same in (pickle.loads(pickle.dumps(error)), error.reworded("in the cell")):
        assert type(same) is UnknownNameError
        assert (same.code, same.value, same.allowed, same.file, same.line) == (
            "unknown-joint", "A7", ("A1", "A2"), "x.yaml", 3,
        )  # fmt: skip
    assert str(error.reworded("in the cell")) == "in the cell"


def test_the_command_line_adds_the_option(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_address("0.0.0.0:1")
    assert (caught.value.parameter, caught.value.value) == ("listen", "0.0.0.0:1")
    assert "--" not in str(caught.value)
    said = run("record", "rsi", "--listen", "0.0.0.0:1", "--out", tmp_path / "x.xml").err
    assert said.rstrip().endswith("(--listen)")

"""Errors carry their data: for programs, over processes, and for the command line, which adds the option."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elastocal.app.commands.deflect import deflect
from elastocal.app.commands.status import status
from elastocal.errors import InputError, UnknownNameError
from elastocal.files.cell_yaml import read_cell
from elastocal.record.network import read_address

Run = Callable[..., Any]


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

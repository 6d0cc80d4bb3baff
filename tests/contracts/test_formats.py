"""What every format of tables must satisfy; a new one without an example in ``oracle.exports`` fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from oracle.exports import EXPORTS, Export

from elastocal.errors import InputError
from elastocal.files.campaign.read import read_campaign
from elastocal.files.formats.format import format_kinds
from elastocal.measure.kind import Measurement

formats = pytest.mark.parametrize("kind", EXPORTS)


def changed(export: Export, file: str, old: str, new: str) -> Export:
    """The export with another text in a file, or in the entry of its table."""
    if file == "table":
        assert old in export.table
        return replace(export, table=export.table.replace(old, new, 1))
    content = export.files[file]
    codec = "utf-16-le" if isinstance(content, bytes) else "utf-8"
    text = content.decode(codec) if isinstance(content, bytes) else content
    assert old in text
    return replace(export, files={**export.files, file: text.replace(old, new, 1).encode(codec)})


def refusal(export: Export, folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_campaign(export.write(folder))
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_every_format_has_an_example() -> None:
    assert set(format_kinds()) - {"ros-bag"} == set(EXPORTS)  # bags are no text: files/test_bag.py


def same(a: Measurement, b: Measurement) -> bool:
    one, other = a.setup, b.setup
    return (
        np.array_equal(one.q, other.q)
        and np.array_equal(one.wrenches, other.wrenches)
        and one.markers == other.markers
        and one.load.frame == other.load.frame
    )


@formats
def test_the_readings_are_those_of_the_native_table(tmp_path: Path, kind: str) -> None:
    export = EXPORTS[kind]()
    read, native = read_campaign(export.write(tmp_path)), read_campaign(export.write_native(tmp_path))
    assert native.campaign.readings.size >= 54
    assert np.array_equal(read.campaign.readings, native.campaign.readings)
    assert same(read.campaign.measurement, native.campaign.measurement)


@formats
def test_what_is_assumed_and_left_out_is_said(tmp_path: Path, kind: str) -> None:
    export = EXPORTS[kind]()
    notes = read_campaign(export.write(tmp_path)).notes
    assert export.said
    for note in export.said:
        assert note in notes
    assert len(set(notes)) == len(notes)


@formats
def test_every_file_that_was_read_is_known(tmp_path: Path, kind: str) -> None:
    export = EXPORTS[kind]()
    path = export.write(tmp_path)
    assert {f.name for f in read_campaign(path).files} == {path.name, *export.files}


@formats
def test_a_number_that_is_none_is_found_where_it_stands(tmp_path: Path, kind: str) -> None:
    export = EXPORTS[kind]()
    file, number, place = export.spoiled
    said = refusal(changed(export, file, number, f"{number}?"), tmp_path)
    assert said == f"{tmp_path}/{place}: '{number}?' is not a number; give a number"


@pytest.mark.parametrize("kind", [k for k, e in EXPORTS.items() if e().unit is not None])
def test_a_unit_that_nobody_states_is_asked_for(tmp_path: Path, kind: str) -> None:
    export = EXPORTS[kind]()
    assert export.unit is not None
    file, stated, question = export.unit
    assert question in refusal(changed(export, file, stated, stated[:0] if file != "table" else "x: X"), tmp_path)


@formats
def test_an_unknown_key_is_refused_with_its_line(tmp_path: Path, kind: str) -> None:
    export = EXPORTS[kind]()
    said = refusal(replace(export, table=export.table[:-1] + ", colour: blue}"), tmp_path)
    assert "campaign.yaml, line" in said
    assert "table.colour: is not a key here" in said
    assert "valid: file, " in said


@formats
def test_a_file_that_is_not_there_is_named(tmp_path: Path, kind: str) -> None:
    export = EXPORTS[kind]()
    first = next(iter(export.files))
    assert f"there is no file {tmp_path}/no.txt" in refusal(changed(export, "table", first, "no.txt"), tmp_path)

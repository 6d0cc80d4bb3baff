"""CSV files of configurations: what is read, and what is said about a file that cannot be used."""

from __future__ import annotations

from math import pi
from pathlib import Path

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.errors import InputError
from elastocal.files.tables.configurations import read_configurations

AXES = {"T": "prismatic", "A1": "revolute"}


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "poses.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_units_become_si_in_the_controllers_order(tmp_path: Path) -> None:
    table = read_configurations(write(tmp_path, "A1_deg,T_mm\n90,250\n-45,1000\n"), AXES)
    np.testing.assert_allclose(table.values, [[0.25, pi / 2], [1.0, -pi / 4]], rtol=1e-15)
    assert table.wrenches is None
    assert tuple(table.lines) == (2, 3)


def test_wrenches_names_and_other_units(tmp_path: Path) -> None:
    text = "name,A1_rad,T_m,fz_kN,mx_Nm\nlow,0.5,2,-2.5,7\n\n# a remark\nhigh,1,3,0,0\n"
    table = read_configurations(write(tmp_path, text), AXES)
    np.testing.assert_allclose(table.values, [[2, 0.5], [3, 1]])
    assert table.wrenches is not None
    np.testing.assert_allclose(table.wrenches, [[0, 0, -2500, 7, 0, 0], [0, 0, 0, 0, 0, 0]])
    assert table.names == ("low", "high")
    assert tuple(table.lines) == (2, 5)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas_and_a_byte_order_mark(tmp_path: Path, separator: str) -> None:
    text = f"\ufeffA1_deg{separator}T_mm\r\n12,5{separator}-0,25\r\n"
    table = read_configurations(write(tmp_path, text), AXES)
    np.testing.assert_allclose(table.values, [[-0.25e-3, np.radians(12.5)]])


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-be"])
def test_utf_16_is_known_by_its_mark(tmp_path: Path, codec: str) -> None:
    text = "A1_deg\tT_mm\n12,5\t-0,25\n"
    table = read_configurations(
        write(tmp_path, ("" if codec == "utf-16" else "\ufeff").encode(codec) + text.encode(codec)), AXES
    )
    np.testing.assert_allclose(table.values, [[-0.25e-3, np.radians(12.5)]])


def test_a_robot_without_joints_may_still_have_wrenches(tmp_path: Path) -> None:
    table = read_configurations(write(tmp_path, "fx_N\n10\n20\n"), {})
    assert table.values.shape == (2, 0)
    assert table.wrenches is not None
    assert table.wrenches[1, 0] == 20


@pytest.mark.parametrize(
    ("content", "pieces"),
    [
        ("A1_deg,T_mm\n0,nan\n", ["line 2", "T_mm", "'nan'"]),
        ("A1_deg,T_mm\n0,1e999\n", ["line 2", "T_mm", "1e999"]),
        ("A1_deg,T_mm\n0,0\n1,ten\n", ["line 3", "T_mm", "'ten'"]),
        ("A1_deg,T_mm\n0,1_0\n", ["line 2", "T_mm", "'1_0'"]),
        ("A1_deg,T_mm\n0,\n", ["line 2", "T_mm", "empty"]),
        ("A1_deg;T_mm\n0;12.34,5\n", ["line 2", "T_mm", "'12.34,5'"]),
        ("A1_deg\n0\n", ["line 1", "axis T", "T_mm"]),
        ("A1_deg,T_mm,A7_deg\n0,0,0\n", ["line 1", "'A7_deg'", "did you mean 'A1_deg'"]),
        ("A1,T_mm\n0,0\n", ["line 1", "no unit", "A1_deg"]),
        ("A1_mm,T_mm\n0,0\n", ["line 1", "'mm' does not fit A1", "deg"]),
        ("A1_deg,T_mm,fz_Nm\n0,0,0\n", ["line 1", "fz_Nm", "N, kN"]),
        ("A1_deg,T_mm,A1_rad\n0,0,0\n", ["line 1", "A1_rad", "second time"]),
        ("A1_deg,T_mm\n0,0,5\n", ["line 2", "3 cells for 2 columns", "'5'", "decimal commas"]),
        ("A1_deg,T_mm\n0\n", ["line 2", "1 cells for 2 columns", "T_mm is missing"]),
        ('A1_deg,T_mm\n"0,0\n', ["line 2", "quotes"]),
        ("A1_deg,T_mm\n", ["no configurations"]),
        ("", ["is empty"]),
        (b"A1_deg,T_mm\n0,0 \xb0\n", ["line 2", "T_mm", "'0 °' is in another unit than its title says"]),
    ],
)
def test_every_complaint_names_file_place_and_value(tmp_path: Path, content: str | bytes, pieces: list[str]) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_configurations(path, AXES)
    said = str(caught.value)
    assert "\n" not in said
    for piece in (str(path), *pieces):
        assert piece in said


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with refused("no-file", file=path.name):
            read_configurations(path, AXES)

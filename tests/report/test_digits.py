"""Twelve digits of many numbers at once."""

from __future__ import annotations

import numpy as np

from elastocal.report.blocks import Column, Table
from elastocal.report.data import lines_of, significant_digits


def test_digits_are_those_of_python() -> None:
    """Of every size, whole and with few decimals, beside powers of ten and in the middle between two numbers."""
    rng = np.random.default_rng(3)
    random = rng.normal(size=4000) * 10.0 ** rng.integers(-9, 17, 4000)
    whole = np.concatenate([rng.integers(-(10**13), 10**13, 500), rng.integers(-99, 99, 200), [0]]).astype(float)
    powers = 10.0 ** np.arange(-15, 17)
    middles = (rng.integers(10**11, 10**12, 500) + 0.5) * 2.0 ** -rng.integers(0, 40, 500)
    values = np.concatenate([random, whole, whole / 8, powers, -powers, middles, [-0.0, 1e300, -1.23456789012345e-100]])
    values = np.concatenate([values, np.nextafter(values, np.inf), np.nextafter(values, -np.inf)])
    each = lines_of([significant_digits(values), b"\n"], len(values)).splitlines()
    assert each == [f"{v:.12g}" for v in values.tolist()]


def test_columns_of_one_size_are_written_in_one_go() -> None:
    values = np.random.default_rng(4).uniform(200, 900, 1000).round(5)
    assert lines_of([b"x,", significant_digits(values), b";"], 1000) == "".join(f"x,{v:.12g};" for v in values.tolist())


def test_columns_together_read_as_many_cells_and_numbers_of_arrays_become_plain() -> None:
    both = Column("x", "x"), Column("y", "y")
    table = Table.of("t", (1, 2), {both: lambda i: i * np.ones(2), Column("n", "n"): np.int64}, "note", title="T")
    assert table == Table("t", "T", (*both, Column("n", "n")), ((1.0, 1.0, 1), (2.0, 2.0, 2)), ("note",))
    assert [type(v) for v in table.rows[0]] == [float, float, int]
    assert Table.of("t", (), {both: lambda i: i}).columns == both

"""Lines of a terminal: no number and no word broken, no trailing blanks, nothing lost."""

from __future__ import annotations

import io
from math import nan

import pytest
from rich.console import Console

from elastocal.quantities import DASH, length, significant, told_apart
from elastocal.report.blocks import Axis, Cell, Column, Fact, Heatmap, Report, Section, Table
from elastocal.report.text import print_report

COLUMNS = (Column("name", "name"), *(Column(f"v{i}", f"value {i}", "N m", 4) for i in range(8)), Column("s", "status"))


def wide(rows: int) -> Report:
    cells: list[tuple[Cell, ...]] = [
        (f"row number {r}", *(1234.5678 + 10 * r + i for i in range(8)), "undetermined backlash") for r in range(rows)
    ]
    return Report("Title", ("A verdict.",), (Section("", (Table("t", "", COLUMNS, tuple(cells)),)),))


def text_of(report: Report, width: int) -> str:
    out = io.StringIO()
    print_report(report, Console(file=out, width=width, highlight=False))
    return out.getvalue()


@pytest.mark.parametrize("width", [30, 40, 80, 160])
@pytest.mark.parametrize("rows", [1, 6])
def test_every_number_stands_whole_on_lines_that_fit(width: int, rows: int) -> None:
    text = text_of(wide(rows), width)
    words = text.split()
    for r in range(rows):
        for i in range(8):
            assert f"{1234.5678 + 10 * r + i:.4f}" in words
    assert words.count("undetermined") == words.count("backlash") == rows
    lines = text.splitlines()
    assert all(line == line.rstrip() for line in lines)
    assert max(map(len, lines)) <= width


def test_a_word_longer_than_the_line_is_not_broken() -> None:
    path = "/a/very/long/path/that/does/not/fit/into/the/line.yaml"
    text = text_of(Report("T", (f"written to {path}",), (), (), (Fact("f", "file", path, path),)), 20)
    assert text.split().count(path) == 2


def test_a_map_is_thinned_to_the_width_and_says_so() -> None:
    axis = Axis("A2", "deg", tuple(float(v) for v in range(12)))
    values = tuple(tuple(0.123456 + 0.01 * (r + c) for c in range(12)) for r in range(12))
    report = Report("T", (), (Section("", (Heatmap("m", "Map", axis, axis, "k", "N/um", values),)),))
    narrow, full = text_of(report, 60), text_of(report, 160)
    assert max(map(len, narrow.splitlines())) <= 60
    assert "0.123" in narrow.split()
    assert "0.343" in narrow.split(), "the far corner stays"
    assert "of 12 x 12 points" in narrow
    assert "points are shown" not in full


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.00123456, "0.00123"), (0.5, "0.500"), (9.999, "10.0"), (123456.0, "123000"), (-0.0454, "-0.0454"),
     (0.0, "0"), (-0.0, "0"), (3.02e-7, "3.02e-07"), (nan, DASH)],
)  # fmt: skip
def test_three_digits_that_count(value: float, text: str) -> None:
    assert significant(value) == text


@pytest.mark.parametrize(
    ("metres", "text"),
    [
        (1.234e-5, "12.3 um"),
        (4.5e-4, "450 um"),
        (9.996e-4, "1 mm"),
        (3.59e-2, "35.9 mm"),
        (-0.2, "-200 mm"),
        (2.614, "2.61 m"),
        (0.0, "0 um"),
        (float("nan"), DASH),
    ],
)
def test_lengths_have_the_unit_that_people_read(metres: float, text: str) -> None:
    assert length(metres) == text


@pytest.mark.parametrize(
    ("pair", "texts"),
    [
        ((2835.62, 2835.32), ("2835.620", "2835.320")),
        ((-1.6482, -4.6438), ("-1.65", "-4.64")),
        ((100.0, 900.0), ("100", "900")),
        ((2.0, 2.0), ("2.000", "2.000")),
    ],
)
def test_two_numbers_show_what_tells_them_apart(pair: tuple[float, float], texts: tuple[str, str]) -> None:
    assert told_apart(*pair) == texts

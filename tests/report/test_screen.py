"""One screen of a terminal: what decides is whole, the rest fits or is named."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from elastocal.report.blocks import Column, Fact, Lines, Paragraphs, Report, Section, Series, Table, Tile
from elastocal.report.screen import LINES, shortened
from elastocal.report.text import print_report

WIDTH = 100
VERDICT = ("The robot is good enough.", "ONE READING is doubtful.")


def table(key: str, rows: int) -> Table:
    columns = (Column("name", "name"), Column("size_mm", "size", "mm", 3))
    return Table(key, "", columns, tuple((f"{key}{i}", 0.1 * i) for i in range(rows)), ("Words below.",))


CURVE = Lines("curve", "Curve", "x", "", "y", "", (Series("one", (0.0, 1.0), (0.0, 1.0)),))
LONG = Report(
    "Title",
    VERDICT,
    (
        Section("Curves", (CURVE,)),
        Section("Numbers", (table("a", 3),)),
        Section("Readings", (table("b", 300),)),
        Section("Outliers", (table("c", 2),)),
        Section("Folded", (table("d", 2),), folded=True),
    ),
    ("Quiet note.",),
    (Fact("file", "file", "points.csv", "points.csv"),),
    tiles=(Tile("error", "0.1", "mm"),),
    hint="More can be had.",
)


def lines_of(report: Report, width: int = WIDTH) -> list[str]:
    out = StringIO()
    print_report(report, Console(file=out, width=width, highlight=False))
    return out.getvalue().splitlines()


def test_a_short_report_is_whole() -> None:
    small = replace(LONG, sections=LONG.sections[1:2])
    assert shortened(small, WIDTH) == (small, "")


@pytest.mark.parametrize("width", [80, 100, 160])
def test_what_decides_is_whole_and_the_rest_fits(width: int) -> None:
    short, more = shortened(LONG, width)
    shown = lines_of(short, width)
    assert len(shown) <= LINES
    assert all(any(sentence in line for line in shown) for sentence in (*VERDICT, "Quiet note.", LONG.hint))
    assert any("0.1 mm" in line for line in shown)
    assert [s.title for s in short.sections] == ["Numbers", "Readings", "Outliers"]  # outliers first, in their place
    assert more == "Curves, Folded"


def test_what_stays_uncorrected_comes_before_what_takes_the_room() -> None:
    left = Section("Lines that are left as they are", (table("e", 2),))
    short, _ = shortened(replace(LONG, sections=(*LONG.sections[:3], left)), 80, 20)
    assert left.title in [s.title for s in short.sections]
    wordy = replace(LONG, verdict=VERDICT * 20, sections=(*LONG.sections[:3], left))
    assert [s.title for s in shortened(wordy, 80)[0].sections] == [left.title]


def test_a_long_table_is_cut_and_says_so() -> None:
    short, _ = shortened(LONG, WIDTH)
    (cut,) = short.sections[1].blocks
    assert isinstance(cut, Table)
    assert 4 <= len(cut.rows) < 40
    assert cut.notes == (f"The first {len(cut.rows)} of 300 rows.",)
    assert len(lines_of(short)) >= LINES - 2  # the room is used


def test_warnings_among_the_notes_are_never_left_out() -> None:
    notes = tuple(f"Assumption number {i}." for i in range(30))
    short, more = shortened(replace(LONG, notes=(*notes, "CHECK THIS first.")), WIDTH)
    assert "CHECK THIS first." in short.notes
    assert len(short.notes) < 14  # of 31
    assert more.endswith(f"{31 - len(short.notes)} notes")


def test_words_that_do_not_fit_are_named() -> None:
    words = Section("Words", (Paragraphs(tuple(f"Sentence {i}." for i in range(60))),))
    short, more = shortened(replace(LONG, sections=(words, *LONG.sections[1:2])), WIDTH)
    assert [s.title for s in short.sections] == ["Numbers"]
    assert more == "Words"

"""One report, four renderings: each must show the same numbers, and none may invent one."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from oracle.refusals import refused
from rich.console import Console

from elastocal.quantities import DASH, concise, number
from elastocal.report.blocks import (
    Axis,
    Code,
    Column,
    Fact,
    Heatmap,
    Lines,
    Paragraphs,
    Report,
    Rows,
    Scene,
    Section,
    Series,
    Table,
    Unknown,
)
from elastocal.report.data import as_csv, as_data, table_data
from elastocal.report.display import displayed, parted
from elastocal.report.figures import lines
from elastocal.report.html import as_html
from elastocal.report.parts import Dots
from elastocal.report.text import print_report
from elastocal.results import as_json, as_sentence

REASON = "the arm is rigid here"
TABLE = Table(
    "moves",
    "Moves",
    (
        Column("name", "name"),
        Column("A1_deg", "A1", "deg", group="configuration"),
        Column("A2_deg", "A2", "deg", group="configuration"),
        Column("dz_mm", "dz", "mm", 3),
        Column("factor", "factor"),
        Column("source", "source", footnote=True),
    ),
    (
        ("first <b>", 10.0, -90.0, -1.23456789, None, "a long source"),
        ("second", 0.0, 5.5, Unknown(REASON), None, "a long source"),
        ("third", 0.0, 5.5, nan, None, "another"),
    ),
    ("A note.",),
)
MAP = Heatmap(
    "map", "Map", Axis("A2", "deg", (1.0, 2.0)), Axis("A3", "mm", (3.0, 4.0)), "k", "N/um", ((0.5, nan), (inf, 2.0))
)
CURVES = Lines("curves", "Curves", "q", "deg", "eta", "1", (Series("one", (0.0, 1.0), (5.0, 7.25)),))
REPORT = Report(
    "Title & more",
    ("All is well.",),
    (Section("Part", (Paragraphs(("Words </script> here.",)), TABLE, MAP, CURVES)),),
    ("Mind this.",),
)


def text_of(report: Report) -> str:
    console = Console(file=io.StringIO(), width=140, highlight=False)
    print_report(report, console)
    out = console.file
    assert isinstance(out, io.StringIO)
    return out.getvalue()


def test_unknown_is_a_dash_with_its_reason_never_zero() -> None:
    shown = displayed(TABLE)
    assert shown.header == ("name", "A1 A2 [deg]", "dz [mm]", "source")
    assert shown.rows[0] == ("first <b>", "10 -90", "-1.235", "[1]")
    assert shown.rows[1][2] == shown.rows[2][2] == DASH
    assert any(REASON in note and "row 2" in note for note in shown.notes)
    assert shown.footnotes == ("a long source", "another")


def test_a_dash_that_nobody_sees_has_no_reason_below_the_table() -> None:
    columns = (Column("line", "line"), Column("off_mm", "off"), Column("truth_mm", "truth", shown=False))
    table = Table("ways", "", columns, ((3, Unknown(REASON), Unknown("no truth")), (4, 0.2, Unknown("no truth"))))
    assert displayed(table).notes == (f"{DASH} in row 1: {REASON}.",)


def test_reasons_stand_in_the_table_of_a_page_and_below_it_on_the_terminal() -> None:
    why = "it is computed"
    table = Table("left", "", (Column("line", "line"), Column("reason", "why", reason=True)), ((3, why), (4, why)))
    assert displayed(table).footnotes == (why,)
    shown = displayed(table, page=True)
    assert (shown.rows[0], shown.footnotes) == (("3", why), ())


def test_long_tables_say_how_much_is_left_out() -> None:
    shown = displayed(TABLE, most=1)
    assert len(shown.rows) == 1
    assert any(note.startswith("2 more rows") for note in shown.notes)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (-0.0001, 2, "0.00"),
        (1.005, 1, "1.0"),
        (3.02e-7, None, "3.02e-07"),
        (-0.0, None, "0"),
        (nan, 3, DASH),
        (inf, None, DASH),
    ],
)
def test_numbers_for_people(value: float, decimals: int | None, text: str) -> None:
    assert number(value, decimals) == text


PARTS = Table(
    "parts",
    "Parts",
    (
        Column("name", "name"),
        Column("value", "value", digits=3),
        Column("hidden", "hidden", shown=False),
        Column("more", "more", "um", 1, part=1),
        Column("rest", "rest", part=2),
    ),
    (("a", 1.23456e-7, 5.0, 7.25, None), ("b", -12.3456, 6.0, Unknown(REASON), None)),
    ("A note.",),
)


def test_columns_of_a_later_part_stand_in_a_table_of_their_own() -> None:
    first, second = (displayed(part) for part in parted(PARTS))  # the third has no entry
    assert (first.header, second.header) == (("name", "value"), ("name", "more [um]"))
    assert [row[0] for row in second.rows] == ["a", "b"]
    assert first.notes == ()
    assert second.notes[0] == "A note."
    assert REASON in second.notes[1]
    assert parted(TABLE) == (TABLE,)
    report = Report("Title", (), (Section("Part", (PARTS,)),))
    assert text_of(report).count("Parts") == 1
    tables = html.fromstring(as_html(report)).xpath("//table")
    assert [len(t.xpath("./thead/tr/th")) for t in tables] == [2, 2]
    assert as_data(report)["parts"][0] == {"name": "a", "value": 1.23456e-7, "hidden": 5.0, "more": 7.25, "rest": None}
    assert as_csv(PARTS).splitlines()[0] == "name,value,hidden,more,rest"


def test_significant_digits() -> None:
    assert [row[1] for row in displayed(PARTS).rows] == ["1.23e-07", "-12.3"]


@pytest.mark.parametrize(("value", "text"), [(0.0421, "0.042"), (4.4e-106, "< 0.0001"), (1.0, "1"), (nan, DASH)])
def test_a_probability_next_to_nothing_is_said_so(value: float, text: str) -> None:
    table = Table("t", "", (Column("p", "probability", probability=True),), ((value,),))
    assert displayed(table).rows == ((text,),)


def test_people_read_other_units_than_programs() -> None:
    columns = (Column("rms_um", "rms", "mm", decimals=3, scale=1e-3), *(Column(a, a, group="axes") for a in "ab"))
    table = Table("t", "", columns, ((2705.1, 4.08562, -1.6e-15), (13.18, 124.139, 0.25)))
    assert displayed(table).rows == (("2.705", "4.09 0.00"), ("0.013", "124.14 0.25"))
    assert table_data(table)[0] == {"rms_um": 2705.1, "a": 4.08562, "b": -1.6e-15}


def test_pages_have_signs_where_a_terminal_has_letters_and_copied_lines_stay() -> None:
    said = "Known to 12 um +- 3 um, 0.3 urad/(N m), 1 N/um; sum.um.csv and um-2 stay."
    page = as_html(Report("R", (said,), (Section("Part", (Code("x", "a_um: 3 # um +- 1"),)),)))
    tree = html.fromstring(page)
    shown = tree.xpath("string(//div[@class='verdict'])").strip()
    assert shown == "Known to 12 µm ± 3 µm, 0.3 µrad/(N m), 1 N/µm; sum.um.csv and um-2 stay."
    assert tree.xpath("string(//pre)") == "a_um: 3 # um +- 1"


@pytest.mark.parametrize(
    ("value", "sd", "text"),
    [
        (0.302e-6, 0.004e-6, "0.302(4)e-6"),
        (-0.0001, 0.005, "0.000(5)"),
        (55e-9, 3e-9, "55(3)e-9"),
        (0.0434, 0.005, "0.043(5)"),
        (0.001, 0.00012, "0.00100(12)"),
        (447.0, 52.0, "450(50)"),
        (1234.0, 17.0, "1234(17)"),
        (1.0, 0.0, DASH),
        (nan, 1.0, DASH),
    ],
)
def test_value_and_standard_deviation_in_short(value: float, sd: float, text: str) -> None:
    assert concise(value, sd) == text


def test_curves_stay_apart_when_colours_run_out() -> None:
    many = Lines("many", "Many", "x", "", "y", "", tuple(Series(str(i), (0.0,), (1.0,), True) for i in range(20)))
    drawn = [(d["marker"]["color"], d["marker"]["symbol"]) for d in lines(many)["data"]]
    assert len(set(drawn)) == 20


def test_marks_name_what_they_are() -> None:
    marks = Series("tip x", (1.0, 2.0), (5.0, 7.25), True, words=("a.csv line 7 (P1)", "a.csv line 9 (P2)"))
    block = replace(CURVES, series=(marks, *CURVES.series), y_unit="um")
    named, bare = lines(block)["data"]
    assert named["text"] == ["a.csv line 7 (P1)", "a.csv line 9 (P2)"]
    assert named["hovertemplate"] == "%{text}<br>%{y:.4g} um"
    assert not {"text", "hovertemplate"} & set(bare)
    named, bare = as_data(replace(REPORT, sections=(Section("", (block,)),)))["curves"]["series"]
    assert named["words"] == ["a.csv line 7 (P1)", "a.csv line 9 (P2)"]
    assert "words" not in bare


def test_json_is_finite_and_keeps_full_precision() -> None:
    data = json.loads(as_json(as_data(REPORT)), parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert data["moves"][0]["dz_mm"] == -1.23456789
    assert data["moves"][1]["dz_mm"] is None
    assert data["moves"][1]["unknown"] == {"dz_mm": REASON}
    assert data["moves"][2]["dz_mm"] is None
    assert data["map"]["values"] == [[0.5, None], [None, 2.0]]
    assert data["curves"]["series"][0]["y"] == [5.0, 7.25]
    assert data["verdict"] == ["All is well."]


def test_every_sentence_is_in_all_renderings() -> None:
    """Verdict, notes, facts and what is said under each kind of block; three renderings of one object."""
    blocks = (
        Paragraphs(("of the text",)),
        Code("code", "of the code"),
        replace(TABLE, notes=("under the table",)),
        replace(MAP, notes=("under the map",)),
        replace(CURVES, notes=("under the curves",)),
        Scene("scene", "Scene", "m", (Dots("tips", ((0.0, 0.0, 1.0),)),), ("under the scene",)),
    )
    fact = Fact("robot", "robot", "of the fact", "of the fact")
    report = Report("of the title", ("of the verdict",), (Section("Part", blocks),), ("of the notes",), (fact,))
    said = ("title", "verdict", "notes", "fact", "text", "code")
    sentences = [*(f"of the {w}" for w in said), *(f"under the {w}" for w in ("table", "map", "curves", "scene"))]
    page = html.document_fromstring(as_html(report)).find("body/main").text_content()
    for rendered in (text_of(report), page, as_json(as_data(report))):
        assert [s for s in sentences if s not in rendered] == []


def test_two_blocks_with_one_key_do_not_hide_each_other() -> None:
    twice = Report("Twice", (), (Section("", (TABLE, TABLE)),))
    with refused("duplicate", TABLE.key):
        as_data(twice)


def test_csv_repeats_every_digit() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(TABLE))))
    assert [r["dz_mm"] for r in rows] == ["-1.23456789", "", ""]
    assert rows[0]["source"] == "a long source"


def test_csv_is_read_again_whatever_a_cell_holds() -> None:
    cells = [
        ("a, b", 1.5, True),
        ('say "x"', -0.0, None),
        ("two\nlines", float("nan"), 7),
        ("plain", 0.0, Unknown("why")),
    ]
    columns = tuple(Column(key, key) for key in ("text", "number", "other"))
    expected = [["a, b", "1.5", "True"], ['say "x"', "-0.0", ""], ["two\nlines", "", "7"], ["plain", "0.0", ""]]
    whole = list(csv.reader(io.StringIO(as_csv(Table("t", "", columns, tuple(cells))))))
    pieces = Table("t", "", columns, Rows(8192, lambda part: [cells[i % 4] for i in range(part.start, part.stop)]))
    assert whole == [["text", "number", "other"], *expected]
    assert list(csv.reader(io.StringIO(as_csv(pieces)))) == [whole[0], *expected * 2048]
    one = Table("t", "", columns[:1], (("",), ("b",)))
    assert as_csv(one) == 'text\n""\nb\n'


def test_text_shows_map_curve_and_verdict() -> None:
    text = text_of(REPORT)
    for piece in (
        "Title & more",
        "first <b>",
        "-1.235",
        REASON,
        "0.500",
        "7.2500 at 1.0",
        "note: Mind this.",
        "All is well.",
    ):
        assert piece in text
    assert text.rstrip().endswith("All is well.")


def test_text_survives_markup_in_names() -> None:
    table = Table("t", "[bold]x[/bold]", (Column("a", "[red]"),), (("[/nope]",),))
    assert "[/nope]" in text_of(Report("[x]", (), (Section("[y]", (table,)),)))


def test_html_is_one_offline_file() -> None:
    page = as_html(REPORT)
    tree = html.fromstring(page)
    assert "plotly" not in page  # curves and maps are drawings in the file
    assert len(page) < 60_000
    addresses = tree.xpath("//@src | //@href | //@action | //@srcset")
    assert all(a.startswith("data:") for a in addresses)
    styles = " ".join(tree.xpath("//style/text() | //@style"))
    assert "url(" not in styles
    assert "@import" not in styles
    assert tree.xpath("//meta[@name='viewport']")
    assert "@media print" in styles


def test_html_shows_what_the_report_says() -> None:
    tree = html.fromstring(as_html(REPORT))
    cells = [[td.text_content() for td in row.xpath("./td")] for row in tree.xpath("//tbody/tr")]
    assert cells[0] == ["first <b>", "10 -90", "-1.235", "[1]"]
    assert cells[1][2] == DASH
    assert tree.xpath("string(//div[@class='verdict'])").strip() == "All is well."
    assert any(REASON in p.text_content() for p in tree.xpath("//p[@class='notes']"))
    assert "Words </script> here." in [p.text_content() for p in tree.xpath("//section/p")]


def test_warnings_stand_out_of_the_verdict_and_what_it_rests_on_comes_last() -> None:
    said = (
        "LACK OF FIT: 57 um beyond the noise.",
        "GROSS ERRORS: one.",
        "A2 and A3 are known.",
        "KUKA's A1 is stiff.",
    )
    report = Report("R", said, (Section("Part", (Code("x", "y"),)),), (), (Fact("seed", "seed", 7),))
    tree = html.fromstring(as_html(report))
    assert [p.text for p in tree.xpath("//p[@class='loud']")] == [said[0].replace("um", "\N{MICRO SIGN}m"), said[1]]
    assert tree.xpath("//h2/text()") == ["Part"]
    assert tree.xpath("//details/summary/text()")[-1] == "Inputs and versions"


def test_figures_for_notebooks_are_valid_plotly_with_units_on_the_axes() -> None:
    import plotly.graph_objects as go

    curve = lines(CURVES)
    go.Figure(curve)
    assert curve["layout"]["xaxis"]["title"]["text"] == "q [deg]"


def test_a_page_without_figures_carries_no_plotly() -> None:
    page = as_html(Report("Plain", (), (Section("", (TABLE,)),)))
    assert len(page) < 20_000


def test_numbers_in_si_are_read_in_units_of_the_trade() -> None:
    """One row each for a joint, a stiff link and a value of zero; JSON stays as it is."""
    columns = (
        Column("parameter", "parameter"),
        Column("file", "file", digits=4, si=True),
        Column("value", "estimate (sd)", si=True, sd="sd"),
        Column("sd", "sd", shown=False, si=True),
        Column("unit", "unit"),
        Column("wide", "sd, others unknown", digits=2, si=True, part=1),
    )
    rows = (
        ("A1.k", 3e-7, 3.343e-7, 1.2e-9, "rad/(N m)", 2e-9),
        ("link.k11", 4.558e-10, 3.8e-10, 7e-11, "m/N", 9e-11),
        ("A2.gap", 0.0, 2.8e-5, 8e-6, "rad", nan),
    )
    table = Table("parameters", "", columns, rows)
    first, second = (displayed(part) for part in parted(table))
    assert first.rows == (
        ("A1.k", "0.3000", "0.3343(12)", "urad/(N m)"),
        ("link.k11", "0.4558", "0.38(7)", "nm/N"),
        ("A2.gap", "0", "28(8)", "urad"),
    )
    assert [row[1] for row in second.rows] == ["0.0020", "0.090", "\N{EN DASH}"]
    assert table_data(table)[0]["value"] == 3.343e-7


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ((37.604, 37.58, 139.9163), ("37.60", "37.58", "139.92")),  # as many decimals as the smallest needs
        ((0.0, 1.21, 0.2314), ("0.000", "1.210", "0.231")),
        ((0.00431, 14.2), ("0.0043", "14")),  # far apart: two digits each
        ((900.0, 12.0), ("900", "12")),
        ((1363.84, 0.2), ("1400", "0.20")),
    ],
)
def test_a_column_has_one_format(values: tuple[float, ...], shown: tuple[str, ...]) -> None:
    digits = 4 if values[0] > 30 and values[-1] > 30 else 3 if 1.21 in values else 2
    column = Column("value", "value", digits=digits)
    assert displayed(Table("t", "", (column,), tuple((v,) for v in values))).rows == tuple((s,) for s in shown)


def test_every_page_of_paper_bears_the_title_and_its_number() -> None:
    page = as_html(replace(REPORT, title='M\u00fcller "7"</style>'))
    (sheet,) = html.fromstring(page).xpath("//style")
    assert r'content: "M\fc ller \22 7\22 \3c /style\3e "' in sheet.text
    assert "counter(page)" in sheet.text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("the load is heavy", "The load is heavy."),
        ("leave-one-out errors grow.", "Leave-one-out errors grow."),
        ("tool0 has no mass", "tool0 has no mass."),
        ("arm.yaml, line 3: no mass", "arm.yaml, line 3: no mass."),
        ("was A1_deg meant?", "Was A1_deg meant?"),
        ("", ""),
    ],
)
def test_a_text_becomes_a_sentence_and_names_stay_as_they_are(text: str, sentence: str) -> None:
    assert as_sentence(text) == sentence


def test_what_is_no_data_is_refused_by_its_type() -> None:
    with pytest.raises(TypeError, match="complex"):
        as_json({"value": 1j})


_ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
_DATA = st.recursive(_ATOMS, lambda part: st.lists(part) | st.tuples(part, part) | st.dictionaries(st.text(), part))


def _with_nulls(value: object) -> object:
    """What a reader of JSON has: lists, and None for what is not finite."""
    if isinstance(value, dict):
        return {k: _with_nulls(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_with_nulls(v) for v in value]
    return None if isinstance(value, float) and value - value != 0 else value


@given(_DATA)
def test_any_data_is_read_again_from_its_json(data: object) -> None:
    assert json.loads(as_json(data), parse_constant=pytest.fail) == _with_nulls(data)


def test_a_row_of_numbers_is_one_line_of_json() -> None:
    data = {"matrix": np.array([[1.5, nan], [-2.0, 1e-9]]), "names": ("A1", "A2"), "rows": [{"sd": np.float64(0.25)}]}
    lines = [line.strip() for line in as_json(data).splitlines()]
    assert lines[:6] == ["{", '"matrix": [', "[1.5, null],", "[-2.0, 1e-09]", "],", '"names": ["A1", "A2"],']
    assert json.loads(as_json(data))["rows"] == [{"sd": 0.25}]

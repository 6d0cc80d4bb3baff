"""Tables as people and programs write them: the same readings in every dress, and what must not be guessed."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from openpyxl import Workbook
from oracle.refusals import refused

import elastocal as ec
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.spelling import Numerals

Q = np.array([[1.5, -62.48, 50.09, 71.78, 38.7, -13.8], [-20.25, -70.1, 80, -5, 50, 10], [30, -80, 90.5, 5, 60, 20.0]])
POINTS = np.array(
    [[2548.7603, -303.7225, 1844.3697], [2241.3848, 607.766, 1322.0669], [1372.2324, 319.6693, 2958.6604]]
)
AXES = [f"A{i}_deg" for i in range(1, 7)]
PLACE = ["x_mm", "y_mm", "z_mm"]


def plain(v: float) -> str:
    return f"{v:.4f}"


def comma(v: float) -> str:
    return plain(v).replace(".", ",")


def german(v: float) -> str:
    return f"{v:,.4f}".translate(str.maketrans(",.", ".,"))


def swiss(v: float) -> str:
    return f"{v:,.4f}".replace(",", "'")


def french(v: float) -> str:
    return f"{v:,.4f}".replace(",", "\u202f").replace(".", ",")


def typeset(v: float) -> str:
    return plain(v).replace("-", "\u2212")


def table(titles=(*AXES, *PLACE), number=plain, sep=";", angle=None, above=(), units=(), below=(), encoding="utf-8"):
    """Lines of a table with a column of names; ``angle`` writes joint values where they differ from lengths."""
    rows = [
        [f"P{i}", *map(angle or number, q), *map(number, p)] for i, (q, p) in enumerate(zip(Q, POINTS, strict=True))
    ]
    lines = [*above, sep.join(["name", *titles]), *units, *(sep.join(r) for r in rows), *below, ""]
    return "\n".join(lines).encode(encoding)


NINE = ";" * 9
DRESSES = {
    "decimal commas": table(number=comma),
    "German thousands": table(number=german),
    "Swiss thousands": table(number=swiss),
    "French thousands": table(number=french),
    "American thousands in quotes": table(number=lambda v: f'"{v:,.4f}"', sep=","),
    "American thousands between tabs": table(number=lambda v: f"{v:,.4f}", sep="\t"),
    "decimal commas in quotes between commas": table(number=lambda v: f'"{comma(v)}"', sep=","),
    "a typesetter's minus": table(number=typeset, sep=","),
    "German titles in cp1252": table(
        [*(f"Achse {i} [°]" for i in range(1, 7)), *(f"{c}-Ist (mm)" for c in "XYZ")], comma, encoding="cp1252"
    ),
    "units behind the word": table([*(f"A{i} in Grad" for i in range(1, 7)), "X mm", "Y mm", "Z mm"], comma),
    "units in the second line": table(
        [*(f"A{i}" for i in range(1, 7)), *"XYZ"], units=[";".join(["", *["[°]"] * 6, *["[mm]"] * 3])]
    ),
    "units with every number": table(number=lambda v: f"{comma(v)} mm", angle=lambda v: f"{comma(v)}°"),
    "titles over groups": table(
        [*(f"A{i}" for i in range(1, 7)), *"XYZ"], above=[";Gelenkwinkel [°];;;;;;Position [mm];;"]
    ),
    "remarks above and empty rows": table(above=["Messprotokoll;KR 270", "", f"Datum{NINE}"], below=["", NINE]),
    "a mean below": table(number=comma, below=[NINE, "Mittelwert;" + ";".join(comma(v) for v in [1] * 9)]),
    "remarks with slashes": table(number=comma, above=["// Export 12.3.2026", "// Tracker 2"]),
    "titles as NumPy writes them": b"# made up\n# " + table(sep=","),
    "a count and a remark below": table(below=["Anzahl;3;;;;;;;;", "Ende der Messung"]),
}


@pytest.mark.parametrize("dress", DRESSES)
def test_the_same_readings_in_every_dress(tmp_path: Path, dress: str) -> None:
    (tmp_path / "t.csv").write_bytes(DRESSES[dress])
    _, data = ec.read_campaign("kuka-kr270", tmp_path / "t.csv")
    np.testing.assert_allclose(np.radians(data.q), np.radians(Q), atol=1e-6)
    np.testing.assert_allclose(data.position[:, 0], 1e-3 * POINTS, atol=1e-9)


def test_what_is_not_used_below_the_readings_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(DRESSES["a count and a remark below"])
    assert read_csv(tmp_path / "t.csv").notes[-1] == (
        "t.csv: below the readings, and not used: line 5 ('Anzahl'), 6 ('Ende der Messung')."
    )


@pytest.mark.parametrize("remark", ["Serie 2", "Serie 2;;;;;;;;;", "Nachmittag", "zweite Serie; nach der Pause"])
def test_a_remark_between_two_series_is_named_and_not_used(tmp_path: Path, remark: str) -> None:
    lines = table().decode().splitlines()
    (tmp_path / "t.csv").write_text("\n".join([*lines[:3], remark, *lines[3:]]), encoding="utf-8")
    _, data = ec.read_campaign("kuka-kr270", tmp_path / "t.csv")
    np.testing.assert_allclose(data.position[:, 0], 1e-3 * POINTS, atol=1e-9)
    assert f"t.csv: remarks between the readings, and not used: line 4 ({remark.strip(';')!r})." in [
        n.text for n in data.notes
    ]


@pytest.mark.parametrize("line", ["P7", "P7;1.5", "P7;;;;;;;;;", "P7;good", "P7;-;-"])
def test_a_row_that_was_cut_off_is_no_remark(tmp_path: Path, line: str) -> None:
    lines = table().decode().splitlines()
    (tmp_path / "t.csv").write_text("\n".join([*lines[:3], line, *lines[3:]]), encoding="utf-8")
    with pytest.raises(ec.InputError, match="line 4"):
        ec.read_campaign("kuka-kr270", tmp_path / "t.csv")


def test_a_remark_that_nothing_follows_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(table().decode() + "Serie 2\n", encoding="utf-8")
    with pytest.raises(ec.InputError, match="line 5"):
        ec.read_campaign("kuka-kr270", tmp_path / "t.csv")


def test_a_remark_between_two_series_of_a_sheet_is_named_and_not_used(tmp_path: Path) -> None:
    book = Workbook()
    rows = [["A1_deg", "A2_deg", "x_mm"], [1.5, 2, 3], ["Serie 2"], [2.5, 3, 4]]
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    raw = read_csv(tmp_path / "t.xlsx")
    assert raw.numbers(0).tolist() == [1.5, 2.5]
    assert raw.notes == ("t.xlsx: remarks between the readings, and not used: line 3 ('Serie 2').",)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("T_mm;F_N\n12,5;-2.500\n", "-2500"),
        ("T_mm;F_N\n12.5;-2,500\n", "-2500"),
        ("T_mm;F_N\n12.5;-2.500\n", "-2.500"),
        ("T_mm;F_N\n12,5;-2,500\n", "-2.500"),
        ("T_mm;F_N\n0,500;-0.250\n", "-0.250"),
        ("T_mm;F_N\n1.234.567;-2.500\n", "-2500"),
        ("T_mm;F_N\n12,345;-2,500\n", "-2.500"),
        ('T_mm,F_N\n12.5,"-2,500"\n', "-2500"),
        ('T_mm,F_N\n"12,5",-2.500\n', "-2500"),
        ('T_mm,F_N\n"12,5",-2.500\n"12,5",2.51\n', "-2.500"),
        ("T;F_N\n12:30:05,5;-2.500\n", "-2.500"),
        ("T;F_N\nseen 0,5 mm off;-2.500\n", "-2.500"),
        ("T_mm;F_N\n0,5 mm;-2.500\n", "-2500"),
        ("T_mm;F_N\n2 548,76;-2.500\n", "-2500"),
    ],
)
def test_three_digits_behind_a_sign_are_read_by_the_other_numbers(tmp_path: Path, text: str, value: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    raw = read_csv(tmp_path / "t.csv")
    assert raw.numerals.plain(raw.rows[0][1][1]) == value
    told = [n for n in raw.notes if "is read as" in n]
    assert bool(told) == value.startswith("-2500")


@pytest.mark.parametrize(
    "text", ["1.23.456", "12.34,5", "1,2,3", "17.11.2026", "1'23", "2.548,76,1", "P1.001", "1,234,56"]
)
def test_what_is_no_number_stays_none(text: str) -> None:
    for numerals in (Numerals(), Numerals(dots=True), Numerals(commas=True)):
        assert numerals.cell(text) == text


def test_merged_cells_of_excel_count_in_every_row(tmp_path: Path) -> None:
    book = Workbook()
    page = book.active
    page.append(["Pose", "Marker", *(f"A{i} [°]" for i in range(1, 7)), *(f"{c} [mm]" for c in "XYZ")])
    for i, (q, p) in enumerate(zip(Q.tolist(), POINTS.tolist(), strict=True)):
        page.append([f"P{i}", "m1", *q, *p])
        page.append([None, "m2", *[None] * 6, *(v + 1 for v in p)])
        for column in "ACDEFGH":
            page.merge_cells(f"{column}{2 * i + 2}:{column}{2 * i + 3}")
    out = io.BytesIO()
    book.save(out)
    (tmp_path / "t.xlsx").write_bytes(out.getvalue())
    _, data = ec.read_campaign("kuka-kr270", tmp_path / "t.xlsx")
    assert data.markers == ("m1", "m2")
    np.testing.assert_allclose(data.q, Q)
    np.testing.assert_allclose(data.position[:, 1], 1e-3 * (POINTS + 1))


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_quoted_cell_may_hold_line_breaks(tmp_path: Path, ending: str) -> None:
    """Titles and remarks of spreadsheets; lines are counted as an editor counts them."""
    titles = ['"A1\n[deg]"', *(f"A{i}_deg" for i in range(2, 7)), "x_mm", '"y\n\n(mm)"', "z_mm", "remark"]
    remarks = ['"first, ""quoted""\nand second"', "", 'cable 1/2" long']
    rows = [",".join([*(f"{v:g}" for v in (*q, *p)), r]) for q, p, r in zip(Q, POINTS, remarks, strict=True)]
    text = "\n".join([",".join(titles), *rows]) + "\n"
    (tmp_path / "t.csv").write_bytes(text.replace("\n", ending).encode())
    _, data = ec.read_campaign("kuka-kr270", tmp_path / "t.csv")
    np.testing.assert_allclose(data.q, Q, rtol=1e-5)
    assert [data.line(i).split()[2] for i in range(3)] == ["5", "7", "8"]


def test_quotes_that_do_not_end_are_refused_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('A1_deg,remark\n1,fine\n2,"open\n3,\n')
    with refused("quotes", file="t.csv", line=3):
        read_csv(tmp_path / "t.csv")


def test_a_unit_of_a_cell_must_be_that_of_its_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(table(number=lambda v: f"{v / 25.4:.5f} in"))
    with refused("unit", "0.05906 in"):
        ec.read_campaign("kuka-kr270", tmp_path / "t.csv")


LINES = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}


@pytest.mark.parametrize("ending", LINES.values(), ids=LINES)
@pytest.mark.parametrize("text", ["A1_deg;x_mm\n10;1.234\n20;0,5\n", "x_mm;A1_deg\n1.234;10\n0,5;20\n"])
def test_the_last_column_counts_whatever_ends_a_line(tmp_path: Path, text: str, ending: str) -> None:
    (tmp_path / "t.csv").write_bytes(text.replace("\n", ending).encode())
    raw = read_csv(tmp_path / "t.csv")
    assert raw.rows.numbers[:, raw.header.index("x_mm")].tolist() == [1234, 0.5]
    assert [n for n in raw.notes if "1.234" in n and "1234" in n]


def test_a_comment_tells_nothing_of_how_numbers_are_written(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("A1_deg;x_mm\n10;1.234\n# was 20;0,5\n20;1.250\n")
    assert read_csv(tmp_path / "t.csv").rows.numbers[:, 1].tolist() == [1.234, 1.25]


@pytest.mark.parametrize("blank", ["\xa0;\xa0", ";", " ; "])
def test_lines_of_empty_cells_are_passed_over(tmp_path: Path, blank: str) -> None:
    text = f"A1_deg;x_mm\n10;1.5\n{blank}\n20;2.5\n" + f"{blank}\n" * 5
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert read_csv(tmp_path / "t.csv").rows.numbers.tolist() == [[10, 1.5], [20, 2.5]]


@pytest.mark.parametrize("word", ["sep=;", "SEP=;", "sEp=;"])
def test_the_line_that_tells_a_spreadsheet_the_separator_is_no_title(tmp_path: Path, word: str) -> None:
    (tmp_path / "t.csv").write_text(f"{word}\nA1_deg;x_mm\n10;1.5\n")
    assert read_csv(tmp_path / "t.csv").header == ("A1_deg", "x_mm")


def lines_with(line: str, at: int, **dress: object) -> bytes:
    lines = table(**dress).decode().split("\n")
    return "\n".join([*lines[:at], line, *lines[at:]]).encode()


def test_titles_and_remarks_between_readings_are_no_readings(tmp_path: Path) -> None:
    title = table().decode().split("\n")[0]
    (tmp_path / "t.csv").write_bytes(lines_with(f"// tracker placed anew\n{title}", 3))
    _, data = ec.read_campaign("kuka-kr270", tmp_path / "t.csv")
    np.testing.assert_allclose(data.position[:, 0], 1e-3 * POINTS, atol=1e-9)
    assert "t.csv: titles that stand again, and are left out: line 5." in [n.text for n in data.notes]
    page = Workbook()
    for cells in (["A1_deg", "x_mm"], [10, 1.5], ["A1_deg", "x_mm"], [20, 2.5]):
        page.active.append(cells)
    page.save(tmp_path / "t.xlsx")
    raw = read_csv(tmp_path / "t.xlsx")
    assert raw.numbers(1).tolist() == [1.5, 2.5]
    assert raw.notes == ("t.xlsx: titles that stand again, and are left out: line 3.",)


@pytest.mark.parametrize("word", ["-", "\u2013", "n/a", "#N/A", "#NV", "NA", "#DIV/0!"])
def test_words_for_nothing_count_as_empty_cells_and_are_counted(tmp_path: Path, word: str) -> None:
    """At the front of a line too, where # begins a remark."""
    rows = [";".join([*map(plain, p), *map(plain, q)]) for q, p in zip(Q, POINTS, strict=True)]
    rows[1] = ";".join([*[word] * 3, *map(plain, Q[1])])
    (tmp_path / "t.csv").write_text("\n".join([";".join([*PLACE, *AXES]), *rows]) + "\n", encoding="utf-8")
    _, data = ec.read_campaign("kuka-kr270", tmp_path / "t.csv")
    np.testing.assert_allclose(data.position[:, 0], 1e-3 * POINTS[[0, 2]], atol=1e-9)
    assert f"t.csv: 1 row holds no reading and is left out (line 3; cells that count as empty: {word!r} (3))." in [
        n.text for n in data.notes
    ]


@pytest.mark.parametrize("unit", ["\u00b0C", "s", "%", "hh:mm", "1"])
def test_a_line_of_units_may_hold_others(tmp_path: Path, unit: str) -> None:
    rows = [";".join([*map(plain, q), *map(plain, p), "21"]) for q, p in zip(Q, POINTS, strict=True)]
    titles = [*(f"A{i}" for i in range(1, 7)), *"XYZ", "temperature" if "C" in unit else "other"]
    units = [*["\u00b0"] * 6, *["mm"] * 3, unit]
    (tmp_path / "t.csv").write_text("\n".join([";".join(titles), ";".join(units), *rows]) + "\n", encoding="utf-8")
    _, data = ec.read_campaign("kuka-kr270", tmp_path / "t.csv")
    np.testing.assert_allclose(np.radians(data.q), np.radians(Q), atol=1e-6)
    if "C" in unit:
        assert np.all(data.temperature == 21)


def test_empty_columns_without_a_title_are_not_named(tmp_path: Path) -> None:
    for end, told in ((";;", []), (";;late", ["t.csv: not used: columns without a title."])):
        lines = table().decode().split("\n")
        (tmp_path / "t.csv").write_text("\n".join([f"{lines[0]};;", *(f"{line}{end}" for line in lines[1:4]), ""]))
        _, data = ec.read_campaign("kuka-kr270", tmp_path / "t.csv")
        assert [n.text for n in data.notes if "not used" in n.text] == told


def test_a_remark_above_rows_without_titles_is_no_title(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("# made up\n" + "\n".join(table(sep=",").decode().split("\n")[1:]))
    with refused("missing-column", file="t.csv"):
        ec.read_campaign("kuka-kr270", tmp_path / "t.csv")

"""Names in files of others: a terminal, a page, a spreadsheet and a sentence show them and obey none."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from app.cell_desk import typed, well
from app.test_confinement import POINTS, ROBOT

from elastocal.files.text import csv_text
from elastocal.report.blocks import Column, Report, Section, Table
from elastocal.report.html import as_html
from elastocal.untrusted import shown_plainly

NAMES = ("=HYPERLINK(1)", "@SUM(A1)", "+1+cmd", "\x9b2J", "\u202egnp", "<script>alert(1)</script>", "</script>", "%{x}")


def harmless(text: str) -> bool:
    return shown_plainly(text) == text


@pytest.mark.parametrize("name", NAMES)
def test_a_marker_with_such_a_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text(POINTS.replace("P1", name), encoding="utf-8")
    said = well("arcs", tmp_path / "points.csv", "--csv", tmp_path / "a.csv", "--report", tmp_path / "a.html")
    assert harmless(said.out)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    body = page.partition("<body")[2]
    assert "<script>alert" not in page
    assert name not in body.replace("</script>", "") or (name.isascii() and "<" not in name)
    assert harmless(page.partition("<script id")[0])
    cells = [c for row in csv.reader((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()) for c in row]
    assert not any(c.startswith(("=", "@", "+1+", "\t")) for c in cells)
    said = well("arcs", tmp_path / "points.csv", "--json")
    assert harmless(said.out)
    assert name in json.dumps(said.data, ensure_ascii=False)  # for programs it stays what it is


def test_tables_that_are_read_again_keep_their_names(tmp_path: Path) -> None:
    from elastocal.files.tables.csv_file import read_csv

    names = ("=a", "'=a", "-b", "+c", "@d", "'e", "-1.5")
    (tmp_path / "t.csv").write_text(csv_text([("=name", names), ("x_mm", ["1"] * len(names))]))
    read = read_csv(tmp_path / "t.csv")
    assert (read.header[0], tuple(row[0] for _, row in read.rows)) == ("=name", names)


def test_a_record_that_was_received_does_not_steer_the_terminal(tmp_path: Path) -> None:
    for place in ("records", "robot"):
        (tmp_path / place).mkdir()
    (tmp_path / "cell.yaml").write_text("format: elastocal-cell/1\nname: c\n")
    (tmp_path / "robot" / "robot.yaml").write_text(ROBOT)
    record = {
        "format": "elastocal-record/1", "command": ["plan", "\x1b[2J; rm -rf ~", "$(x)"], "cell": {}, "seed": 1,
        "inputs": {"/dev/zero": "1", "\x1b]0;x\x07": "2", "a\0b": "3"}, "outputs": {"\u202ex": "3", "../../x": "4"},
        "versions": {"elastocal": "\x1b[31m"}, "time": "\x1b[5m",
    }  # fmt: skip
    (tmp_path / "records" / "plan.json").write_text(json.dumps(record))
    said = typed("status", tmp_path)
    assert said.code == 1
    assert harmless(said.out + said.err)
    (tmp_path / "records" / "plan.json").write_text(json.dumps({**record, "command": []}))
    said = typed("status", tmp_path)
    assert (said.code, said.err.count("\n")) == (2, 1)


def test_refusals_quote_at_most_a_line(tmp_path: Path) -> None:
    long = "x" * 100_000
    for text in (
        f"format: {long}",
        f"format: elastocal-robot/1\n{long}: 1",
        ROBOT.replace("type: revolute", f"type: {long}"),
    ):
        (tmp_path / "r.yaml").write_text(text)
        said = typed("show", tmp_path / "r.yaml")
        assert said.code == 2
        assert len(said.err) < 1000
    (tmp_path / "r.yaml").write_text(ROBOT.replace("axis: [0, 1, 0]", f"axis: {[0] * 20_000}"))
    assert len(typed("show", tmp_path / "r.yaml").err) < 2000


def test_memory_and_depth_end_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for error, words in ((MemoryError, "memory of this machine"), (RecursionError, "nested too deeply")):

        def fail(*_: object, _error: type[Exception] = error) -> None:
            raise _error

        monkeypatch.setattr("elastocal.files.robot.read.robot_from_text", fail)
        said = typed("show", "kuka-kr270")
        assert (said.code, words in said.err, said.err.count("\n")) == (2, True, 1)


def test_a_page_escapes_every_cell() -> None:
    table = Table("t", "a<b>", (Column("k", "<i>n</i>"),), (("<img src=x onerror=1>",), ("\x1b[2J",)))
    page = as_html(Report("<b>t</b>", ("<u>",), (Section("<s>", (table,)),), ("<q>",), ()))
    for tag in ("<img", "<u>", "<i>n", "<q>", "\x1b"):
        assert tag not in page

"""Mistakes in campaign files and tables: one sentence with file, line, column, value, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from files.campaign_desk import DEFLECTION, ERRORS, HEAD, POSITION, TABLE, Desk
from oracle.refusals import refused

from elastocal.files.campaign.read import read_campaign

LONG = "marker,A1_deg,A2_deg,fz_N,dx_mm,dy_mm,dz_mm\nm1,5,0,-1000,0,0,-3\nm2,5,0,-1000,0,0,-3\n"
PLACES = "A1_deg,A2_deg,x_mm,y_mm,z_mm\n5,0,1000,0,500\n35,0,900,400,500\n65,20,500,800,700\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    ("line", "code", "value", "column"),
    [
        ("measurment: deflection", "unknown-key", "measurment", "measurment"),
        ("thresholds: [2, 5]", "range", [2, 5], "thresholds"),
        ("thresholds: [5]", "shape", [5], "thresholds"),
        ("tool: hand", "unknown-frame", "hand", "tool"),
        ("without: [play]", "unknown-kind-of-effect", "play", "without"),
        ("seek: ['J3.*']", "unknown-parameter-matching", "J3.*", "seek[1]"),
        ("seek: []", "missing", [], "seek"),
        ("hold: J1.kk", "unknown-parameter", "J1.kk", "hold"),
        ("hold: '*'", "missing", "*", "hold"),
        ("tracker_frame: fit", "unobservable", "fit", "tracker_frame"),
        ("tracker_frame: here", "format", "here", "tracker_frame"),
        ("tracker_frame: {xyz: [0, 0, 0]}", "unit", [0, 0, 0], "tracker_frame.xyz"),
        ("load: {frame: hand}", "unknown-frame", "hand", "load.frame"),
        ("load: {force_N: [0, 0, 1]}", "conflict", [0, 0, 1], "load.force_N"),
        ("load: {force_Nm: [0, 0, 1]}", "unit", [0, 0, 1], "load.force_Nm"),
        ("markers: [m1, m2]", "missing", ["m1", "m2"], "markers"),
        ("markers: [m3]", "unknown-marker", "m3", "markers[1]"),
        ("seek: [*.k]", "yaml", None, None),
    ],
)
def test_keys(desk: Desk, line: str, code: str, value: Any, column: str | None) -> None:
    with refused(code, value, file="campaign.yaml", line=6, column=column):
        desk.read(f"{DEFLECTION}{line}\n")


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("statics", "exact", ("loaded", "linear")),
        ("missing", "drop", ("refuse", "skip")),
        ("limits", False, ("apply", "ignore")),
        ("loss", "l2", ("linear", "huber", "cauchy")),
        ("form", "beams", ("full", "symmetric", "beam")),
        ("outliers", "drop", ("leave_out", "keep")),
    ],
)
def test_words_of_keys(desk: Desk, key: str, value: Any, allowed: tuple[str, ...]) -> None:
    with refused("range", value, file="campaign.yaml", line=6, column=key, allowed=allowed):
        desk.read(f"{DEFLECTION}{key}: {value}\n")


def test_linear_statics_has_no_columns_for_masses(desk: Desk) -> None:
    said = desk.refused(DEFLECTION + "statics: linear\nseek: [J2.*]\n")
    assert said.startswith("campaign.yaml, line 7, seek: parameter J2.m is not a compliance")
    assert "belongs to measurement: deflection" in desk.refused(POSITION + "statics: linear\n", PLACES)


@pytest.mark.parametrize(
    ("text", "code", "value", "line", "column"),
    [
        ("", "empty", None, None, None),
        ("name: x\n", "missing", "format", None, None),
        ("format: elastocal-robot/1\n", "format", "elastocal-robot/1", None, None),
        (HEAD, "missing", "measurement", None, None),
        (HEAD + "measurement: torque\n", "range", "torque", 5, "measurement"),
        (DEFLECTION.replace("arm.yaml", "kuka-kr271"), "unknown-robot", "kuka-kr271", 3, "robot"),
        (DEFLECTION.replace("arm.yaml", "leg.yaml"), "no-file", "leg.yaml", 3, "robot"),
        (DEFLECTION.replace("readings.csv", "r.csv"), "no-file", "r.csv", 4, "table"),
        (DEFLECTION.replace("readings.csv", "[]"), "input", [], 4, "table"),
    ],
)
def test_the_frame_of_a_file(
    desk: Desk, text: str, code: str, value: Any, line: int | None, column: str | None
) -> None:
    with refused(code, value, file="campaign.yaml", line=line, column=column):
        desk.read(text)


def test_a_spoilt_robot_is_named_by_its_own_line(desk: Desk) -> None:
    (desk.folder / "bad.yaml").write_text("format: elastocal-robot/1\nname: x\nsource: y\njoint: []\n")
    assert desk.refused(DEFLECTION.replace("arm.yaml", "bad.yaml")).startswith("bad.yaml, line 4, joint: is not a key")
    with refused("no-file", file="none.yaml"):
        read_campaign(desk.folder / "none.yaml")


@pytest.mark.parametrize(
    ("entry", "code", "value", "key"),
    [
        ("{kind: reading, sd_um: -10}", "range", -10, ".sd_um"),
        ("{kind: reading, sd_um: 0}", "range", 0, ".sd_um"),
        ("{kind: reading, sd_um: [1, 0, 1]}", "range", [1, 0, 1], ".sd_um"),
        ("{kind: reading, sd_um: [1, 2]}", "shape", None, ""),
        ("{kind: reading, sd: 10}", "unit", 10, ".sd"),
        ("{kind: reading, sd_deg: 10}", "unit", 10, ".sd_deg"),
        ("{kind: reading, sd_um: ten}", "number", "ten", ".sd_um"),
        ("{kind: reading}", "missing", ("m1.dx", "m", "sd_um"), ""),
        ("{kind: reading, sd_um: 1, marker: m9}", "unknown-marker", "m9", ""),
        ("{kind: readings, sd_um: 1}", "unknown-kind-of-error-source", "readings", ".kind"),
        ("{sd_um: 1}", "missing", {"sd_um": 1}, ""),
        ("reading", "missing", "reading", ""),
        ("{kind: load_size, sd_percent: 1, every: day}", "range", "day", ".every"),
        ("{kind: load_size, sd_mm: 1}", "unit", 1, ".sd_mm"),
        (
            "{kind: tracker, at_mm: [4000, 0, 0], along_um: 5, across_um: 5, across_slope_um_per_m: -1}",
            "range",
            -1,
            ".across_slope_um_per_m",
        ),
        (
            "{kind: tracker, at_mm: [4000, 0, 0], along_um: 5, across_um: 5, along_slope_ppm: 1}",
            "unit",
            1,
            ".along_slope_ppm",
        ),
        ("{kind: encoder}", "no-sd", None, ""),
    ],
)
def test_sources_of_error(desk: Desk, entry: str, code: str, value: Any, key: str) -> None:
    with refused(code, value, file="campaign.yaml", line=7, column=f"errors[1]{key}"):
        desk.read(f"{DEFLECTION}errors:\n  - {entry}\n", LONG)


def test_what_is_common_is_stated_once(desk: Desk) -> None:
    text = DEFLECTION + "errors:\n  - {kind: registration}\n  - {kind: registration, sd_mm: 1}\n"
    assert "line 8, errors[2]: gives registration x again (first in line 7); keep one" in desk.refused(text)


def test_orientations_need_a_stated_noise(desk: Desk) -> None:
    table = "A1_deg,A2_deg,fz_N,dx_mm,dy_mm,dz_mm,drx_mrad,dry_mrad,drz_mrad\n5,0,-1000,0,0,-3,0,1,0\n"
    said = desk.refused(DEFLECTION + ERRORS, table)
    assert said == "campaign.yaml, line 7, errors[1]: tool.drx is read in rad; add turn_sd_mrad"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("dy_mm", "dy_mmm", "line 1: column 'dy_mmm': unit 'mmm' does not fit dy; use m, mm, um, in"),
        ("dy_mm", "dy", "line 1: column 'dy' has no unit; write dy_m or dy_mm or dy_um or dy_in"),
        ("dy_mm", "dyy_mm", "line 1: there is no column 'dyy_mm'; did you mean 'dy_mm'?"),
        ("dy_mm", "dx_um", "line 1: column 'dx_um' gives dx a second time; keep one"),
        ("dy_mm", "x_mm", "line 1: dx and x give the deflection in two ways; keep one"),
        ("dy_mm", "ry_mrad", "line 1: column 'ry_mrad' belongs to measurement: position, but the campaign is one of"),
        ("dy_mm", "m1.dy_mm", "line 1: column 'm1.dy_mm' names its marker and 'dx_mm' does not; name it in both"),
        ("dy_mm", "m9.dy_mm", "line 1, column m9.dy_mm: there is no marker 'm9'; did you mean 'm2'? valid: base, J1"),
        ("A2_deg", "A3_deg", "line 1: there is no column 'A3_deg'; did you mean 'A2_deg'?"),
        ("A2_deg", "A2_mm", "line 1: column 'A2_mm': unit 'mm' does not fit A2; use rad, deg"),
        ("35,10,", ",10,", "line 3, column A1_deg: is empty; give a number"),
        (
            "0.4,",
            ",",
            "line 3, column dy_mm: an empty cell is no reading; give a number, or leave it out by missing: s",
        ),
        ("0.4,", "nan,", "line 3, column dy_mm: 'nan' is no reading; give a number, or leave it out by missing: skip"),
        ("0.4,", "inf,", "line 3, column dy_mm: 'inf' is not finite; give a number"),
        ("0.4,", "1e300,", "line 3, column dy_mm: '1e300' is too large; give a number"),
        ("0.4,", "+-,", "line 3, column dy_mm: '+-' is not a number; give a number"),
        ("0.4,", "four,", "line 3, column dy_mm: 'four' is not a number; give a number"),
        (
            "65,20",
            "65,95",
            "line 4, column A2_deg: axis A2 = 95 deg is beyond its limits -90 to 90 deg; change it or write 'limits",
        ),
        ("-2.9", "-400", "line 3, column dz_mm: -400 gives a deflection of 0.4 m on a robot of 1.56 m; check the unit"),
    ],
)
def test_tables(desk: Desk, old: str, new: str, said: str) -> None:
    got = desk.refused(DEFLECTION, TABLE.replace(old, new, 1))
    assert got.startswith(f"readings.csv, {said}")


def test_the_header_may_stand_lower(desk: Desk) -> None:
    said = desk.refused(DEFLECTION, "# tracker 7\n\n" + TABLE.replace("dy_mm", "dy"))
    assert said.startswith("readings.csv, line 3: column 'dy' has no unit")


def test_missing_columns(desk: Desk) -> None:
    plain = "A1_deg,A2_deg,fz_N\n5,0,-1000\n"
    said = desk.refused(DEFLECTION, plain)
    assert said.startswith("readings.csv, line 1: there is no column of dx; add dx_mm")
    assert "add y_mm" in desk.refused(POSITION, "A1_deg,A2_deg,x_mm\n5,0,1\n")
    assert "no column of x0; add x0_mm (the position without load), or" in desk.refused(
        DEFLECTION, "A1_deg,A2_deg,fz_N,x_mm,y_mm,z_mm\n5,0,-1000,1,2,3\n"
    )
    assert "add m1.drz_mrad" in desk.refused(
        DEFLECTION, "A1_deg,A2_deg,fz_N,m1.dx_mm,m1.dy_mm,m1.dz_mm,m1.drx_deg,m1.dry_deg\n5,0,-1000,1,2,3,0,0\n"
    )
    lost = "A1_deg,fz_N,dx_mm,dy_mm,dz_mm\n5,-1000,0,0,-3\n"
    assert desk.refused(DEFLECTION, lost) == "readings.csv, line 1: there is no column for axis A2; add A2_deg"
    assert "no configurations" in desk.refused(DEFLECTION, TABLE.splitlines()[0] + "\n")


def test_markers_of_the_long_layout(desk: Desk) -> None:
    assert desk.refused(DEFLECTION, LONG.replace("m2", "m3")).startswith(
        "readings.csv, line 3, column marker: there is no marker 'm3'; did you mean 'm2'? valid: base, J1, J2, tool, m1"
    )
    assert "line 2, column marker: there is no marker ''" in desk.refused(DEFLECTION, LONG.replace("m1", ""))
    both = LONG.replace("dx_mm", "m1.dx_mm").replace("dy_mm", "m1.dy_mm").replace("dz_mm", "m1.dz_mm")
    assert "line 1: the marker stands in a column of its own and in 'm1.dx_mm'" in desk.refused(DEFLECTION, both)
    assert "markers[2]: there is no marker 'tool'; valid: m1, m2" in desk.refused(
        DEFLECTION + "markers: [m1, tool]\n", LONG
    )
    assert "'m1' stands twice" in desk.refused(DEFLECTION + "markers: [m1, m1]\n", LONG)


def test_tables_of_different_columns(desk: Desk) -> None:
    campaign = DEFLECTION.replace("readings.csv", "[readings.csv, second.csv]")
    said = desk.refused(campaign, second=TABLE.replace("fz_N", "fx_N"))
    assert said == (
        "second.csv, line 1: fx stands in second.csv and not in readings.csv; give all tables of a campaign the same "
        "columns"
    )


def test_without_load_nothing_bends(desk: Desk) -> None:
    said = desk.refused(DEFLECTION, TABLE.replace("-1000", "0").replace("-500", "0"))
    assert said.startswith(
        "campaign.yaml: the load is zero in every row, so that nothing bends; add columns such as fz"
    )
    bare = "A1_deg,A2_deg,dx_mm,dy_mm,dz_mm\n5,0,0,0,-3\n"
    assert "line 6, load: the load is zero in every row" in desk.refused(DEFLECTION + "load: {frame: m1}\n", bare)


def test_slips_of_units(desk: Desk) -> None:
    said = desk.refused(DEFLECTION, TABLE.replace("dz_mm", "dz_m"))
    assert said == (
        "readings.csv, line 2, column dz_m: -3.0 gives a deflection of 3 m on a robot of 1.56 m; check the unit: was "
        "dz_mm meant?"
    )
    table = "A1_deg,A2_deg,fz_N,x_m,y_m,z_m,x0_m,y0_m,z0_m\n5,0,-1000,1000.1,0,500,1000,0,503\n"
    said = desk.refused(DEFLECTION, table)
    assert "column z_m: 500 less its value without load gives a deflection of 3 m" in said
    turned = "A1_deg,A2_deg,fz_N,dx_mm,dy_mm,dz_mm,drx_rad,dry_rad,drz_rad\n5,0,-1000,0,0,-3,0,3,0\n"
    assert "column dry_rad: 3 is a turn by 3 rad under load; check the unit" in desk.refused(DEFLECTION, turned)
    said = desk.refused(POSITION, PLACES.replace("_mm", "_m"))
    assert "line 2, column x_m: 1000 puts tool 1.12e+03 m from the base of a robot of 1.56 m" in said
    assert said.endswith("was x_mm meant?")
    said = desk.refused(POSITION, PLACES.replace("900", "9e9"))
    assert said.endswith("correct the number")


def test_nothing_was_read(desk: Desk) -> None:
    zeros = "A1_deg,A2_deg,fz_N,dx_mm,dy_mm,dz_mm\n5,0,-1000,0,0,0\n"
    assert desk.refused(DEFLECTION, zeros) == "readings.csv: every reading is zero; was the table filled?"
    empty = zeros.replace("0,0,0\n", ",,\n")
    assert "holds no reading at all" in desk.refused(DEFLECTION + "missing: skip\n", empty)


def test_a_frame_cannot_be_fitted(desk: Desk) -> None:
    fit = POSITION + "tracker_frame: fit\n"
    two = "\n".join(PLACES.splitlines()[:3]) + "\n"
    said = desk.refused(fit, two)
    assert said.startswith(
        "campaign.yaml, line 6, tracker_frame: fit: 2 points do not tell how axes lie; at least three"
    )
    line = "A1_deg,A2_deg,x_mm,y_mm,z_mm\n5,0,1000,0,500\n35,0,2000,0,500\n65,20,3000,0,500\n"
    assert "fit: all points are in line" in desk.refused(fit, line)
    assert "fit: the readings spread over" in desk.refused(fit, PLACES.replace("_mm", "_m"))

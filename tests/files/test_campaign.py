"""Campaign files: what is read of tables in their layouts and units, and of the campaign's own keys."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from files.campaign_desk import DEFLECTION, ERRORS, HEAD, POSITION, TABLE, Desk

from elastocal.files.campaign.file import CampaignFile
from elastocal.files.units import LENGTH
from elastocal.measure.markers import Deflection, Position
from elastocal.measure.setup import Setup
from elastocal.measure.sources.instrument import Reading, Tracker
from elastocal.measure.sources.load import LoadSize
from elastocal.measure.sources.places import MarkerPlaces, Registration
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker
from elastocal.reduction.identify import sought_names
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import rotation_vector

WIDE = """\
A1_deg,A2_deg,fz_N,m1.dx_mm,m1.dy_mm,m1.dz_mm,m2.dx_mm,m2.dy_mm,m2.dz_mm
5,0,-1000,0.1,0.2,-3,1.1,1.2,-3.1
35,10,-1000,0.3,0.4,-2,1.3,1.4,-2.1
5,0,-1000,0.5,0.6,-3,1.5,1.6,-3.2
"""
LONG = """\
marker,A1_deg,A2_deg,fz_N,dx_mm,dy_mm,dz_mm
m1,5,0,-1000,0.1,0.2,-3
m2,5,0,-1000,1.1,1.2,-3.1
m1,35,10,-1000,0.3,0.4,-2
m2,35,10,-1000,1.3,1.4,-2.1
m1,5,0,-1000,0.5,0.6,-3
m2,5,0,-1000,1.5,1.6,-3.2
"""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def same(one: CampaignFile, other: CampaignFile) -> None:
    a, b = one.campaign.measurement.setup, other.campaign.measurement.setup
    assert a.markers == b.markers
    np.testing.assert_array_equal(a.q, b.q)
    np.testing.assert_array_equal(a.wrenches, b.wrenches)
    np.testing.assert_array_equal(one.campaign.readings, other.campaign.readings)


def test_a_table_of_deflections(desk: Desk) -> None:
    read = desk.read(DEFLECTION + ERRORS)
    kind = read.campaign.measurement
    assert isinstance(kind, Deflection)
    assert kind.statics == "loaded"
    assert kind.where.markers == (Marker("tool"),)
    np.testing.assert_allclose(np.rad2deg(kind.where.q), [[0, 0], [30, -10], [60, -20]], atol=1e-12)
    np.testing.assert_array_equal(kind.where.wrenches[:, 2], [-1000, -1000, -500])
    assert kind.where.load.frame == "tool"
    assert not kind.where.load.follows
    np.testing.assert_allclose(read.campaign.readings[2], [0.5e-3, 0.6e-3, -1.4e-3])
    assert read.campaign.places == ("readings.csv line 2", "readings.csv line 3", "readings.csv line 4")
    assert [f.name for f in read.files] == ["campaign.yaml", "arm.yaml", "readings.csv"]
    assert read.words["name"] == "test"
    assert (read.name, read.robot, read.model.name) == ("test", "arm.yaml", "arm")


def test_defaults_and_assumptions_are_named(desk: Desk) -> None:
    notes = " ".join(desk.read(DEFLECTION).notes)
    assert "readings are of frame 'tool'" in notes
    assert "act at 'tool' in base axes" in notes
    assert "No errors are stated" in notes
    quiet = DEFLECTION + "load: {frame: tool}\nmarkers: [tool]\n" + ERRORS
    assert desk.read(quiet).notes == ()


@pytest.mark.parametrize("unit", ["m", "mm", "um", "in"])
def test_units_of_readings(desk: Desk, unit: str) -> None:
    table = "A1_rad,A2_mrad,fz_kN,tool.dx_{0},tool.dy_{0},tool.dz_{0}\n0.1,200,-1,{1!r},0,{2!r}\n"
    text = table.format(unit, 0.0005 / LENGTH[unit], -0.002 / LENGTH[unit])
    read = desk.read(DEFLECTION, text).campaign
    np.testing.assert_allclose(read.readings, [[0.0005, 0, -0.002]], rtol=1e-14)
    np.testing.assert_allclose(read.measurement.setup.q, [[0.1 - np.deg2rad(5), -0.2]], rtol=1e-14)
    assert read.measurement.setup.wrenches[0, 2] == -1000


def test_decimal_commas_and_comments(desk: Desk) -> None:
    lines = [line.replace(",", ";").replace(".", ",") for line in TABLE.splitlines()]
    text = "\ufeff# from the tracker\r\n" + "\r\n".join(lines) + "\r\n"
    read = desk.read(DEFLECTION, text)
    np.testing.assert_array_equal(read.campaign.readings, desk.read(DEFLECTION).campaign.readings)
    assert read.campaign.places is not None
    assert read.campaign.places[0] == "readings.csv line 3"


def test_long_and_wide_are_the_same(desk: Desk) -> None:
    wide, long = desk.read(DEFLECTION, WIDE), desk.read(DEFLECTION, LONG)
    same(wide, long)
    assert long.campaign.measurement.setup.markers == (Marker("m1"), Marker("m2"))
    assert long.campaign.places == ("readings.csv lines 2, 3", "readings.csv lines 4, 5", "readings.csv lines 6, 7")
    np.testing.assert_array_equal(long.campaign.measurement.setup.state, [0, 1, 0])


def test_the_order_of_rows_does_not_matter(desk: Desk) -> None:
    head, *rows = LONG.splitlines()
    expected = desk.read(DEFLECTION, LONG)
    key = expected.campaign.measurement.setup.q[:, 0] + expected.campaign.readings[:, 0]
    wanted = expected.campaign.readings[np.argsort(key)]
    within = [(0, 4), (1, 5)]  # repeats of one marker keep their order: it is what makes them first and second
    tried = 0
    for order in permutations(range(6)):
        if all(order.index(a) < order.index(b) for a, b in within):
            read = desk.read(DEFLECTION, "\n".join([head, *(rows[i] for i in order)]) + "\n").campaign
            again = read.measurement.setup.q[:, 0] + read.readings[:, 0]
            np.testing.assert_array_equal(read.readings[np.argsort(again)], wanted)
            tried += 1
    assert tried == 180


def test_an_absent_marker_is_nan_in_the_long_layout(desk: Desk) -> None:
    table = "\n".join(line for i, line in enumerate(LONG.splitlines()) if i != 4) + "\n"
    read = desk.read(DEFLECTION, table)
    assert np.isnan(read.campaign.readings[1, 3:]).all()
    assert np.isfinite(read.campaign.readings[1, :3]).all()
    assert "m2 was not read in 1 of 3 readings." in read.notes


def test_markers_are_chosen_and_ordered(desk: Desk) -> None:
    both = desk.read(DEFLECTION + "markers: [m2, m1]\n", WIDE).campaign
    plain = desk.read(DEFLECTION, WIDE).campaign
    np.testing.assert_array_equal(both.readings, plain.readings[:, [3, 4, 5, 0, 1, 2]])
    for table in (WIDE, LONG):
        one = desk.read(DEFLECTION + "markers: m2\n", table)
        np.testing.assert_array_equal(one.campaign.readings, plain.readings[:, 3:])
        assert "Readings of m1 are left out: 'markers' does not name them." in one.notes
    assert desk.read(DEFLECTION + "markers: [m1]\n").campaign.measurement.setup.markers == (Marker("m1"),)


def test_several_tables(desk: Desk) -> None:
    campaign = DEFLECTION.replace("readings.csv", "[readings.csv, second.csv]")
    other = "A2_deg,A1_deg,fz_kN,dz_um,dx_mm,dy_mm\n0,5,-1,-3000,0.1,0.2\n"
    read = desk.read(campaign, second=other)
    np.testing.assert_allclose(read.campaign.readings[3], read.campaign.readings[0], rtol=1e-12)
    assert read.campaign.places is not None
    assert read.campaign.places[3] == "second.csv line 2"
    assert [f.name for f in read.files][-2:] == ["readings.csv", "second.csv"]


def test_names_of_rows_are_part_of_their_place(desk: Desk) -> None:
    table = "name,A1_deg,A2_deg,fz_N,dx_mm,dy_mm,dz_mm\nP7,5,0,-1000,0,0,-3\n"
    assert desk.read(DEFLECTION, table).campaign.places == ("readings.csv line 2 (P7)",)


def test_positions_with_and_without_load_give_the_deflection(desk: Desk) -> None:
    table = "A1_deg,A2_deg,fz_N,x_mm,y_mm,z_mm,x0_mm,y0_mm,z0_mm\n5,0,-1000,1000.1,0.2,497,1000,0,500\n"
    read = desk.read(DEFLECTION, table)
    np.testing.assert_allclose(read.campaign.readings, [[0.1e-3, 0.2e-3, -3e-3]], rtol=1e-9)
    assert "readings.csv: deflections are positions under load less positions without." in read.notes


def test_turns_make_a_pose(desk: Desk) -> None:
    table = (
        "A1_deg,A2_deg,fz_N,m1.dx_mm,m1.dy_mm,m1.dz_mm,m1.drx_mrad,m1.dry_mrad,m1.drz_deg,m2.dx_mm,m2.dy_mm,m2.dz_mm\n"
        "5,0,-1000,1,2,3,4,5,0.1,7,8,9\n"
    )
    read = desk.read(DEFLECTION + "errors: [{kind: reading, sd_um: [1, 2, 3], turn_sd_mrad: 0.1}]\n", table)
    assert read.campaign.measurement.setup.markers == (Marker("m1", "pose"), Marker("m2"))
    turn = np.deg2rad(0.1)
    np.testing.assert_allclose(
        read.campaign.readings, [[1e-3, 2e-3, 3e-3, 4e-3, 5e-3, turn, 7e-3, 8e-3, 9e-3]], rtol=1e-12
    )


def test_skipped_numbers_are_counted(desk: Desk) -> None:
    table = TABLE.replace("0.2,-3.0", ",-3.0").replace("0.5,0.6,-1.4", "NaN,,nan")
    read = desk.read(DEFLECTION + "missing: skip\n", table)
    np.testing.assert_allclose(read.campaign.readings, [[0.1e-3, np.nan, -3e-3], [0.3e-3, 0.4e-3, -2.9e-3]])
    assert "readings.csv: 1 row holds no reading and is left out (line 4)." in read.notes
    assert "readings.csv: 1 row lacks numbers: only these are left out, the rest of it is used (line 2)." in read.notes


def test_one_skipped_row_is_one_row(desk: Desk) -> None:
    read = desk.read(DEFLECTION + "missing: skip\n", TABLE.replace("0.2,-3.0", ",-3.0"))
    assert "readings.csv: 1 row lacks numbers: only these are left out, the rest of it is used (line 2)." in read.notes


def test_one_load_for_all_rows(desk: Desk) -> None:
    table = "\n".join(
        line.replace(",fz_N", "").replace(",-1000", "").replace(",-500", "") for line in TABLE.split("\n")
    )
    read = desk.read(
        DEFLECTION + "load: {frame: m1, follows: true, force_kN: [0, 0, -1], moment_Nm: [1, 2, 3]}\n", table
    )
    load = read.campaign.measurement.setup.load
    assert (load.frame, load.follows) == ("m1", True)
    np.testing.assert_array_equal(load.wrench, [[0, 0, -1000, 1, 2, 3]])


def test_single_rows_without_load_are_noted(desk: Desk) -> None:
    read = desk.read(DEFLECTION, TABLE.replace("-500", "0"))
    assert "1 of 3 readings have no load and tell nothing of what bends (readings.csv line 4)." in read.notes


def test_positions_need_no_load(desk: Desk) -> None:
    table = "A1_deg,A2_deg,x_mm,y_mm,z_mm\n5,0,1000,0,499\n"
    read = desk.read(POSITION, table)
    assert isinstance(read.campaign.measurement, Position)
    assert "No load is given: the arm carries its own weight only." in read.notes
    np.testing.assert_allclose(read.campaign.readings, [[1, 0, 0.499]])


def placed(desk: Desk, pose: Pose, turns: bool = False) -> tuple[str, np.ndarray]:
    """A table of exact positions, as an instrument at ``pose`` sees them, and the positions in base axes."""
    q = np.deg2rad([[0, 0], [30, -10], [60, -20], [-40, 15]])
    model = desk.read(DEFLECTION).model
    setup = Setup(q, AppliedWrenches("tool", [0, 0, -1000, 0, 0, 0]), (Marker("m1"), Marker("m2")))
    exact = Position(setup).predict(model).reshape(-1, 2, 3)
    seen = (exact - pose.translation) @ pose.rotation
    shown = np.rad2deg(model.controller.to_controller(q))
    names = [f"{m}.{a}_m" for m in ("m1", "m2") for a in "xyz"]
    rows = [[*shown[i], -1000, *seen[i].reshape(-1)] for i in range(len(q))]
    if turns:
        names += [f"m1.r{a}_rad" for a in "xyz"]
        measured = np.moveaxis(pose.rotation.T @ kinematics(model, q, "m1").rotation, 0, -1)
        rows = [[*row, *v] for row, v in zip(rows, rotation_vector(measured).T, strict=True)]
    header = ",".join(["A1_deg", "A2_deg", "fz_N", *names])
    return "\n".join([header, *(",".join(repr(float(v)) for v in row) for row in rows)]) + "\n", exact.reshape(-1, 6)


POSE = Pose.from_xyz_rpy((2.0, -1.5, 0.7), (0.1, -0.2, 2.5))


def test_readings_in_the_instruments_axes(desk: Desk) -> None:
    table, exact = placed(desk, POSE)
    given = "tracker_frame: {xyz_m: [2, -1.5, 0.7], rpy_rad: [0.1, -0.2, 2.5]}\n"
    np.testing.assert_allclose(desk.read(POSITION + given, table).campaign.readings, exact, atol=1e-14)


def test_deflections_in_the_instruments_axes_are_turned_only(desk: Desk) -> None:
    given = "tracker_frame: {xyz_m: [2, -1.5, 0.7], rpy_deg: [0, 0, 90]}\n"
    plain = desk.read(DEFLECTION).campaign.readings
    turned = desk.read(DEFLECTION + given).campaign.readings
    np.testing.assert_allclose(turned, np.stack([-plain[:, 1], plain[:, 0], plain[:, 2]], axis=1), atol=1e-18)


def test_the_instruments_axes_are_fitted(desk: Desk) -> None:
    table, exact = placed(desk, POSE)
    read = desk.read(POSITION + "tracker_frame: fit\n", table)
    np.testing.assert_allclose(read.campaign.readings, exact, atol=1e-12)
    (note,) = (n for n in read.notes if "fitted" in n)
    assert "8 predicted positions: xyz_mm [2000.000, -1500.000, 700.000], rpy_deg [5.7" in note
    assert "mm (rms) left" in note


def test_orientations_are_brought_to_base_axes(desk: Desk) -> None:
    table, _ = placed(desk, POSE, turns=True)
    given = "tracker_frame: {xyz_m: [2, -1.5, 0.7], rpy_rad: [0.1, -0.2, 2.5]}\n"
    read = desk.read(POSITION + given, table)
    kind = read.campaign.measurement
    assert isinstance(kind, Position)
    assert kind.turned is not None
    assert kind.where.markers == (Marker("m1", "pose"), Marker("m2"))
    np.testing.assert_allclose(kind.turned[:, 0], kinematics(read.model, kind.where.q, "m1").rotation, atol=1e-13)
    np.testing.assert_array_equal(read.campaign.readings[:, 3:6], 0.0)
    lines = table.splitlines()
    lines[2] = lines[2].rpartition(",")[0] + ","
    lost = "\n".join(lines) + "\n"
    again = desk.read(POSITION + given + "missing: skip\n", lost).campaign.readings
    np.testing.assert_array_equal(np.isnan(again[:, 3:6]).all(axis=1), [False, True, False, False])


def test_errors_of_the_kr270(desk: Desk) -> None:
    errors = """\
errors:
  - {kind: reading, sd_um: 10}
  - {kind: tracker, at_mm: [4000, 0, 1000], along_um: 5, along_slope_um_per_m: 0.15, across_um: 7.5,
     across_slope_um_per_m: 3}
  - {kind: repeatability, sd_um: 60}
  - {kind: load_size, sd_percent: 0.5, every: campaign}
  - {kind: marker_places, sd_mm: 0.5}
  - {kind: registration}
"""
    sources = desk.read(DEFLECTION + errors).campaign.sources
    assert sources[0] == Reading(sd=10 * 1e-6)
    assert sources[1] == Tracker(
        at=(4.0, 0.0, 1.0), along=5 * 1e-6, along_slope=0.15 * 1e-6, across=7.5 * 1e-6, across_slope=3 * 1e-6
    )
    assert sources[3] == LoadSize(sd=0.5 * 1e-2, every="campaign")
    assert sources[4] == MarkerPlaces(sd=0.5 * 1e-3)
    assert sources[5] == Registration()
    declared = "units: {length: um}\nerrors:\n  - {kind: reading, sd: [1, 2, 3], marker: tool}\n"
    (source,) = desk.read(DEFLECTION + declared).campaign.sources
    assert source == Reading(sd=(1e-6, 2 * 1e-6, 3 * 1e-6), marker="tool")


def test_requests(desk: Desk) -> None:
    plain = desk.read(DEFLECTION).requests
    assert (plain.seek, plain.form, plain.thresholds, plain.loss, plain.statistical) == (
        None,
        None,
        (5, 2),
        "linear",
        True,
    )
    assert plain.outliers == "leave_out"
    asked = desk.read(
        DEFLECTION
        + 'seek: ["*.k", "J2.m"]\nhold: J1.*\nform: symmetric\nthresholds: [4, 3]\nloss: huber\nreduce: no\n'
        + "outliers: keep\n"
    )
    assert asked.requests.seek == ("*.k", "J2.m")
    assert (asked.requests.form, asked.requests.thresholds) == ("symmetric", (4, 3))
    assert (asked.requests.loss, asked.requests.statistical, asked.requests.outliers) == ("huber", False, "keep")
    assert asked.requests.hold == ("J1.*",)
    assert sought_names(asked.campaign.measurement, asked.model, asked.requests.seek, asked.requests.hold) == (
        "J2.k",
        "J2.m",
    )
    linear = desk.read(DEFLECTION + "statics: linear\n")
    assert linear.campaign.measurement.affine
    assert linear.requests.seek is None


def test_few_numbers_are_noted(desk: Desk) -> None:
    table = "\n".join(TABLE.splitlines()[:2]) + "\n"
    assert not any("fewer" in n for n in desk.read(DEFLECTION + "seek: '*.k'\n", table).notes)
    (note,) = (n for n in desk.read(DEFLECTION, table).notes if "fewer" in n)
    assert note == "3 numbers were read, fewer than the 6 parameters sought."


def test_limits_may_be_ignored(desk: Desk) -> None:
    read = desk.read(DEFLECTION + "limits: ignore\n", TABLE.replace("65,20", "65,95"))
    assert "1 of 3 readings lie beyond the joint limits and are used all the same." in read.notes


def test_robots_by_name_by_tool_and_without_effects(desk: Desk) -> None:
    table = "A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg,fz_N,marker1.dx_mm,marker1.dy_mm,marker1.dz_mm\n"
    table += "0,-90,90,0,30,0,-2500,0,0,-2\n"
    shipped = DEFLECTION.replace("arm.yaml", "kuka-kr270")
    read = desk.read(shipped + "tool: flange\nwithout: [gravity_compensator]\n", table)
    assert (read.model.name, read.model.tool) == ("kuka-kr270", "flange")
    assert read.campaign.measurement.setup.load.frame == "flange"
    assert not any(e.kind == "gravity_compensator" for e in read.model.elements)
    assert [f.name for f in read.files] == ["campaign.yaml", "readings.csv"]


def test_a_urdf_leaves_notes(desk: Desk) -> None:
    urdf = """<robot name="u"><link name="a"/><link name="b"/><link name="tip"/>
<joint name="J" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="0" velocity="0"/></joint>
<joint name="F" type="fixed"><origin xyz="1 0 0"/><parent link="b"/><child link="tip"/></joint></robot>"""
    (desk.folder / "u.urdf").write_text(urdf)
    campaign = HEAD.replace("arm.yaml", "u.urdf") + "measurement: position\n"
    table = "J_deg,x_mm,y_mm,z_mm\n0,1000,0,0\n"
    assert desk.read(campaign, table).model.parameters.names == ()  # the best predictor needs none
    hold = desk.refused(campaign + "seek: [J.offset]\n", table)
    assert hold.startswith("campaign.yaml, line 6, seek")
    mass = '<inertial><origin xyz="0.5 0 0"/><mass value="4"/></inertial>'
    (desk.folder / "u.urdf").write_text(urdf.replace('<link name="b"/>', f'<link name="b">{mass}</link>'))
    read = desk.read(campaign, table)
    assert any("gravity is assumed" in n for n in read.notes)
    assert [f.name for f in read.files] == ["campaign.yaml", "u.urdf", "readings.csv"]


def test_slides_count_as_size(desk: Desk) -> None:
    campaign = DEFLECTION.replace("arm.yaml", "cylindrical") + "statics: linear\n"
    table = "q1_mm,q2_deg,q3_mm,fz_N,dx_mm,dy_mm,dz_mm\n500,10,800,-100,0,0,-2\n"
    assert desk.read(campaign, table).campaign.readings[0, 2] == -2e-3

"""Campaign files offer what ``ec.Campaign`` does: a file and the arrays behind it give the same campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

import elastocal as ec
from elastocal.errors import InputError

ARM = """\
format: elastocal-robot/1
name: arm
source: written for a test
joints:
  - {name: A1, type: revolute, axis: [0, 0, 1], xyz_mm: [0, 0, 400], limits_deg: [-170, 170]}
  - {name: A2, type: revolute, axis: [0, 1, 0], xyz_mm: [100, 0, 0], limits_deg: [-120, 120]}
  - {name: A3, type: prismatic, axis: [1, 0, 0], xyz_mm: [600, 0, 0], limits_mm: [-300, 300]}
  - {name: flange, type: fixed, xyz_mm: [200, 0, 0]}
elements:
  - {kind: joint_compliance, joint: A1, k_urad_per_Nm: 2}
  - {kind: joint_compliance, joint: A2, k_urad_per_Nm: 3}
"""
RNG = np.random.default_rng(3)
Q = np.column_stack([RNG.uniform(-90, 90, 9), RNG.uniform(-60, 60, 9), RNG.uniform(-200, 200, 9)]).round(3)
POINTS = RNG.uniform(-900, 900, (9, 3)).round(3)
TURNS = Rotation.from_rotvec(RNG.uniform(-1, 1, (9, 3)))
AXES = ("A1_deg", "A2_deg", "A3_mm")
XYZ = ("x_mm", "y_mm", "z_mm")


class Desk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "arm.yaml").write_text(ARM)

    def table(self, titles: tuple[str, ...], *columns: Any, name: str = "points.csv", rows: int = 9) -> Path:
        cells = [np.asarray(c, dtype=object).reshape(rows, -1) for c in columns]
        lines = [",".join(titles), *(",".join(str(v) for part in cells for v in part[i]) for i in range(rows))]
        (self.folder / name).write_text("\n".join(lines) + "\n")
        return self.folder / name

    def file(self, name: str = "campaign.yaml", **keys: Any) -> Path:
        data = {"format": "elastocal-campaign/1", "robot": "arm.yaml", "table": "points.csv", **keys}
        (self.folder / name).write_text(yaml.safe_dump(data, sort_keys=False))
        return self.folder / name

    def read(self, **keys: Any) -> ec.Campaign:
        return ec.read_campaign(self.file(**keys))[1]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_robot_joints_and_points_are_enough(desk: Desk) -> None:
    desk.table((*AXES, *XYZ), Q, POINTS)
    robot, data = ec.read_campaign(desk.file())
    assert data.name == "campaign"
    assert data.markers == ("flange",)
    np.testing.assert_allclose(data.position[:, 0], 1e-3 * POINTS)
    np.testing.assert_allclose(data.joint_values(robot), Q * [np.pi / 180, np.pi / 180, 1e-3])
    bare_robot, bare = ec.read_campaign(desk.folder / "arm.yaml", desk.folder / "points.csv")
    assert bare_robot.joints == robot.joints
    assert np.array_equal(bare.position, data.position)
    assert bare.line(4) == "points.csv line 6"


@pytest.mark.parametrize(
    ("titles", "numbers", "keys"),
    [
        (("qx", "qy", "qz", "qw"), TURNS.as_quat(), {}),
        (tuple(f"r{i}{j}" for i in "123" for j in "123"), TURNS.as_matrix().reshape(9, 9), {}),
        (("rx_rad", "ry_rad", "rz_rad"), TURNS.as_rotvec(), {}),
        (("a_deg", "b_deg", "c_deg"), TURNS.as_euler("ZYX", degrees=True), {"euler": "ZYX"}),
        (("w_deg", "p_deg", "r_deg"), TURNS.as_euler("xyz", degrees=True), {"euler": "xyz"}),
        (("roll_deg", "pitch_deg", "yaw_deg"), TURNS.as_euler("xyz", degrees=True), {}),
    ],
    ids=["quaternion", "matrix", "rotation vector", "KUKA", "FANUC", "roll pitch yaw"],
)
def test_orientations_in_every_way(desk: Desk, titles: tuple[str, ...], numbers: Any, keys: dict[str, str]) -> None:
    desk.table((*AXES, *XYZ, *titles), Q, POINTS, numbers)
    np.testing.assert_allclose(desk.read(**keys).orientation, TURNS.as_matrix(), atol=1e-12)


def test_euler_angles_without_an_order_are_refused(desk: Desk) -> None:
    desk.table((*AXES, *XYZ, "a_deg", "b_deg", "c_deg"), Q, POINTS, np.zeros((9, 3)))
    with refused("euler", file="points.csv", line=1, parameter="euler", allowed=("ZYX",)):
        desk.read()
    with refused("range", "ZZY", file="campaign.yaml", line=4, column="euler"):
        desk.read(euler="ZZY")


def test_a_quaternion_with_its_scalar_first_is_named(desk: Desk) -> None:
    numbers = TURNS.as_quat()
    numbers[4] *= 1.2
    desk.table((*AXES, *XYZ, "qx", "qy", "qz", "qw"), Q, POINTS, numbers)
    with refused("orientation", file="points.csv", line=6, column="qx"):
        desk.read()


def test_everything_at_once(desk: Desk) -> None:
    """Positions of two markers, distances, stations, temperatures, loads, deflections of other rows."""
    station = ["east"] * 5 + ["west"] * 4
    heat = np.linspace(20, 30, 9)
    force = np.zeros(9)
    titles = (*AXES, "m.x_mm", "m.y_mm", "m.z_mm", "n.x_mm", "n.y_mm", "n.z_mm", "n.distance_mm")
    titles = (*titles, "station", "temperature_C", "fz_N")
    desk.table(titles, Q, POINTS, POINTS + 50, POINTS[:, :1] + 1000, station, heat, force)
    pushed = ("A1_deg", "A2_deg", "A3_mm", "temperature_C", "fz_N", "flange.dx_um", "flange.dy_um", "flange.dz_um")
    desk.table(pushed, Q[:3], heat[:3], [-100, -200, -300], 10 * POINTS[:3], name="pushed.csv", rows=3)
    _robot, data = ec.read_campaign(desk.file(table=["points.csv", "pushed.csv"], load={"frame": "flange"}))
    assert set(data.markers) == {"m", "n", "flange"}
    assert data.count == 12
    m, n, hand = (data.markers.index(k) for k in ("m", "n", "flange"))
    np.testing.assert_allclose(data.position[:9, n], 1e-3 * (POINTS + 50))
    assert np.isnan(data.position[9:]).all()
    assert np.isnan(data.position[:, hand]).all()
    np.testing.assert_allclose(data.distance[:9, n], 1e-3 * (POINTS[:, 0] + 1000))
    assert np.isnan(data.distance[:, m]).all()
    np.testing.assert_allclose(data.deflection[9:, hand], 1e-5 * POINTS[:3])
    assert data.station.tolist() == [*station, "1", "1", "1"]
    np.testing.assert_allclose(data.temperature, [*heat, *heat[:3]])
    np.testing.assert_allclose(data.wrench[9:, 2], [-100, -200, -300])


def test_units_once_for_all_columns_and_titles_of_other_programs(desk: Desk) -> None:
    desk.table(("A1", "A2", "A3", "x", "y", "z"), Q, POINTS)
    plain = desk.read(units={"length": "mm", "angle": "deg"})
    desk.table(("Joint 1 (deg)", "J2 [deg]", "q3_mm", "X [mm]", "Y [mm]", "Z [mm]", "time"), Q, POINTS, np.arange(9))
    odd = desk.read()
    assert np.array_equal(plain.position, odd.position)
    assert np.array_equal(plain.q, odd.q)
    desk.table(("A1", "A2", "A3", "x", "y", "z"), Q, POINTS)
    with refused("unit", file="points.csv", line=1, column="A1", parameter="units") as e:
        desk.read()
    assert (e.value.code, e.value.parameter) == ("unit", "units")


def test_numbered_points_are_markers(desk: Desk) -> None:
    desk.table((*AXES, "x1_mm", "y1_mm", "z1_mm", "x2_mm", "y2_mm", "z2_mm"), Q, POINTS, POINTS + 7)
    data = desk.read()
    assert data.markers == ("marker1", "marker2")
    np.testing.assert_allclose(data.position[:, 1], 1e-3 * (POINTS + 7))


def test_unknown_titles_name_columns(desk: Desk) -> None:
    desk.table(("A1_deg", "A2_deg", "Schlitten", *XYZ), Q, POINTS)
    with refused("missing-column", "A3", file="points.csv", line=1, allowed=("Schlitten",)):
        desk.read()
    desk.table((*AXES, "x_mm", "y_mm", "height_mm"), Q, POINTS)
    with refused("missing", "z_mm", allowed=("height_mm",)):
        desk.read()


def test_degrees_in_a_column_of_radians(desk: Desk) -> None:
    desk.table(("A1_rad", "A2_deg", "A3_mm", *XYZ), Q, POINTS)
    with refused("limits", -74.583, parameter="ignore_limits", suggested={"angle": ("deg",)}):
        desk.read()


@pytest.mark.parametrize(("unit", "value", "advice"), [("rad", -9.0, ()), ("deg", -2.0, ("rad",)), ("deg", -190.0, ())])
def test_a_row_beyond_the_limits_in_columns_of_one_unit(
    tmp_path: Path, unit: str, value: float, advice: tuple[str, ...]
) -> None:
    """A2 of the KR 270 goes from -140 to -5 deg.  One row of the others holds radians where so advised."""
    scale = 1.0 if unit == "rad" else 180 / np.pi
    q = scale * np.tile([0.1, -1.2, 1.3, 0.2, 0.4, 0.1], (8, 1))
    q[5] = [0.1, value, 1.3, 0.2, 0.4, 0.1] if advice else q[5]
    q[5, 1] = value
    head = ",".join([*(f"A{i}_{unit}" for i in range(1, 7)), "x_mm", "y_mm", "z_mm"])
    np.savetxt(tmp_path / "t.csv", np.hstack([q, np.ones((8, 3))]), "%.6f", ",", header=head, comments="")
    with pytest.raises(InputError) as caught:
        ec.read_campaign("kuka-kr270", tmp_path / "t.csv")
    assert (caught.value.code, caught.value.suggested) == ("limits", {"angle": advice})


def test_slightly_beyond_a_limit_is_said_and_used(desk: Desk) -> None:
    q = Q.copy()
    q[0, 2] = 300.4
    desk.table((*AXES, *XYZ), q, POINTS)
    data = desk.read()
    assert (data.q[0, 2], data.length) == (pytest.approx(300.4), "mm")
    q[0, 2] = 320
    desk.table((*AXES, *XYZ), q, POINTS)
    with refused("limits", 0.32, parameter="ignore_limits"):
        desk.read()


def test_a_marker_that_repeats_another_is_left_out(desk: Desk) -> None:
    desk.table((*AXES, "x1_mm", "y1_mm", "z1_mm", "x2_mm", "y2_mm", "z2_mm"), Q, POINTS, POINTS)
    assert desk.read().markers == ("marker1",)


def test_priors_of_a_file(desk: Desk) -> None:
    desk.table((*AXES, *XYZ), Q, POINTS)
    data = desk.read(
        priors=[
            {"parameters": "A?.offset", "sd_SI": 1e-3},
            {"parameters": ["A2.x", "A3.y"], "value_mm": 0.2, "sd_mm": 0.1, "common_sd_mm": 0.2},
            {"parameters": ["A1.x", "A1.y"], "covariance_mm2": [[0.04, 0.01], [0.01, 0.09]]},
        ]
    )
    known = {p.names: p for p in data.priors}
    assert set(known) == {("A1.offset",), ("A2.offset",), ("A3.offset",), ("A2.x", "A3.y"), ("A1.x", "A1.y")}
    np.testing.assert_allclose(known["A2.x", "A3.y"].values, 2e-4)
    np.testing.assert_allclose(known["A2.x", "A3.y"].covariance, [[5e-8, 4e-8], [4e-8, 5e-8]])
    np.testing.assert_allclose(known["A1.x", "A1.y"].covariance, [[4e-8, 1e-8], [1e-8, 9e-8]])


@pytest.mark.parametrize(
    ("prior", "code", "value", "key"),
    [
        ({"parameters": "A9.x", "sd_mm": 1}, "unknown-parameter-with-a-prior", "A9.x", ""),
        ({"parameters": "A2.x", "sd_mrad": 1}, "unit", "mrad", ""),
        ({"parameters": "A2.x"}, "missing", {"parameters": "A2.x"}, ""),
        ({"parameters": "A2.x", "sd_mm": -1}, "range", -1, ".sd_mm"),
        ({"parameters": "A2.x", "sd": 1}, "unit", 1, ".sd"),
        ({"parameters": "A2.x", "width_mm": 1}, "unknown-key", "width_mm", ".width_mm"),
        ({"parameters": "A2.x", "sd_percent": 5}, "range", "A2.x", ""),
        (
            {"parameters": ["A2.x", "A3.y"], "covariance_mm2": [[1, 2], [2, 1]]},
            "range",
            [[1, 2], [2, 1]],
            ".covariance_mm2",
        ),
        ({"parameters": "A2.x", "covariance_mm2": [[2, 1], [1, 2]]}, "shape", [[2, 1], [1, 2]], ".covariance_mm2"),
    ],
)
def test_priors_that_cannot_be(desk: Desk, prior: dict[str, Any], code: str, value: Any, key: str) -> None:
    desk.table((*AXES, *XYZ), Q, POINTS)
    with refused(code, value, file="campaign.yaml", column=f"priors[1]{key}") as caught:
        desk.read(priors=[prior])
    assert caught.value.line >= 5


def test_keys_of_the_two_calibrations_do_not_mix(desk: Desk) -> None:
    from elastocal.files.campaign.observed import asks_for_reduction

    assert not asks_for_reduction(desk.file(model=["geometry"]))
    assert asks_for_reduction(desk.file(reduce=True))
    with refused("conflict", 30, file="campaign.yaml", line=5, column="noise_um"):
        asks_for_reduction(desk.file(seek="A?.k", noise_um=30))


def test_campaigns_are_joined(desk: Desk) -> None:
    desk.table((*AXES, "m.x_mm", "m.y_mm", "m.z_mm"), Q, POINTS)
    robot, first = ec.read_campaign(desk.file(name="a.yaml"))
    desk.table((*AXES, "n.x_mm", "n.y_mm", "n.z_mm"), Q, POINTS)
    second = ec.read_campaign(desk.file(name="b.yaml"))[1]
    from elastocal.calibration.campaigns import joined

    both = joined(robot, [first, second])
    assert both.markers == ("m", "n")
    assert both.stations == ("a", "b")
    assert both.count == 18
    np.testing.assert_allclose(both.position[9:, 1], 1e-3 * POINTS)
    assert np.isnan(both.position[:9, 1]).all()
    degrees = ec.Campaign(q=Q, position=POINTS, length="mm", angle="deg", markers=["m"], station=["a"] * 9)
    mixed = joined(robot, [first, degrees])
    assert mixed.stations == ("a'", "a")  # the first names none, the second is called like it
    np.testing.assert_allclose(mixed.q[9:], first.q, rtol=1e-12)


def test_other_readings_for_validation(desk: Desk) -> None:
    from elastocal.calibration.readings import validation_of
    from elastocal.files.campaign.observed import read_observed

    desk.table((*AXES, *XYZ), Q, POINTS)
    desk.table((*AXES, *XYZ), Q[:4], POINTS[:4], name="check.csv", rows=4)
    desk.file(name="other.yaml", table="check.csv")
    (table, file) = validation_of(read_observed(desk.file(validation=["check.csv", "other.yaml"])))
    assert np.array_equal(table.position, file.position)
    assert table.count == 4

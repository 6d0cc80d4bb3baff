"""Couplings that a robot file lacks are taken in; slips of tables are proposed by a word that accepts them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

import elastocal as ec
from elastocal.calibration.orientation_slips import ORIENTATION_SLIPS
from elastocal.calibration.slips import check_slips, hypotheses
from elastocal.errors import InputError
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.transmission import Transmission

ROBOT = ec.read_robot("fanuc-m710ic50")


def table(robot: ec.Robot = ROBOT) -> tuple[np.ndarray, np.ndarray]:
    """Controller values (36, n) and points (36, 2, 3) in the axes of an instrument somewhere."""
    rng = np.random.default_rng(0)
    low, high = np.array([m.limits for m in robot.motions]).T
    q = 0.5 * low + 0.5 * (high - low) * rng.random((36, robot.n))
    at = robot.nominal.kinematics(q)
    markers = np.array([[0.05, 0.02, 0.1], [0.0, -0.08, 0.12]])
    points = at.position[:, None] + np.einsum("nij,mj->nmi", at.rotation, markers)
    turned = points @ Rotation.from_rotvec([0.4, -1.2, 2.0]).as_matrix().T + [1.0, 2.0, 0.5]
    return robot.controller.to_controller(q), turned + 3e-5 * rng.normal(size=points.shape)


def campaign(q: np.ndarray, y: np.ndarray) -> ec.Campaign:
    return ec.Campaign(q=q, position=y, length="m", angle="rad")


def bare() -> ec.Robot:
    """The FANUC without its coupling of J2 and J3."""
    n = len(ROBOT.controller.axes)
    return replace(ROBOT, transmission=Transmission(ROBOT.controller.axes, np.eye(n), ROBOT.controller.zero))


def test_nothing_is_proposed_on_clean_data() -> None:
    assert check_slips(ROBOT, campaign(*table())).findings == ()


def test_a_station_for_each_table_is_for_tables_of_several_rows() -> None:
    def offered(places: list[str]) -> set[str]:
        q, y = table()
        data = replace(campaign(q, y), places=places)
        return {w for h in hypotheses(ROBOT, data) for w in h.words if "table" in w}

    def tables(rows: int) -> list[str]:
        return [f"t{i // rows}.csv line {2 + i % rows}" for i in range(36)]

    assert offered(tables(18)) == {"a station for each table"}
    assert offered([f"row {i}" for i in range(36)]) == set()  # of arrays
    assert offered([f"table.csv line {2 + i}" for i in range(36)]) == set()  # one table
    assert offered(tables(1)) == offered(tables(3)) == set()  # an instrument placed anew suits any three points
    taken = campaign(*table()).take(np.arange(36) != 5)
    assert not [h.words for h in hypotheses(ROBOT, taken) if any("row " in w and "marker" in w for w in h.words)]


def test_the_coupling_of_a_fanuc_is_taken_in() -> None:
    q, y = table()
    checked = check_slips(bare(), campaign(q, y))
    (found,) = checked.findings
    assert found.code == "coupling"
    assert found.data["words"] == ["J3 += J2"]
    assert found.data["after"] < 1e-4 < 0.1 < found.data["before"]
    assert checked.robot.controller.matrix == pytest.approx(ROBOT.controller.matrix)


@pytest.mark.parametrize(
    ("word", "spoil"),
    [
        ("J3 reversed", lambda q, y: (q * [1, 1, -1, 1, 1, 1], y)),
        ("J5 -90 deg", lambda q, y: (q + np.array([0, 0, 0, 0, np.pi / 2, 0]), y)),
        ("J1 and J2 swapped", lambda q, y: (q[:, [1, 0, 2, 3, 4, 5]], y)),
        ("angles in deg", lambda q, y: (np.degrees(q), y)),
        ("lengths in mm", lambda q, y: (q, 1e3 * y)),
        ("mirrored frame", lambda q, y: (q, y * [-1, 1, 1])),
        ("readings shifted by -1 row", lambda q, y: (q, np.roll(y, 1, axis=0))),
    ],
)
def test_a_slip_is_refused_with_the_word_that_accepts_it(word: str, spoil: object) -> None:
    spoiled = campaign(*spoil(*table()))  # type: ignore[operator]
    with refused("slip", word, parameter="accept") as caught:
        check_slips(ROBOT, spoiled)
    assert ("; state this unit in the titles" in str(caught.value)) == word.startswith(("angles", "lengths"))
    assert ("; two of x, y, z are swapped or one is reversed" in str(caught.value)) == (word == "mirrored frame")
    for words in (word, (word, word)):  # twice is once
        (said,) = check_slips(ROBOT, spoiled, words).findings
        assert (said.code, said.severity, said.data) == ("accepted", "note", {"word": word})


def test_slips_that_points_do_not_tell_apart_are_both_named() -> None:
    """Half a turn of the fifth axis is a sixth that turns the other way, whose axis it reverses."""
    q, y = table()
    with refused("slip", "J5 +180 deg", parameter="accept") as both:
        check_slips(ROBOT, campaign(q + np.array([0, 0, 0, 0, np.pi, 0]), y))
    assert "J6 reversed" in str(both.value)
    with pytest.raises(ec.InputError) as single:
        check_slips(ROBOT, campaign(q * [1, 1, -1, 1, 1, 1], y))
    assert "points alone" not in str(single.value)


def test_rows_that_do_not_belong_together_are_refused() -> None:
    """Of a robot with few axes: every slip that could be is tried, and those of six axes take ten seconds."""
    robot = ec.read_robot("cylindrical")
    q, y = table(robot)
    assert check_slips(robot, campaign(q, y)).findings == ()
    with pytest.raises(ec.InputError) as caught:
        check_slips(robot, campaign(q, y[np.random.default_rng(1).permutation(len(y))]))
    assert caught.value.code == "points-far"
    assert caught.value.value > 0.1
    assert caught.value.parameter != "accept"


@pytest.mark.parametrize(("word", "factor"), [("TRACK in mm", 1e3), ("TRACK in m", 1e-3)])
def test_a_prismatic_axis_in_the_wrong_unit(word: str, factor: float) -> None:
    """An arm on a track whose place was written in another unit than the other lengths."""
    robot = ec.read_robot("iiwa14-on-track").nominal
    word = word.replace("TRACK", robot.controller.axes[0])
    rng = np.random.default_rng(2)
    reach = np.array([0.8 if m.kind == "prismatic" else 1.2 for m in robot.motions])
    q = rng.uniform(-reach, reach, size=(30, robot.n))
    at = robot.kinematics(q)
    points = at.position + at.rotation @ [0.05, 0.02, 0.1] + 3e-5 * rng.normal(size=(30, 3))
    shown = robot.controller.to_controller(q)
    assert check_slips(robot, campaign(shown, points)).findings == ()
    shown[:, 0] *= factor
    with refused("slip", word, parameter="accept"):
        check_slips(robot, campaign(shown, points))
    assert [f.code for f in check_slips(robot, campaign(shown, points), (word,)).findings] == ["accepted"]


def _longer(robot: ec.Robot, frame: str, shift: list[float]) -> ec.Robot:
    """The arm as it stands: one frame elsewhere than in the robot file."""
    frames = tuple(
        replace(f, pose=replace(f.pose, translation=f.pose.translation + np.array(shift))) if f.name == frame else f
        for f in robot.tree.frames
    )
    return replace(robot, tree=replace(robot.tree, frames=frames))


@pytest.mark.parametrize(("size", "refused"), [(0.12, False), (0.5, True)])
def test_a_wrong_length_of_the_robot_file_is_named(size: float, refused: bool) -> None:
    """The forearm is longer than the file says: the frame is named with its shift, be it refused or only warned of."""
    robot = ROBOT.nominal
    arm = max(
        (f for f in robot.tree.path(robot.tool) if f.parent.startswith("J")),
        key=lambda f: np.linalg.norm(f.pose.translation),
    )
    shift = size * arm.pose.translation / np.linalg.norm(arm.pose.translation)
    rng = np.random.default_rng(5)
    low, high = np.array([m.limits for m in robot.motions]).T
    q = 0.5 * low + 0.5 * (high - low) * rng.random((36, 6))
    at = _longer(robot, arm.name, shift.tolist()).kinematics(q)
    points = at.position + at.rotation @ [0.05, 0.02, 0.1] + 3e-5 * rng.normal(size=(36, 3))
    data = campaign(robot.controller.to_controller(q), points)
    if refused:
        with pytest.raises(ec.InputError) as caught:
            check_slips(robot, data)
        assert (caught.value.code, caught.value.column) == ("points-far", arm.name)
        return
    (found,) = check_slips(robot, data).findings
    assert found.code == "points-far"
    assert found.data["frame"] == arm.name
    assert found.data["shift"] == pytest.approx(shift, abs=1e-3)
    assert found.data["after"] < 1e-3 < found.data["before"]


@pytest.mark.parametrize("poses", [30, 420])
def test_slips_are_not_accepted_without_points(poses: int) -> None:
    rng = np.random.default_rng(1)
    data = ec.Campaign(
        q=rng.uniform(-1, 1, (poses, 6)), deflection=rng.normal(0, 1e-4, (poses, 1, 3)),
        wrench=rng.normal(0, 100, (poses, 6)), length="m", angle="rad",
    )  # fmt: skip
    with refused("conflict", "lengths in mm", parameter="accept"):
        ec.calibrate(ROBOT, data, accept="lengths in mm")


def test_far_points_are_told_in_a_unit_of_their_size() -> None:
    from elastocal.calibration.slips import _far_words

    assert _far_words(341.2).startswith("341 m away")
    assert _far_words(0.502).startswith("502 mm away")


def oriented(read: object, *, points: bool) -> ec.Campaign:
    """Orientations as somebody wrote them, with points or alone."""
    q, y = table()
    return ec.Campaign(q=q, position=y if points else None, orientation=read, length="m", angle="rad")


def turns() -> Rotation:
    """Orientations of a tool turned on its flange, in the axes of ``table``, with half a milliradian of noise."""
    q, _ = table()
    at = Rotation.from_matrix(ROBOT.nominal.kinematics(ROBOT.controller.to_joints(q)).rotation)
    noise = Rotation.from_rotvec(5e-4 * np.random.default_rng(5).normal(size=(36, 3)))
    return noise * Rotation.from_rotvec([0.4, -1.2, 2.0]) * at * Rotation.from_rotvec([0.3, 0.5, -0.2])


@pytest.mark.parametrize("points", [True, False])
@pytest.mark.parametrize(
    ("word", "read"),
    [
        ("orientations transposed", lambda r: r.inv().as_matrix()),
        ("quaternions with w first", lambda r: r.as_quat(scalar_first=True)),
        ("quaternions with w last", lambda r: np.roll(r.as_quat(), -1, axis=1)),
    ],
)
def test_orientations_that_are_written_otherwise_are_named(word: str, read, points: bool) -> None:
    given = oriented(read(turns()), points=points)
    allowed = (
        (word,) if points else tuple(ORIENTATION_SLIPS)
    )  # without points the turns of instrument and tool hide which it is
    with refused("slip", value=allowed[0], parameter="accept", allowed=allowed):
        check_slips(ROBOT, given)
    checked = check_slips(ROBOT, given, word)
    assert [f.code for f in checked.findings] == ["accepted"]
    np.testing.assert_allclose(checked.campaign.orientation, turns().as_matrix(), atol=1e-12)


@pytest.mark.parametrize("points", [True, False])
def test_sound_orientations_pass_and_any_others_are_warned_of(points: bool) -> None:
    assert check_slips(ROBOT, oriented(turns().as_quat(), points=points)).findings == ()
    anything = Rotation.random(36, rng=np.random.default_rng(1))
    (finding,) = check_slips(ROBOT, oriented(anything.as_matrix(), points=points)).findings
    assert finding.code == "orientations-far"
    assert finding.data["angle"] > 1.0


def ranged(factor: float = 1.0, step: int = 0) -> ec.Campaign:
    """Distances of a marker from a point that stands still, in another unit or ``step`` rows off."""
    q, y = table()
    far = np.linalg.norm(y[:, 0] - [1.5, 2.5, 0.3], axis=1)
    return ec.Campaign(q=q, distance=factor * np.roll(far, step), length="m", angle="rad")


@pytest.mark.parametrize("factor", [1e3, 1e-3, 1 / 25.4, 25.4])
def test_distances_in_another_unit_are_named(factor: float) -> None:
    """Whatever fits them: in mm and taken for m they made points that no arithmetic holds, in inch an improvement."""
    assert check_slips(ROBOT, ranged()).findings == ()
    with refused("slip", f"distances times {1 / factor:g}", parameter="distance"):
        check_slips(ROBOT, ranged(factor))


def test_distances_of_other_rows_are_far_from_the_robot() -> None:
    with pytest.raises(InputError) as caught:
        check_slips(ROBOT, ranged(step=7))
    assert (caught.value.code, caught.value.parameter) == ("distances-far", "distance")
    assert 0.05 < caught.value.value < 2.0


def test_distances_that_are_a_little_far_are_warned_of_and_few_are_not_judged() -> None:
    """Off by 150 mm to either side, a part of which no place explains; eleven may suit some place in any unit."""
    right = ranged()
    off = right.changed(distance=right.distance + 0.15 * (-1.0) ** np.arange(36)[:, None])
    (found,) = check_slips(ROBOT, off).findings
    assert (found.code, found.severity) == ("distances-far", "warning")
    assert 0.01 < found.data["before"] / ROBOT.size < 0.05
    assert check_slips(ROBOT, ranged(1e3).take(np.arange(11))).findings == ()


def loaded(kind: str, written: str, seed: int = 0, force: float = 1500.0, sag: float = 0.0) -> ec.Campaign:
    """Points of an arm with soft gears by J k J^T W, its zeros half a milliradian off; loads as ``written``."""
    rng = np.random.default_rng(seed)
    q = table()[0]
    joints = ROBOT.controller.to_joints(q)
    at = ROBOT.nominal.kinematics(joints)
    wrench = np.zeros((36, 6))
    wrench[::3, :3], wrench[1::3, :3] = force * rng.normal(size=(2, 12, 3))
    soft = 1e-6 * np.exp(0.5 * rng.normal(size=6))
    weight = np.array([0, 0, -1e3 * sag, 0, 0, 0])
    moved = np.einsum("nij,j,nkj,nk->ni", at.jacobian[:, :3], soft, at.jacobian, wrench + weight)
    in_tool = np.concatenate([np.einsum("nji,nj->ni", at.rotation, wrench[:, :3]), np.zeros((36, 3))], axis=1)
    given = {"right": wrench, "loads reversed": -wrench, "loads in tool axes": in_tool}[written]
    noise = 3e-5 * rng.normal(size=(36, 3))
    if kind == "deflection":
        read = {"deflection": moved + noise, "markers": [ROBOT.tool]}
    else:
        read = {"position": at.position + at.jacobian[:, :3] @ (4e-4 * rng.normal(size=6)) + moved + noise}
    return ec.Campaign(q=q, wrench=given, length="m", angle="rad", **read)


@pytest.mark.parametrize("kind", ["deflection", "position"])
@pytest.mark.parametrize("word", ["loads reversed", "loads in tool axes"])
def test_loads_that_push_the_arm_another_way_are_named(kind: str, word: str) -> None:
    given = loaded(kind, word)
    with refused("slip", value=word, parameter="accept", allowed=(word,)):
        check_slips(ROBOT, given)
    checked = check_slips(ROBOT, given, word)
    assert [f.code for f in checked.findings] == ["accepted"]
    np.testing.assert_allclose(checked.campaign.wrench, loaded(kind, "right").wrench, atol=1e-9)


@pytest.mark.parametrize("kind", ["deflection", "position"])
@pytest.mark.parametrize(("force", "sag"), [(1500.0, 0.0), (20.0, 0.0), (100.0, 1.0), (100.0, -1.0)])
def test_right_loads_pass_however_small_and_beside_any_weight(kind: str, force: float, sag: float) -> None:
    for seed in range(8):
        assert (
            check_slips(ROBOT, loaded(kind, "right", seed, force, 0.0 if kind == "deflection" else sag)).findings == ()
        )


@pytest.mark.parametrize(("angle", "severity"), [(2.1, "error"), (0.8, "error"), (0.4, "warning"), (0.02, "")])
def test_deflections_in_the_axes_of_an_instrument_are_named(angle: float, severity: str) -> None:
    """It stands turned about an axis that is nearly upright; the gears are known to a factor."""
    right = loaded("deflection", "right")
    turn = Rotation.from_rotvec(angle * np.array([0.1, -0.1, 0.99])).as_matrix()
    given = right.changed(deflection=right.deflection @ turn)
    if severity == "error":
        about = pytest.approx(angle, abs=0.1)
        with refused("deflections-turned", about, parameter="accept", allowed=("loads as they are",)):
            check_slips(ROBOT, given)
        assert [f.code for f in check_slips(ROBOT, given, "loads as they are").findings] == ["accepted"]
        return
    found = check_slips(ROBOT, given).findings
    assert [(f.code, f.severity) for f in found] == [("deflections-turned", "warning")] * bool(severity)
    assert [f.data["angle"] for f in found] == [pytest.approx(angle, abs=0.1)] * len(found)


@pytest.mark.parametrize("seed", [4, 8, 9, 13, 14])
def test_gears_do_not_turn_deflections_of_poses_that_are_alike(seed: int) -> None:
    """Within half a radian all go to one side of what gears by size let expect; other gears explain that, no turn."""
    robot, rng = ec.read_robot("iiwa14-on-track"), np.random.default_rng(seed)
    joints = rng.uniform(-1.5, 1.5, 8) + rng.uniform(-0.25, 0.25, (18, 8))
    wrench = np.zeros((18, 6))
    wrench[:, 2] = -9.81 * rng.uniform(4, 14, 18)
    at, size = robot.nominal.kinematics(joints), robot.nominal.with_joint_compliance()
    by_size = np.array([size.parameters.values[size.parameters.index(f"{j}.k")] for j in robot.joints])
    soft = by_size * np.exp(0.6 * rng.normal(size=8))
    moved = np.einsum("nij,j,nkj,nk->ni", at.jacobian[:, :3], soft, at.jacobian, wrench)
    moved += 2e-5 * rng.normal(size=moved.shape)
    q = robot.controller.to_controller(joints)

    def given(deflection: np.ndarray) -> ec.Campaign:
        return ec.Campaign(q=q, deflection=deflection, wrench=wrench, markers=[robot.tool], length="m", angle="rad")

    assert "deflections-turned" not in [f.code for f in check_slips(robot, given(moved)).findings]
    turn = Rotation.from_rotvec([0.1, -0.1, 2.0]).as_matrix()
    with refused("deflections-turned", pytest.approx(2.0, abs=0.5), parameter="accept", allowed=("loads as they are",)):
        check_slips(robot, given(moved @ turn))


def stiff() -> ec.Robot:
    """The FANUC with gears as those of ``loaded`` about, by a data sheet or by its size."""
    gears = tuple(JointCompliance(joint=j, k=1.1e-6) for j in ROBOT.joints)
    return replace(ROBOT, elements=gears)


@pytest.mark.parametrize("kind", ["deflection", "position"])
@pytest.mark.parametrize(
    ("key", "factor", "words"),
    [
        ("wrench", 9.80665, ("loads times 9.80665",)),
        ("wrench", 1e3, ("loads times 1000", "deflections times 0.001")),
        ("wrench", 1e-3, ("loads times 0.001", "deflections times 1000")),
        ("deflection", 1e3, ("deflections times 1000", "loads times 0.001")),
        ("deflection", 25.4, ("deflections times 25.4",)),
    ],
)
def test_loads_and_deflections_in_other_units_are_named(kind: str, key: str, factor: float, words: tuple) -> None:
    right = loaded(kind, "right", force=400.0)
    if kind == "position":
        if key == "deflection":
            return
        words = tuple(w for w in words if w.startswith("loads"))
    given = right.changed(**{key: getattr(right, key) / factor})
    with refused("slip", value=words[0], parameter="accept", allowed=(*words, "loads as they are")):
        check_slips(stiff(), given)
    checked = check_slips(stiff(), given, words[0])
    assert [f.code for f in checked.findings] == ["accepted"]
    np.testing.assert_allclose(getattr(checked.campaign, key), getattr(right, key), rtol=1e-5, atol=1e-12)
    left = check_slips(stiff(), given, "loads as they are")
    assert [f.code for f in left.findings] == ["accepted"]
    assert np.array_equal(getattr(left.campaign, key), getattr(given, key))


@pytest.mark.parametrize(("factor", "codes"), [(1.0, []), (3.0, []), (90.0, []), (10.0, ["load-size"])])
def test_compliances_by_size_are_no_reason_to_refuse_loads(factor: float, codes: list[str]) -> None:
    """An arm may be softer than others of its size by anything: only what looks like a unit is named."""
    right = loaded("deflection", "right")
    gears = tuple(replace(e, status="assumed") for e in stiff().elements)
    found = check_slips(replace(ROBOT, elements=gears), right.changed(wrench=right.wrench / factor)).findings
    assert [f.code for f in found] == codes
    assert [f.severity for f in found] == ["warning"] * len(codes)
    assert [f.data["words"][0] for f in found] == ["loads times 9.80665"] * len(codes)


@pytest.mark.parametrize("factor", [0.4, 1.0, 3.5, 90.0])
def test_compliances_of_a_file_may_be_off_by_what_is_no_unit(factor: float) -> None:
    right = loaded("deflection", "right")
    assert check_slips(stiff(), right.changed(wrench=right.wrench / factor)).findings == ()


@pytest.mark.parametrize(("factor", "word"), [(330.0, "loads times 1000"), (4e-3, "loads times 0.001")])
def test_no_arm_is_a_hundred_times_softer_than_others_of_its_size(factor: float, word: str) -> None:
    """An arm three times as stiff, or four times as soft, as its size lets assume, and loads in kN, or in mN."""
    right = loaded("deflection", "right")
    gears = tuple(replace(e, status="assumed") for e in stiff().elements)
    (found,) = check_slips(replace(ROBOT, elements=gears), right.changed(wrench=right.wrench / factor)).findings
    assert (found.code, found.severity, found.data["words"][0]) == ("load-size", "warning", word)


def test_joints_that_all_come_out_of_another_size_are_named() -> None:
    """By the fit, where too few rows are loaded to compare them with their loads; not where these were accepted."""
    right = loaded("deflection", "right", force=800.0)
    few = right.take(np.flatnonzero(right.wrench.any(axis=1))[:11])
    words, joints = ["compliance"], [f"J{i}.k" for i in range(1, 7)]

    def calibrated(factor: float, accept: tuple[str, ...] = ()) -> ec.Calibration:
        return ec.calibrate(ROBOT.nominal, few.changed(wrench=factor * few.wrench), words, accept=accept)

    cals = [calibrated(f) for f in (1.0, 1e3)]
    told = [[w.data["softer"] for w in cal.warnings if w.code == "load-size"] for cal in cals]
    ratio = [np.median([cal.parameters[j].value / cal.parameters[j].file_value for j in joints]) for cal in cals]
    assert told[0] == []
    assert told[1] == [pytest.approx(ratio[1], rel=0.3)]
    assert ratio[1] == pytest.approx(1e-3 * ratio[0], rel=0.3)
    assert "load-size" not in {w.code for w in calibrated(1e3, ("loads as they are",)).warnings}


@pytest.mark.parametrize("factor", [1.0, 1e3])
def test_a_verdict_begins_with_doubts_about_the_readings(factor: float) -> None:
    """Loads in kN: the arm predicts deflections as well, by compliances that are a thousand times too large."""
    given = loaded("deflection", "right", force=800.0)
    given = given.changed(wrench=given.wrench / factor)
    cal = ec.calibrate(ROBOT.nominal, given, ["compliance"])
    assert cal.verdict.code == "improved"
    assert cal.verdict.severity == ("note" if factor == 1 else "warning")
    assert cal.verdict.data.get("doubts", []) == ["load-size"] * (factor > 1)
    assert cal.verdict.text.startswith("In doubt, since the loads may be in another unit: ") == (factor > 1)
    if factor > 1:
        for word in ("loads times 1000", "loads as they are"):
            again = ec.calibrate(ROBOT.nominal, given, ["compliance"], accept=word)
            assert "doubts" not in again.verdict.data
            assert "load-size" not in {w.code for w in again.warnings}


def test_loads_of_many_rows_are_doubted_once_and_taken_as_they_are() -> None:
    """Beyond 400 poses the model is chosen on some of them, which are looked at as a campaign of their own."""
    rng = np.random.default_rng(5)
    low, high = np.array([m.limits for m in ROBOT.motions]).T
    q = 0.5 * low + 0.5 * (high - low) * rng.random((420, ROBOT.n))
    wrench = np.concatenate([800 * rng.normal(size=(420, 3)), np.zeros((420, 3))], axis=1)
    arms = ROBOT.nominal.kinematics(q).jacobian
    soft = 1e-6 * np.exp(0.5 * rng.normal(size=6))
    moved = np.einsum("nij,j,nkj,nk->ni", arms[:, :3], soft, arms, wrench) + 3e-5 * rng.normal(size=(420, 3))
    read = {"deflection": moved, "wrench": 1e-3 * wrench, "markers": [ROBOT.tool]}
    many = ec.Campaign(q=ROBOT.controller.to_controller(q), length="m", angle="rad", **read)
    codes = [w.code for w in ec.calibrate(ROBOT.nominal, many, ["compliance"]).warnings]
    assert codes.count("load-size") == 1
    with refused("slip", "loads times 1000", parameter="accept"):
        ec.calibrate(stiff(), many, ["compliance"])
    for robot in (ROBOT.nominal, stiff()):
        cal = ec.calibrate(robot, many, ["compliance"], accept="loads as they are")
        assert [w.code for w in cal.warnings if w.code in ("load-size", "accepted")] == ["accepted"]


def test_what_backlash_may_have_moved_is_warned_of_only() -> None:
    small = loaded("deflection", "right", force=60.0)
    (found,) = check_slips(stiff(), small.changed(wrench=small.wrench / 9.80665)).findings
    assert (found.code, found.severity) == ("load-size", "warning")


def test_deflections_without_loads_that_bend_are_refused() -> None:
    right = loaded("deflection", "right")
    for wrench in (None, 0 * right.wrench):
        with refused("no-load", parameter="wrench"):
            ec.calibrate(stiff(), right.changed(wrench=wrench))
    for same in (0 * right.deflection, right.deflection[:1] + 0 * right.deflection):
        with refused("range", 0, parameter="deflection"):
            ec.calibrate(stiff(), right.changed(deflection=same))
    beside = loaded("position", "right").changed(deflection=0 * right.deflection)
    with refused("range", 0, parameter="deflection"):
        ec.calibrate(stiff(), beside)


def test_a_negative_distance_is_named_by_its_row() -> None:
    with refused("range", 2, parameter="distance"):
        ec.Campaign(q=table()[0][:4], distance=[0.5, 0.6, -0.1, np.nan], length="m", angle="rad")

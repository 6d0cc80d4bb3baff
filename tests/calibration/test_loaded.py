"""Loaded campaigns: compliances by logarithmic priors, and what a calibration without load says of one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import elastocal as ec
from elastocal.calibration.figures import NOT_OF_FILE, forests
from elastocal.calibration.tables import parameters_table
from elastocal.calibration.words import automatic, with_words
from elastocal.measure.sources.instrument import Reading
from elastocal.measure.sources.load import LoadSize
from elastocal.model.compliant.joint_offset import JointOffset
from elastocal.model.compliant.link_compliance import LinkCompliance, as_matrix6
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import deflection

MARKERS = ["marker1", "marker2", "marker3"]


def moved(robot: ec.Robot, q: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """Deflections (N, markers, 3) by the engine's own finite deflection, marker by marker."""
    load = [AppliedWrenches("tool", wrench)]
    return np.stack([deflection(robot, q, load, m).translation for m in MARKERS], axis=1)


def softened(robot: ec.Robot, rng: np.random.Generator, links: float) -> ec.Robot:
    values = {}
    for p in robot.parameters:
        if p.kind == "joint_compliance":
            values[p.name] = p.value * np.exp(0.3 * rng.normal())
        elif p.kind == "link_compliance":
            values[p.name] = p.value * links
    return robot.with_parameters(values)


@pytest.mark.parametrize(("poses", "links", "most"), [(18, 1.0, 25e-6), (8, 3.0, 60e-6)])
def test_deflections_are_predicted_far_below_their_size(poses: int, links: float, most: float) -> None:
    rng = np.random.default_rng(poses)
    robot = ec.read_robot("kuka-kr270")
    truth = softened(robot, rng, links)
    low, high = 0.7 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((poses + 40, robot.n))
    wrench = np.zeros((len(q), 6))
    wrench[::2, 0], wrench[1::2, 2] = 3500.0, -2500.0
    wrench[poses:, :3] = 1500 * rng.normal(size=(40, 3)) / np.sqrt(3)
    true = moved(truth, q, wrench)
    seen = true[:poses] + 2e-5 * rng.normal(size=(poses, 3, 3))
    shown = robot.controller.to_controller(q)
    cal = ec.calibrate(
        robot,
        ec.Campaign(q=shown[:poses], deflection=seen, wrench=wrench[:poses], length="m", angle="rad", markers=MARKERS),
    )
    found = cal.predict(shown[poses:], wrench[poses:])
    off = np.linalg.norm(found.deflection - true[poses:], axis=2)
    assert np.linalg.norm(true[poses:], axis=2).mean() > 1e-3
    assert np.mean(off) < most
    assert cal.words[0] == "compliance"
    assert [w.severity for w in cal.warnings if w.code == "geometry-of-file"] == ["note"]
    inside = np.abs(found.deflection - true[poses:]) <= found.deflection_half_width
    assert inside.mean() > 0.85
    estimate, real = cal.parameters["A2.k"], truth.parameters.values[truth.parameters.index("A2.k")]
    assert abs(estimate.value - real) < 5 * estimate.sd
    assert estimate.sd < 0.2 * real


def test_places_of_markers_are_found_by_deflections_alone(tmp_path: Path) -> None:
    """By names that the robot file does not have; one that it has stays where it is there."""
    rng = np.random.default_rng(3)
    robot = ec.read_robot("kuka-kr270")
    truth = softened(robot, rng, 1.0)
    low, high = 0.6 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((50, robot.n))
    wrench = np.zeros((50, 6))
    wrench[:, :3] = 2000 * rng.normal(size=(50, 3))
    true = moved(truth, q, wrench)
    shown = robot.controller.to_controller(q)
    given = {"q": shown[:20], "wrench": wrench[:20], "length": "m", "angle": "rad", "markers": ["a", "marker2", "c"]}
    seen = true[:20] + 2e-5 * rng.normal(size=(20, 3, 3))
    cal = ec.calibrate(robot, ec.Campaign(deflection=seen, **given), ["compliance"])
    tool = robot.kinematics(np.zeros((1, robot.n)))
    spots = [robot.kinematics(np.zeros((1, robot.n)), frame=m).position[0] - tool.position[0] for m in MARKERS]
    real = np.array(spots) @ tool.rotation[0]
    assert np.linalg.norm(real[[0, 2]], axis=1).min() > 0.07
    sd = np.sqrt(np.diag(cal.covariance))[-12:-3].reshape(3, 3)
    assert sd[[0, 2]].max() < 0.02
    assert np.abs(cal.placing.markers - real)[[0, 2]].max() < 4 * sd[[0, 2]].max()
    assert cal.placing.markers[1] == pytest.approx(real[1])
    found = ec.read_calibration(cal.save(tmp_path / "c.json")).predict(shown[20:], wrench[20:])
    off = found.deflection - true[20:]
    assert np.linalg.norm(off, axis=2).mean() < 5e-5
    assert np.mean(np.abs(off) < found.deflection_half_width) > 0.85
    (said,) = [w for w in cal.warnings if w.code == "deflection-point"]
    assert said.data == {"markers": ["a", "c"], "frame": robot.tool}


def test_joints_that_tilt_under_load_are_found_where_the_file_has_no_links() -> None:
    """Bearings a third as soft as their gears: by the gears alone predictions are off by a tenth of the deflection."""
    rng = np.random.default_rng(2)
    robot = ec.read_robot("kuka-kr5").nominal.with_joint_compliance()
    gears = {p.name: p.value for p in robot.parameters if p.kind == "joint_compliance"}
    tilts = [np.diag([0, 0, 0, *(0.3 * gears[f"{j}.k"] * rng.uniform(0.5, 1.5, 3))]) for j in robot.joints]
    truth = robot.with_elements(
        *(LinkCompliance(frame=j, matrix=as_matrix6(k)) for j, k in zip(robot.joints, tilts, strict=True))
    )
    q = np.radians(rng.uniform([-120, -120, 20, -150, -100, -150], [120, -40, 120, 150, 100, 150], (55, 6)))
    wrench = np.zeros((55, 6))
    wrench[:, :3] = 200 * rng.normal(size=(55, 3))
    true = deflection(truth, q, [AppliedWrenches(robot.tool, wrench)], robot.tool).translation
    seen = true[:25] + 1e-5 * rng.normal(size=(25, 3))
    shown = robot.controller.to_controller(q)
    known = {"length": "m", "angle": "rad", "markers": [robot.tool]}
    cal = ec.calibrate(robot, ec.Campaign(q=shown[:25], deflection=seen, wrench=wrench[:25], **known))
    assert "bearings" in cal.words
    found = cal.predict(shown[25:], wrench[25:])
    off = found.deflection[:, 0] - true[25:]
    size = np.linalg.norm(true[25:], axis=1).mean()
    assert np.linalg.norm(off, axis=1).mean() < 0.03 * size
    assert np.mean(np.abs(off) < found.deflection_half_width[:, 0]) > 0.8
    names = [n for n in cal.names if n.startswith("A1.k")]
    assert names == ["A1.k", *(f"A1.k{i}{i}" for i in (4, 5, 6) if not robot.tree.joint("A1").unit_axis[i - 4])]


def test_bearings_are_left_to_a_file_that_has_links() -> None:
    stated = ec.read_robot("kuka-kr270")
    alone = stated.without("link_compliance")
    assert "bearings" in automatic(alone, loaded=True, placed=False, warms=False)
    assert "bearings" not in automatic(alone, loaded=False, placed=True, warms=False)
    assert "bearings" not in automatic(stated, loaded=True, placed=False, warms=False)
    assert not with_words(stated, ("bearings",))[1]


def test_a_load_that_was_not_measured_has_the_interval_of_the_prior() -> None:
    rng = np.random.default_rng(5)
    robot = ec.read_robot("fanuc-m710ic50").nominal
    low, high = 0.6 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((25, robot.n))
    at = robot.kinematics(q)
    seen = at.position + 5e-5 * rng.normal(size=(25, 3))
    shown = robot.controller.to_controller(q)
    cal = ec.calibrate(robot, ec.Campaign(q=shown, position=seen, length="m", angle="rad"), model="geometry")
    found = cal.predict(shown[:5], [0, 0, -500, 0, 0, 0])
    assert [w.code for w in found.warnings] == ["prior-compliance"]
    assert "geometry-of-file" not in [w.code for w in cal.warnings]  # positions were read
    size = np.linalg.norm(found.deflection[:, 0], axis=1)
    assert np.all(size > 1e-4)
    assert np.all(np.linalg.norm(found.deflection_half_width[:, 0], axis=1) > 0.3 * size)
    assert not cal.predict(shown[:5]).warnings


def _as_its_file(poses: int) -> tuple[ec.Robot, np.ndarray, np.ndarray, ec.Campaign]:
    """Points of a robot that is as its file says, every other pose under a load; and joint values, loads as read."""
    rng = np.random.default_rng(0)
    robot = ec.read_robot("kuka-kr270")
    low, high = 0.5 * np.array([m.limits for m in robot.motions]).T
    q = robot.controller.to_controller(low + (high - low) * rng.random((poses, robot.n)))
    wrench = np.zeros((poses, 6))
    wrench[1::2, :3] = 1500 * rng.normal(size=(poses // 2, 3))
    points = {"a": [0.1, 0, 0.2], "b": [-0.1, 0.1, 0.2], "c": [0, 0.2, 0]}
    exact = ec.simulate(robot, q, wrench=wrench, markers=points, noise=None)
    return robot, q, wrench, exact.changed(position=exact.position + 3e-5 * rng.normal(size=exact.position.shape))


def test_a_loaded_campaign_that_keeps_the_nominal_robot_knows_its_compliances(tmp_path: Path) -> None:
    """The deflections of the file are within intervals of their own noise, not of a prior; also of the file of it."""
    robot, q, wrench, data = _as_its_file(40)
    cal = ec.calibrate(robot, data.take(np.arange(30)), ["compliance"])
    assert (cal.words, cal.verdict.code) == ((), "nothing-to-gain")
    new = np.arange(31, 40, 2)
    found = cal.predict(q[new], wrench[new])
    assert [(w.code, w.severity) for w in found.warnings] == [("unchanged-compliance", "note")]
    off = np.linalg.norm(found.position - data.position[new], axis=2)
    assert np.linalg.norm(found.deflection, axis=2).mean() > 2e-3
    assert np.mean(off) < 1e-4
    widths = np.linalg.norm(found.deflection_half_width, axis=2)
    assert np.all(widths < 2e-4)  # the prior has 2.5 mm
    assert np.mean(widths) > 1e-5  # 3e-5 of 90 points under load, in some 30 compliances
    fit = min((r for r in cal.ladder.rungs if r.words), key=lambda r: r.loo).fit
    for name, variance in zip(cal.compliances.names, np.diag(cal.compliances.covariance), strict=True):
        own, at = np.diag(fit.covariance)[fit.task.names.index(name)], robot.parameters.index(name)
        away = fit.robot.parameters.values[at] - robot.parameters.values[at]
        assert variance == pytest.approx(own + away**2)  # about the value that was not moved
    again = ec.read_calibration(cal.save(tmp_path / "c.json")).predict(q[new], wrench[new])
    np.testing.assert_allclose(again.half_width, found.half_width, rtol=1e-6)
    assert [w.code for w in again.warnings] == ["unchanged-compliance"]


def test_compliances_that_a_loaded_campaign_was_not_asked_for_are_of_their_prior() -> None:
    robot, q, wrench, data = _as_its_file(16)
    cal = ec.calibrate(robot, data, ["geometry"], outliers=False)
    found = cal.predict(q[1:4:2], wrench[1:4:2])
    assert [w.code for w in found.warnings] == ["compliance-not-estimated"]
    size = np.linalg.norm(found.deflection, axis=2)
    assert np.all(np.linalg.norm(found.deflection_half_width, axis=2) > 0.3 * size)


def test_a_program_under_load_by_a_calibration_that_saw_none(tmp_path: Path) -> None:
    """Warned of, corrected by compliances of their prior, and less certain for it; without a load nothing changes."""
    robot = ec.read_robot("kuka-kr5").nominal
    truth = robot.with_elements(JointOffset(joint="A2", offset=1e-3), JointOffset(joint="A3", offset=-2e-3))
    rng = np.random.default_rng(1)
    q = np.radians(rng.uniform([-120, -120, 20, -150, -100, -150], [120, -40, 120, 150, 100, 150], (25, 6)))
    read = ec.simulate(truth, q, noise=3e-5, markers={"ball": [0.1, 0.0, 0.05]})
    cal = ec.calibrate(robot, read, model="geometry", outliers=False)
    (tmp_path / "slot.src").write_text(
        "DEF slot( )\n$BASE={X 800,Y -80,Z 600,A 0,B 0,C 0}\n$TOOL={X 0,Y 0,Z 100,A 0,B 0,C 0}\n"
        "PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}\nLIN {X 0,Y 0,Z 50,A 0,B 0,C 180}\n"
        "LIN {X 99,Y 0,Z 0,A 0,B 20,C 180}\nEND\n"
    )
    program = ec.read_program(tmp_path / "slot.src")
    free, pushed = ec.compensate(cal, program), ec.compensate(cal, program, wrench=[0, 0, -45, 0, 0, 0])
    assert [w.code for w in free.warnings if w.severity == "warning"] == []
    assert [w.code for w in pushed.warnings if w.severity == "warning"] == ["prior-compliance"]
    assert "prior-compliance" in [f.code for f in pushed.verdict]
    assert np.nanmax(pushed.predicted) > 1.5 * np.nanmax(free.predicted)
    carried = ec.compensate(cal, program, load=ec.ProcessLoad(payload=5.0))
    assert [w.code for w in carried.warnings if w.severity == "warning"] == ["prior-compliance"]
    weight = ec.compensate(cal, program, load=ec.ProcessLoad(wrench=[0, 0, -5 * 9.81, 0, 0, 0], frame="flange"))
    np.testing.assert_allclose(carried.shift[1:], weight.shift[1:], atol=2e-6)
    assert np.nanmax(carried.predicted) > 1.5 * np.nanmax(free.predicted)
    empty = ec.compensate(cal, program, load=ec.ProcessLoad(payload=0))
    np.testing.assert_array_equal(empty.shift, free.shift)
    assert [w.code for w in empty.warnings if w.severity == "warning"] == []


def test_poses_without_an_equilibrium_are_named() -> None:
    """Of a load that bends the arm by more than a radian; the others keep their positions."""
    robot, data = _pushed()
    cal = ec.calibrate(robot, data, ["compliance"], outliers=False)
    wrench = np.zeros((4, 6))
    wrench[:, 2], wrench[1:3, 2] = -15.0, -9e5
    soft = {p.name: 60 * p.value for p in cal.robot.parameters if p.kind.endswith("compliance")}
    cal = replace(cal, robot=cal.robot.with_parameters(soft))
    found = cal.predict(data.q[:4], wrench)
    (said,) = [w for w in found.warnings if w.severity == "warning"]
    assert (said.code, said.data) == ("undetermined", {"poses": [1, 2]})
    assert np.isnan(found.position).any(axis=(1, 2)).tolist() == [False, True, True, False]
    assert {w.severity for w in cal.predict(data.q[:1], wrench[:1]).warnings} <= {"note"}


def _pushed(poses: int = 16) -> tuple[ec.Robot, ec.Campaign]:
    """Deflections of a robot that is as its file says."""
    rng = np.random.default_rng(4)
    robot = ec.read_robot("kuka-kr270")
    low, high = 0.7 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((poses, robot.n))
    wrench = np.zeros((poses, 6))
    wrench[:, :3] = 1500 * rng.normal(size=(poses, 3))
    seen = moved(robot, q, wrench) + 2e-5 * rng.normal(size=(poses, 3, 3))
    shown = robot.controller.to_controller(q)
    return robot, ec.Campaign(q=shown, deflection=seen, wrench=wrench, length="m", angle="rad", markers=MARKERS)


@pytest.mark.parametrize("words", [["geometry"], ["harmonics", "backlash"]])
def test_a_rigid_model_of_deflections_is_refused(words: list[str]) -> None:
    with pytest.raises(ec.InputError) as refused:
        ec.calibrate(*_pushed(), words)
    assert refused.value.code == "conflict"
    assert words[0] in refused.value.value


def test_backlash_alone_of_a_robot_that_has_none_is_nothing_to_gain() -> None:
    found = ec.calibrate(*_pushed(), ["backlash"])
    assert (found.words, found.names, found.verdict.code) == ((), (), "nothing-to-gain")


def test_errors_of_the_load_are_as_large_where_every_reading_is_kept() -> None:
    """The arm is four times softer than its file, which errors of the load must not be made up for by."""
    rng = np.random.default_rng(8)
    robot, count = ec.read_robot("kuka-kr270"), 30
    low, high = 0.7 * np.array([m.limits for m in robot.motions]).T
    q, stated = low + (high - low) * rng.random((count, robot.n)), np.zeros((count, 6))
    stated[:, :3] = 2000 * rng.normal(size=(count, 3))
    acting = (1 + 0.03 * rng.normal(size=(count, 1))) * stated
    soft = robot.with_parameters({p.name: 4 * p.value for p in robot.parameters.rows if "compliance" in p.kind})
    seen = moved(soft, q, acting) + 1e-5 * rng.normal(size=(count, 3, 3))
    data = ec.Campaign(
        q=robot.controller.to_controller(q), deflection=seen, wrench=stated, length="m", angle="rad", markers=MARKERS,
        noise=[Reading(sd=1e-5), LoadSize(sd=0.03)],
    )  # fmt: skip
    found = ec.calibrate(robot, data, "compliance", outliers=False)
    assert found.noise["load size"] == pytest.approx(0.03, rel=0.5)


def test_compliances_that_the_file_lacks_are_called_assumed() -> None:
    robot, data = _pushed()
    bare = robot.without("joint_compliance", "link_compliance", "foundation_compliance")
    cal = ec.calibrate(bare, data)
    (said,) = [w for w in cal.warnings if w.code == "assumed-compliance"]
    assert said.data["parameters"] == [f"{joint}.k" for joint in robot.joints]
    table = parameters_table(cal)
    status = [c.key for c in table.columns].index("status")
    known = {row[0]: row[status] for row in table.rows}
    assert {known[n] for n in said.data["parameters"]} == {"assumed by size"}
    stated = parameters_table(ec.calibrate(robot, data))
    assert {row[status] for row in stated.rows} <= {"measured", "published", "assumed"}
    assert all(NOT_OF_FILE in f.notes for f in forests(cal) if any(i.name == "A2.k" for i in f.rows))


SCARA = """<robot name="soft-scara">
<link name="base"/><link name="upper"/><link name="fore"/><link name="quill"/><link name="tool0"/>
<joint name="a" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.4"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="b" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="0.4 0 0"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="z" type="prismatic"><parent link="fore"/><child link="quill"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/>
<limit lower="-0.2" upper="0" effort="1" velocity="1"/></joint>
<joint name="c" type="revolute"><parent link="quill"/><child link="tool0"/><origin xyz="0 0 -0.1"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.parametrize("kind", ["deflection", "position"])
def test_a_guess_that_is_a_hundred_times_too_stiff_is_left(tmp_path: Path, kind: str) -> None:
    """Deflections of J k J^T W by the formula itself; the guess by the size of the robot is far off."""
    file = tmp_path / "scara.urdf"
    file.write_text(SCARA)
    robot = ec.read_robot(file).with_joint_compliance(rated_payload=2000)  # it carries two
    soft = np.array([200.0, 300.0, 90.0, 80.0]) * [p.value for p in robot.parameters]
    rng = np.random.default_rng(0)
    q = rng.uniform([-1.5, -1.8, -0.2, -2.5], [1.5, 1.8, 0.0, 2.5], size=(40, 4))
    wrench = np.zeros((40, 6))
    wrench[:, :3] = 30 * rng.normal(size=(40, 3))
    at = robot.kinematics(q)
    moved = np.einsum("nij,j,nkj,nk->ni", at.jacobian[:, :3], soft, at.jacobian, wrench)
    assert 2.5e-4 < np.linalg.norm(moved, axis=1).mean() < 6e-4
    noise = 1e-5 * rng.normal(size=(40, 3))
    read = {"deflection": moved + noise} if kind == "deflection" else {"position": at.position + moved + noise}
    cal = ec.calibrate(robot, ec.Campaign(q=q, wrench=wrench, length="m", angle="rad", markers=["tool0"], **read))
    assert cal.verdict.code == "improved"
    assert cal.leave_one_out.mean < 3e-5
    for name, true in zip(("a.k", "b.k"), soft, strict=False):
        estimate = cal.parameters[name]
        assert estimate.sd < 0.1 * true
        assert abs(estimate.value - true) < 4 * estimate.sd


@pytest.mark.parametrize("loaded", [True, False])
def test_places_of_the_unloaded_arm_beside_deflections_are_named(loaded: bool) -> None:
    rng = np.random.default_rng(4)
    robot = ec.read_robot("kuka-kr270")
    truth = softened(robot, rng, 1.0)
    low, high = 0.7 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((30, robot.n))
    wrench = np.zeros((len(q), 6))
    wrench[::2, 0], wrench[1::2, 2] = 3500.0, -2500.0
    true = moved(truth, q, wrench)
    off = q + np.array([0, 4e-4, -3e-4, 0, 0, 0])
    places = np.stack([robot.nominal.kinematics(off, m).position for m in MARKERS], axis=1) + 1.5
    places = places + true if loaded else places
    shown = robot.controller.to_controller(q)
    data = ec.Campaign(q=shown, position=places, deflection=true, wrench=wrench, length="m", angle="rad")
    cal = ec.calibrate(robot, data, "geometry")
    said = [w.data for w in cal.warnings if w.code == "positions-unloaded"]
    assert bool(said) is not loaded
    assert loaded or said[0]["as_loaded"] > 2 * said[0]["as_unloaded"]


def test_a_marker_that_sits_at_the_tool_costs_little() -> None:
    """Readings say how near to its origin it is: an error 1.36 times that of one named so, 1.77 where they do not."""
    robot = ec.read_robot("abb-irb4600-60")
    gears = robot.parameters.values[[robot.parameters.index(f"{j}.k") for j in robot.joints]]
    errors: dict[str, list[float]] = {"a": [], robot.tool: []}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        soft = gears * np.exp(0.35 * rng.normal(size=robot.n))
        truth = robot.with_parameters({f"{j}.k": k for j, k in zip(robot.joints, soft.tolist(), strict=True)})
        q, wrench = rng.uniform(-1, 1, (50, robot.n)), np.zeros((50, 6))
        wrench[:, 2] = -9.81 * rng.uniform(20, 60, 50)
        read = ec.simulate(truth, q[:16], read="deflection", wrench=wrench[:16], rng=seed)
        true = truth.deflection(robot.controller.to_joints(q[16:]), wrench[16:]).translation
        for name, off in errors.items():
            found = ec.calibrate(robot, read.changed(markers=(name,))).predict(q[16:], wrench[16:]).deflection[:, 0]
            off.append(float(np.linalg.norm(found - true, axis=1).mean()))
    assert np.mean(errors["a"]) < 1.5 * np.mean(errors[robot.tool])


def test_one_marker_without_a_name_is_the_tool() -> None:
    robot = ec.read_robot("abb-irb4600-60")
    q, wrench = np.random.default_rng(0).uniform(-1, 1, (14, robot.n)), np.tile([0, 0, -400.0, 0, 0, 0], (14, 1))
    read = ec.simulate(robot, q, read="deflection", wrench=wrench)
    unnamed = ec.Campaign(q=q, deflection=read.deflection[:, 0], wrench=wrench, length="m", angle="rad")
    assert not ec.calibrate(robot, unnamed).placing.markers.any()
    assert ec.calibrate(robot, read.changed(markers=("SMR",))).placing.markers.any()

"""Simulated readings from arrays, plans and other campaigns; what they tell."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import elastocal as ec
from elastocal.calibration.noise import Instrument
from elastocal.model.statics.deflection import deflection, frame_pose
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.spatial.pose import Pose


@pytest.fixture(scope="module")
def robot() -> ec.Robot:
    return ec.read_robot("kuka-kr270")


@pytest.fixture(scope="module")
def q() -> np.ndarray:
    return np.random.default_rng(3).uniform(-0.6, 0.6, (25, 6)) + np.array([0, -1.2, 1.4, 0, 0.6, 0])


def test_readings_without_noise_are_where_the_loaded_arm_is(robot: ec.Robot, q: np.ndarray) -> None:
    base = Pose(Rotation.from_euler("xyz", [0.2, -0.1, 1.0]).as_matrix(), np.array([4.0, 1.0, -0.5]))
    place = np.array([0.1, -0.05, 0.02])
    data = ec.simulate(robot, q, noise=None, markers={"ball": place}, stations=base)
    joints = data.joint_values(robot)
    at, turn = frame_pose(robot, joints, equilibrium(robot, joints), robot.tool)
    want = (at.T + np.einsum("ijn,j->ni", turn, place)) @ base.rotation.T + base.translation
    np.testing.assert_allclose(data.position[:, 0], want, atol=1e-8)
    np.testing.assert_allclose(data.q, q, atol=1e-12)
    assert data.markers == ("ball",)


def test_deflections_are_those_of_the_statics(robot: ec.Robot, q: np.ndarray) -> None:
    wrench = np.tile([0.0, 100, -400, 0, 0, 0], (len(q), 1))
    data = ec.simulate(robot, q, noise=None, read="deflection", wrench=wrench)
    joints = data.joint_values(robot)
    want = deflection(robot, joints, wrench).translation
    np.testing.assert_allclose(data.deflection[:, 0], want, atol=2e-9)
    np.testing.assert_allclose(want, robot.deflection(joints, [0, 100, -400, 0, 0, 0]).translation, atol=1e-15)
    assert data.loaded
    with pytest.raises(ec.InputError):
        ec.simulate(robot, q, read="deflection")


def test_noise_repeats_and_seeds(robot: ec.Robot, q: np.ndarray) -> None:
    exact = ec.simulate(robot, q, noise=None, repeats=20)
    one, same, other = (ec.simulate(robot, q, noise=5e-5, repeats=20, rng=r) for r in (1, 1, np.random.default_rng(2)))
    np.testing.assert_array_equal(one.position, same.position)
    assert not np.array_equal(one.position, other.position)
    assert np.std(one.position - exact.position) == pytest.approx(5e-5, rel=0.1)
    assert (one.count, one.noise) == (500, 5e-5)
    far = Pose(np.eye(3), np.array([5.0, 0, 1]))
    beam = ec.simulate(robot, q, noise=[ec.Tracker(), ec.sources.Encoder(sd=1e-5)], stations=far)
    assert 5e-6 < np.std(beam.position - ec.simulate(robot, q, noise=None).position - [5, 0, 1]) < 1e-4
    off = ec.simulate(robot, q, noise=None, outliers=3, outlier_size=1e-3)
    assert (np.abs(off.position - ec.simulate(robot, q, noise=None).position) > 5e-4).sum() == 3


def test_another_campaign_gives_poses_loads_units_and_stations(robot: ec.Robot, q: np.ndarray) -> None:
    asked = ec.Campaign(
        q=np.degrees(q), position=np.ones((25, 3)), length="mm", angle="deg", station=["a"] * 12 + ["b"] * 13,
        markers=("marker1",), wrench=np.tile([0, 0, -300, 0, 0, 0], (25, 1)),
    )  # fmt: skip
    places = {"a": Pose(), "b": Pose(np.eye(3), np.array([1.0, 2.0, 3.0]))}
    data = ec.simulate(robot, asked, noise=None, stations=places)
    assert (data.length, data.angle, data.stations, data.markers) == ("mm", "deg", ("a", "b"), ("marker1",))
    np.testing.assert_allclose(data.q, asked.q, atol=1e-9)
    np.testing.assert_array_equal(data.wrench, asked.wrench)
    apart = data.position - ec.simulate(robot, asked, noise=None).position
    np.testing.assert_allclose(apart[12:, 0], np.tile([1, 2, 3], (13, 1)), atol=1e-9)
    with pytest.raises(ec.InputError):
        ec.simulate(robot, asked, noise=None, stations={"a": Pose()})


def test_a_number_is_the_noise_of_one_reading_wherever_it_is_given() -> None:
    """A plan, what it promises, drawn readings and a campaign of them: a deflection has sqrt(2) of it in all four."""
    robot = ec.read_robot("cylindrical")
    push = [ec.loads.Actuator(name="z", sizes=(900.0,), directions=((0.0, 0, -1),))]
    poses = ec.plan(robot, loads=push, poses=8, restarts=1, noise=3e-5, seek=["q1.k"])
    by_hand = 3e-5 * np.sqrt(2) / (900 * np.sqrt(8))  # along z a force moves the tool by q1.k times itself
    exact = ec.simulate(robot, poses, noise=None)
    drawn = ec.simulate(robot, poses, noise=3e-5)
    for given in (poses, exact, drawn):
        told = ec.assess(robot, given, ["q1.k"], noise=3e-5)
        assert told.expected.expectations[0].sd == pytest.approx(by_hand, rel=1e-6)
    for given in (poses, drawn):
        assert ec.assess(robot, given, ["q1.k"]).expected.expectations[0].sd == pytest.approx(by_hand, rel=1e-6)
    off = [ec.simulate(robot, poses, noise=3e-5, rng=i).deflection - exact.deflection for i in range(100)]
    assert np.std(off) == pytest.approx(np.sqrt(2) * 3e-5, rel=4 / np.sqrt(2 * np.size(off)))
    stated = Instrument.of(drawn.noise, readings=2)
    assert stated.sd == pytest.approx(np.sqrt(2) * 3e-5)
    (moved,) = ec.compare(drawn, ec.simulate(robot, poses, noise=3e-5, rng=2))
    assert moved.sd == pytest.approx(2 * 3e-5)  # of the difference of two deflections


def test_a_plan_is_simulated_assessed_and_calibrated_without_a_file() -> None:
    robot = ec.read_robot("cylindrical")
    ways = (("z", (0.0, 0, -1)), ("y", (0.0, 1, 0)), ("x", (1.0, 0, 0)))
    push = [ec.loads.Actuator(name=n, sizes=(900.0,), directions=(d,)) for n, d in ways]
    poses = ec.plan(robot, loads=push, poses=18, restarts=1, seed=2)
    value = robot.parameters.values[robot.parameters.index("q1.k")]
    truth = robot.with_parameters({"q1.k": 1.3 * float(value)})
    data = ec.simulate(truth, poses, noise=1e-5, rng=4)
    assert (data.count, data.deflection is not None) == (18, True)
    told = ec.assess(robot, data, ["q1.k"])
    (sd,) = [e.sd for e in told.expected.expectations if e.name == "q1.k"]
    cal = ec.calibrate(robot, data)
    assert "lack-of-fit" not in [w.code for w in cal.warnings]
    found = cal.parameters["q1.k"]
    assert abs(found.value - 1.3 * value) < 4 * max(found.sd, sd)
    assert abs(found.value - value) > 3 * found.sd
    for result in (robot, poses, data, told, cal, cal.parameters, cal.predict(data.q, data.wrench)):
        assert len(repr(result)) < 2000
    for result in (poses, told, cal.parameters, cal.predict(data.q, data.wrench)):
        assert len(result.to_frame()) > 0
    for result in (poses, told, cal):
        assert result._repr_html_().startswith("<pre>")
    assert len(poses.to_frame()) == 18

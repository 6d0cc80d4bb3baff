"""Simulated readings from arrays, plans and other campaigns; what they tell."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
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
    np.testing.assert_allclose(data.position[:, 0], want, rtol=0, atol=1e-14)
    np.testing.assert_allclose(data.q, q, atol=1e-12)
    assert data.markers == ("ball",)


def test_deflections_are_those_of_the_statics(robot: ec.Robot, q: np.ndarray) -> None:
    wrench = np.tile([0.0, 100, -400, 0, 0, 0], (len(q), 1))
    data = ec.simulate(robot, q, noise=None, read="deflection", wrench=wrench)
    joints = data.joint_values(robot)
    want = deflection(robot, joints, wrench).translation
    np.testing.assert_allclose(data.deflection[:, 0], want, rtol=0, atol=1e-16)
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


def test_a_tracker_reads_every_station_from_its_origin(robot: ec.Robot, q: np.ndarray) -> None:
    """Squares of the errors along and across the beam by its length, as the campaign states them to a calibration."""
    names = ["far"] * 12 + ["near"] * 13
    asked = ec.Campaign(q=q, position=np.ones((25, 3)), length="m", angle="rad", station=names)
    turn = Rotation.from_euler("xyz", [0.2, -0.1, 1.0]).as_matrix()
    places = {"near": Pose(np.eye(3), np.array([3.0, 0, 0])), "far": Pose(turn, np.array([4.0, 20.0, 1.0]))}
    exact = ec.simulate(robot, asked, noise=None, stations=places, repeats=40).position[:, 0]
    drawn = ec.simulate(robot, asked, noise=ec.Tracker(), stations=places, repeats=40)
    assert drawn.noise == (ec.Tracker(),)
    off, reach = drawn.position[:, 0] - exact, np.linalg.norm(exact, axis=1)
    along = np.einsum("ni,ni->n", off, exact) / reach
    across = np.sqrt((off**2).sum(axis=1) - along**2)
    for mine in (np.repeat(np.array(names) == s, 40) for s in places):
        bound = 4 / np.sqrt(2 * mine.sum())
        assert np.std(along[mine] / (5e-6 + 0.15e-6 * reach[mine])) == pytest.approx(1, rel=bound)
        spread = across[mine] / (7.5e-6 + 3e-6 * reach[mine])
        assert np.sqrt(np.mean(spread**2) / 2) == pytest.approx(1, rel=bound)


def test_a_place_of_a_tracker_is_stated_in_the_axes_of_the_readings(robot: ec.Robot, q: np.ndarray) -> None:
    place = Pose(Rotation.from_euler("z", 90, degrees=True).as_matrix(), np.array([10.0, 0, 0]))
    (stated,) = ec.simulate(robot, q, noise=ec.Tracker(at=(3.0, 0, 1)), stations=place).noise
    assert stated.at == pytest.approx((10, 3, 1))
    (bent,) = ec.simulate(
        robot, q, noise=ec.Tracker(), stations=place, read="deflection", wrench=[0, 0, -400.0, 0, 0, 0]
    ).noise
    assert bent.at == pytest.approx((0, 10, 0))  # deflections are in base axes


def test_loads_beside_a_plan_or_a_campaign_are_refused(robot: ec.Robot, q: np.ndarray) -> None:
    asked = ec.simulate(robot, q, noise=None)
    with refused("conflict", parameter="wrench"):
        ec.simulate(robot, asked, wrench=[0, 0, -2000.0, 0, 0, 0])
    small = ec.read_robot("cylindrical")
    push = [ec.loads.Actuator(name="z", sizes=(900.0,), directions=((0.0, 0, -1),))]
    poses = ec.plan(small, loads=push, poses=8, restarts=1, noise=3e-5, seek=["q1.k"])
    with refused("conflict", parameter="wrench"):
        ec.simulate(small, poses, wrench=[0, 0, -900.0, 0, 0, 0])
    with refused("conflict", small.tool, parameter="load_frame"):
        ec.simulate(small, poses, load_frame=small.tool)


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

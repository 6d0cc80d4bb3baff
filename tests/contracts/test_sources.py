"""What every source of error must satisfy: its columns are what a real change of the cell does to the readings.

Each example makes that change itself, on the robot, the load or what is read, by an amount u of every unknown; a new
source without an example here fails.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import inf

import numpy as np
import pytest
from oracle.campaigns import arm, arm_poses, loads, moved_frame
from oracle.mechanics import poses
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

from elastocal.errors import InputError
from elastocal.measure.kind import Measurement
from elastocal.measure.markers import Deflection, Position
from elastocal.measure.measured import Measured
from elastocal.measure.setup import Setup
from elastocal.measure.sources.arm import Drift, Encoder, LoadingOrder, Repeatability
from elastocal.measure.sources.friction import Friction
from elastocal.measure.sources.instrument import Reading, Tracker
from elastocal.measure.sources.load import LoadDirection, LoadPoint, LoadSize
from elastocal.measure.sources.places import MarkerPlaces, Registration
from elastocal.measure.sources.source import source_kinds
from elastocal.model.compliant.link_compliance import LinkCompliance, as_matrix6
from elastocal.model.loads.wrench import AppliedWrenches, Wrench
from elastocal.model.statics.observation import Marker

COUNT = 3
Q = arm_poses(COUNT, seed=4)
LOAD = loads("grip", COUNT, seed=5, size=150.0)
POINTS, MIXED = (Marker("m1"), Marker("m2")), (Marker("m1"), Marker("tip", "pose"))
LINK = LinkCompliance(frame="end", matrix=as_matrix6(np.diag([1e-6, 2e-6, 3e-6, 2e-5, 3e-5, 1e-5])))
EYE = np.eye(3)


def robot():
    """Bends by a few mrad: what is taken at the unbent pose is right to better than one per cent."""
    return arm(LINK)


def seen(model, q, load, markers):
    """Places (N, markers, 3) and axes (N, markers, 3, 3) of the loaded markers, without any error."""
    shape = (len(q), len(markers))
    at = Setup(q, load, tuple(Marker(m.frame, "pose") for m in markers))
    six = Position(at, np.broadcast_to(EYE, (*shape, 3, 3))).predict(model).reshape(*shape, 6)
    return six[:, :, :3], Rotation.from_rotvec(six[:, :, 3:].reshape(-1, 3)).as_matrix().reshape(*shape, 3, 3)


def measured(kind, markers):
    at = Setup(Q, LOAD, markers)
    if kind == "deflection":
        return Deflection(at)
    return Position(at, seen(robot(), Q, LOAD, markers)[1] if any(m.rows == 6 for m in markers) else None)


KINDS = {
    "deflection-pose": ("deflection", MIXED),
    "position": ("position", POINTS),
    "position-pose": ("position", MIXED),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def states(kind, model, q=Q, load=LOAD):
    """Places and axes of the markers with load, then without."""
    nothing = AppliedWrenches("grip", np.zeros((1, 6)))
    markers = kind.setup.markers
    return *seen(model, q, load, markers), *seen(model, q, nothing, markers)


@cache
def _true(markers):
    return seen(robot(), Q, LOAD, markers), seen(robot(), Q, AppliedWrenches("grip", np.zeros((1, 6))), markers)


def true_states(kind):
    loaded, free = _true(kind.setup.markers)
    return *loaded, *free


def read(kind, loaded_at, loaded_axes, free_at, free_axes):
    """What is read of markers at these places: a difference, or a position with its turn from what is expected."""
    parts = []
    for i, m in enumerate(kind.setup.markers):
        if isinstance(kind, Deflection):
            shift, turn = loaded_at[:, i] - free_at[:, i], loaded_axes[:, i] @ free_axes[:, i].swapaxes(1, 2)
        else:
            shift = loaded_at[:, i]
            turn = loaded_axes[:, i] @ (EYE if kind.turned is None else kind.turned[:, i].swapaxes(1, 2))
        parts.append(np.concatenate([shift, Rotation.from_matrix(turn).as_rotvec()], axis=1)[:, : m.rows])
    return np.concatenate(parts, axis=1)


# Each change takes the kind of measurement and the amounts u, and gives what is read (N, R) of the cell changed by u.


def other_size(kind, u):
    return read(kind, *states(kind, robot(), load=AppliedWrenches("grip", LOAD.wrench * (1 + u[0]))))


def other_direction(kind, u):
    turn = Rotation.from_rotvec(u).as_matrix()
    six = np.concatenate([LOAD.wrench[:, :3] @ turn.T, LOAD.wrench[:, 3:] @ turn.T], axis=1)
    return read(kind, *states(kind, robot(), load=AppliedWrenches("grip", six)))


def other_point(kind, u):
    return read(kind, *states(kind, moved_frame(robot(), "grip", u)))


def other_markers(kind, u):
    model = robot()
    for i, m in enumerate(kind.setup.markers):
        model = moved_frame(model, m.frame, u[3 * i : 3 * i + 3])
    if kind.setup.markers == MIXED:  # the other frames hang on the tip and have to stay where they are
        for f in ("m1", "m2", "grip"):
            axes = robot().tree.frame(f).pose.rotation.T
            model = moved_frame(model, f, -axes @ u[3:])
    return read(kind, *states(kind, model))


def other_joints(kind, u):
    """The arm stops elsewhere for the loaded reading; the unloaded one is at the joint values stated."""
    there = seen(robot(), Q + u, LOAD, kind.setup.markers)
    return read(kind, *there, *true_states(kind)[2:])


def other_base(kind, u):
    """The instrument's base axes are shifted and turned: everything it reads is."""
    turn = Rotation.from_rotvec(u[3:]).as_matrix()
    p1, r1, p0, r0 = true_states(kind)
    return read(kind, p1 @ turn.T + u[:3], turn @ r1, p0 @ turn.T + u[:3], turn @ r0)


def shifted(kind, u):
    p1, r1, p0, r0 = true_states(kind)
    return read(kind, p1 + u, r1, p0, r0)


def other_share(kind, u):
    """The arm stands a little farther along its way from the unloaded to the loaded state."""
    p1, r1, p0, r0 = true_states(kind)
    way = Rotation.from_matrix((r1 @ r0.swapaxes(2, 3)).reshape(-1, 3, 3)).as_rotvec()
    return read(
        kind, p1 + u[0] * (p1 - p0), Rotation.from_rotvec(u[0] * way).as_matrix().reshape(r1.shape) @ r1, p0, r0
    )


def own_scatter(kind, u):
    return read(kind, *true_states(kind)) + u


# source: (an example, what it does, by how much it is tried, relative error allowed: bends are some mrad)
EXAMPLES = {
    "load_size": (LoadSize(sd=0.01), other_size, 1e-3, 2e-3),
    "load_direction": (LoadDirection(sd=0.002), other_direction, 1e-3, 2e-3),
    "load_point": (LoadPoint(sd=1e-3), other_point, 1e-3, 0.01),
    "marker_places": (MarkerPlaces(sd=1e-3), other_markers, 1e-3, 1e-5),
    "encoder": (Encoder(sd=1e-5, slide_sd=1e-5), other_joints, 1e-4, 0.02),
    "registration": (Registration(sd=1e-3, turn_sd=1e-3), other_base, 1e-4, 1e-4),
    "repeatability": (Repeatability(sd=1e-5), shifted, 1e-4, 1e-9),
    "drift": (Drift(sd=1e-5), shifted, 1e-4, 1e-9),
    "loading_order": (LoadingOrder(sd=0.01), other_share, 1e-3, 1e-4),
    "reading": (Reading(sd=1e-5, turn_sd=1e-5), own_scatter, 1e-4, 1e-9),
    "tracker": (Tracker(at=(3.0, -2.0, 1.0), along=1e-5, across=2e-5), None, 0, 0),  # by its covariance, below
}
moving = pytest.mark.parametrize("name", [n for n, e in EXAMPLES.items() if e[1] is not None])


def test_every_source_has_an_example():
    elsewhere = {"friction", "force_sensor", "object_places"}  # of kinds without markers: tests/measure
    assert set(EXAMPLES) | elsewhere == set(source_kinds())


@moving
@kinds
def test_columns_are_what_a_real_change_does_to_the_readings(name, kind):
    source, change, step, allowed = EXAMPLES[name]
    model, measurement = robot(), measured(*KINDS[kind])
    unknowns, got = source.unknowns(measurement, model), source.columns(measurement, model)
    assert got.shape == (COUNT, len(measurement.rows), len(unknowns))
    largest = 0.0
    for i, u in enumerate(np.eye(len(unknowns))):
        expected = (change(measurement, step * u) - change(measurement, -step * u)) / (2 * step)
        largest = max(largest, np.abs(expected).max())
        # against the size of the whole: single columns vanish where a shift meets a difference
        size = max(np.abs(expected).max(), 1e-6)
        np.testing.assert_allclose(got[:, :, i], expected, rtol=0, atol=allowed * size, err_msg=unknowns[i].name)
    assert largest > 1e-5


@pytest.mark.parametrize("standing", [None, False, True])
@pytest.mark.parametrize("name", ["load_size", "load_direction", "load_point"])
def test_loads_that_follow_their_frame(name, standing):
    """The same for a load in the frame's own axes, with and without a constant wrench of either sort beside it."""
    source, _, step, _ = EXAMPLES[name]
    model = robot()
    if standing is not None:
        model = model.with_elements(Wrench(frame="grip", force=(20.0, 10, 30), moment=(1.0, 2, 0), follows=standing))
    following = AppliedWrenches("grip", LOAD.wrench, follows=True)
    kind = Deflection(Setup(Q, following, POINTS))
    got = source.columns(kind, model)
    for i, u in enumerate(step * np.eye(got.shape[2])):
        two = []
        for s in (1, -1):
            six = LOAD.wrench
            if name == "load_size":
                six = six * (1 + s * u[0])
            elif name == "load_direction":
                turn = Rotation.from_rotvec(s * u).as_matrix()
                six = np.concatenate([six[:, :3] @ turn.T, six[:, 3:] @ turn.T], axis=1)
            else:  # the same forces one step aside: their moment about the frame's origin
                six = np.concatenate([six[:, :3], six[:, 3:] + np.cross(s * u, six[:, :3])], axis=1)
            two.append(Deflection(Setup(Q, AppliedWrenches("grip", six, True), POINTS)).predict(model))
        expected = (two[0] - two[1]) / (2 * step)
        # a wrench of the other sort gives the columns at the unbent pose
        allowed = 0.03 if standing is False else 1e-4
        np.testing.assert_allclose(got[:, :, i], expected, rtol=0, atol=allowed * np.abs(expected).max())


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_source_that_does_not_bend_acts_alike_on_every_arm(name):
    """Weights are taken again at the estimate only where some source says that its effect depends on it."""
    source, measurement = EXAMPLES[name][0], measured("deflection", POINTS)
    softer = arm(LINK, joints=(3e-5, 5e-5, 7e-5, 4e-5))
    change = np.abs(source.columns(measurement, softer) - source.columns(measurement, robot())).max()
    if not source.bends:
        assert change == 0
    if name.startswith("load"):
        assert source.bends
        assert change > 1e-5


def reading_covariances(draw, count, kind):
    """Covariance (R, R) of what is read when every instrument reading is one draw: two for a difference."""
    values = draw(count) if kind.states == 1 else draw(count) - draw(count)
    return np.cov(values.T)


@pytest.mark.parametrize("kind", ["deflection", "position"])
def test_a_tracker_scatters_along_and_across_its_beam(kind):
    """Range, azimuth and elevation drawn at random, brought to base axes."""
    source = Tracker(at=(2.0, -1.5, 1.0), along=2e-5, across=5e-5, along_slope=4e-6, across_slope=1.2e-5)
    model, measurement = robot(), measured(kind, POINTS)
    got = source.covariance(measurement, model)
    assert not source.common
    rng = np.random.default_rng(0)
    for i in range(COUNT):
        at = poses(model, Q[i])
        beams = [at[m.frame][:3, 3] - source.at for m in POINTS]

        def draw(count, beams=beams):
            parts = []
            for b in beams:
                r = np.linalg.norm(b)
                azimuth, elevation = np.arctan2(b[1], b[0]), np.arcsin(b[2] / r)
                across = (5e-5 + 1.2e-5 * r) / r
                r = r + (2e-5 + 4e-6 * r) * rng.normal(size=count)
                a = azimuth + across / np.cos(elevation) * rng.normal(size=count)
                e = elevation + across * rng.normal(size=count)
                parts += [r * np.cos(e) * np.cos(a), r * np.cos(e) * np.sin(a), r * np.sin(e)]
            return np.stack(parts, axis=1)

        expected = reading_covariances(draw, 40_000, measurement)
        size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
        np.testing.assert_allclose(got[i] / size, expected / size, rtol=0, atol=0.03)


@pytest.mark.parametrize(
    ("source", "part"),
    [
        (Reading(sd=(1e-5, 2e-5, 3e-5), turn_sd=4e-5), "each"),
        (Reading(sd=1e-5, marker="m1"), "m1"),
        (Repeatability(sd=2e-5), "return"),
        (Encoder(sd=3e-5, slide_sd=5e-5), "joints"),
        (Drift(sd=2e-5), "drift"),
    ],
)
@pytest.mark.parametrize("kind", ["deflection-pose", "position-pose"])
def test_a_difference_scatters_like_two_readings(source, part, kind):
    """Except for drift, which is stated for the time between the two."""
    model, measurement = robot(), measured(*KINDS[kind])
    rng = np.random.default_rng(1)
    per_row = np.array([1e-5, 2e-5, 3e-5] * 2 + [4e-5] * 3)
    ones = np.concatenate([EYE, EYE, np.zeros((3, 3))])
    by_joints = np.concatenate([_jacobian(model, Q[0], "m1")[:3], _jacobian(model, Q[0], "tip")])

    def draw(count):
        if part == "each":
            return rng.normal(size=(count, 9)) * per_row
        if part == "m1":
            return rng.normal(size=(count, 9)) * 1e-5 * np.repeat([1, 0, 0], 3)
        if part == "joints":
            return rng.normal(size=(count, 4)) * [3e-5, 3e-5, 3e-5, 5e-5] @ by_joints.T
        return 2e-5 * rng.normal(size=(count, 3)) @ ones.T

    got = source.covariance(measurement, model)[0]
    expected = np.cov(draw(40_000).T) if part == "drift" else reading_covariances(draw, 40_000, measurement)
    assert np.diag(got).max() > 0
    np.testing.assert_allclose(got, expected, rtol=0, atol=0.03 * np.diag(expected).max())


def _jacobian(model, q, frame):
    """Central differences of the rigid chain."""
    h = 1e-6
    out = np.empty((6, len(q)))
    for i, u in enumerate(h * np.eye(len(q))):
        a, b = poses(model, q + u)[frame], poses(model, q - u)[frame]
        turn = Rotation.from_matrix(a[:3, :3] @ b[:3, :3].T).as_rotvec()
        out[:, i] = np.concatenate([a[:3, 3] - b[:3, 3], turn]) / (2 * h)
    return out


def test_what_holds_for_all_readings_is_an_unknown_of_the_campaign():
    model, kind = robot(), measured("position", POINTS)
    common = (
        Registration(),
        Registration(sd=1e-3, turn_sd=2e-3),
        MarkerPlaces(),
        MarkerPlaces(sd=3e-3),
        LoadPoint(sd=4e-3),
        LoadSize(sd=0.01, every="campaign"),
        LoadDirection(sd=0.02, every="campaign"),
    )
    new = (LoadSize(sd=0.01), LoadDirection(sd=0.02), Reading(sd=1e-5), Drift(sd=1e-5), LoadingOrder(sd=0.1))
    campaign = Measured(kind, np.zeros((COUNT, 6)), (*common, *new))
    assert campaign.common == common
    assert campaign.scattering == new
    sizes = [[u.sd for u in s.unknowns(kind, model)] for s in common]
    assert sizes[:4] == [[inf] * 6, [1e-3] * 3 + [2e-3] * 3, [inf] * 6, [3e-3] * 6]
    assert sizes[4:] == [[4e-3] * 3, [0.01], [0.02] * 3]
    assert common[5].label == "load size, common"
    assert new[0].label == "load size"
    names = [u.name for u in MarkerPlaces().unknowns(kind, model)]
    assert names == [f"place of {m} {a}" for m in ("m1", "m2") for a in "xyz"]


@pytest.mark.parametrize(
    ("source", "markers", "words"),
    [
        (Tracker(at=(0, 0, 0), along=1e-5, across=1e-5), MIXED, ("orientations",)),
        (Reading(sd=1e-5), MIXED, ("missing", ("tip.rx", "rad", "turn_sd_mrad"))),
        (Encoder(), POINTS, ("no-sd",)),
    ],
)
def test_what_makes_no_sense_is_refused(source, markers, words):
    with refused(*words):
        source.unknowns(measured("position", markers), robot())


@pytest.mark.parametrize(
    ("source", "name", "value", "code"),
    [
        (Reading, "sd", 0.0, "range"), (Reading, "sd", -1, "range"), (Reading, "sd", inf, "range"),
        (Reading, "sd", "a", "type"), (Reading, "sd", (1e-5, 0.0, 1e-5), "range"), (Reading, "sd", (), "range"),
        (Reading, "turn_sd", -1.0, "range"), (Reading, "marker", 3, "type"), (Encoder, "sd", -1.0, "range"),
        (Encoder, "slide_sd", inf, "range"), (Repeatability, "sd", inf, "range"), (Repeatability, "sd", None, "type"),
        (LoadSize, "sd", inf, "range"), (Tracker, "along", 0.0, "range"), (Tracker, "along", -1.0, "range"),
        (Tracker, "across", inf, "range"), (Tracker, "across", "a", "type"), (Tracker, "along_slope", -1e-6, "range"),
        (Tracker, "at", [1, 2], "shape"), (Tracker, "at", (1, 2, inf), "number"), (Tracker, "at", 1.0, "type"),
        (Friction, "viscous", 3, "type"),
    ],
)  # fmt: skip
def test_a_source_of_no_size_is_not_made(source, name, value, code):
    with refused(code, value, parameter=name):
        source(**{name: value})


def test_a_source_that_is_not_a_number_is_not_made():
    for make in (lambda: Reading(sd=float("nan")), lambda: Tracker(along=float("nan"))):
        with pytest.raises(InputError) as caught:
            make()
        assert caught.value.code == "range"


def test_sources_keep_what_makes_sense():
    assert Encoder(sd=0, slide_sd=1e-6).sd == 0
    assert LoadSize(sd=inf, every="campaign").sd == inf
    assert Tracker(at=np.array([4, 0, 0])) == Tracker(at=(4.0, 0.0, 0.0))
    assert Reading(sd=np.array([1e-5, 2e-5, 3e-5])) == Reading(sd=(1e-5, 2e-5, 3e-5))


def test_a_marker_that_is_not_watched_is_refused_with_the_ones_that_are():
    with refused("unknown-marker", "m3", nearest="m2"):
        Reading(sd=1e-5, marker="m3").unknowns(measured("position", POINTS), robot())


def test_a_marker_in_the_tracker_is_refused():
    model, kind = robot(), measured("position", POINTS)
    at = tuple(float(x) for x in kind.setup.positions(model)[0, 0])
    with refused("marker-in-tracker"):
        Tracker(at=at, along=1e-5, across=1e-5).columns(kind, model)


def test_a_kind_without_markers_says_so():
    class Torque(Measurement):
        kind = "torque"
        count = rows = pose = state = affine = names = predict = derivative = None

    with refused("unsupported", "torque"):
        Repeatability(sd=1e-5).columns(Torque(), robot())


def test_places_in_a_file_name_a_number():
    kind = measured("position", POINTS)
    plain = Measured(kind, np.zeros((COUNT, 6)))
    assert plain.place(1, 4) == "reading 2, m2.y"
    assert replace(plain, places=("a.csv:2", "a.csv:3", "b.csv:2")).place(2, 0) == "b.csv:2, m1.x"
    with refused("shape", ((2, 6), (3, 6))):
        Measured(kind, np.zeros((2, 6)))
    with refused("infinite"):
        Measured(kind, np.full((COUNT, 6), np.inf))

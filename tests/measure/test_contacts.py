"""Contacts read as forces and as gaps: closed forms, central differences, and the twelve parameters of the document."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from oracle.robots import random_robot
from oracle.scara import ACTUAL, NAMES, actual, closed_form_joints, discs, nominal, touched

from elastocal.measure.contacts import ContactForce, ContactGap
from elastocal.measure.markers import Deflection
from elastocal.measure.measured import Measured
from elastocal.measure.setup import Setup
from elastocal.measure.sources.arm import Encoder
from elastocal.measure.sources.instrument import ForceSensor
from elastocal.measure.sources.places import ObjectPlaces
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker
from elastocal.model.surfaces.plane import Plane
from elastocal.model.surfaces.sphere import Sphere
from elastocal.model.surfaces.surface import Touches
from elastocal.reduction.fit import estimate, groups_of
from elastocal.reduction.problem import linearise, weigh


def test_what_is_felt_is_what_the_plane_equations_give():
    kind, felt = touched()
    np.testing.assert_allclose(kind.predict(actual()), felt, atol=1e-8)
    assert [r.name for r in kind.rows] == ["gripper.fx", "gripper.fy"]
    assert kind.groups == ("gripper",)


def test_gaps_close_at_the_truth_and_open_elsewhere():
    kind, felt = touched()
    gap = ContactGap.of(kind, felt)
    np.testing.assert_allclose(gap.predict(actual()), 0, atol=1e-9)
    # a disc whose radius is 1 mm larger puts every tip 1 mm inside it
    larger = ContactGap.of(ContactForce(kind.q, other_discs(kind, 2, 1e-3), "xy"), felt)
    moved = larger.predict(actual())
    np.testing.assert_allclose(moved[:12, 0], -1e-3, atol=1e-9)
    np.testing.assert_allclose(moved[12:, 0], 0, atol=1e-9)


def other_discs(kind, parameter, by):
    values = [p.value for p in kind.touches.parameters]
    values[parameter] += by
    return kind.touches.with_values(values)


def spatial():
    """A soft six-joint arm that presses into spheres and a plane, in space."""
    model = random_robot(4, 6, 1, k=2e-5)
    rng = np.random.default_rng(2)
    q = rng.uniform(-0.5, 0.5, (5, 6))
    at = Deflection(Setup(q, AppliedWrenches(model.tool, np.zeros((1, 6))), (Marker(model.tool),)))
    tips = at.where.positions(model)[:, 0]
    away = rng.normal(size=(5, 3))
    away /= np.linalg.norm(away, axis=1)[:, None]
    shapes = [Sphere(name=f"ball{i}", centre=tuple(tips[i] - 0.049 * away[i]), radius=0.05) for i in range(4)]
    shapes.append(Plane(name="wall", point=tuple(tips[4] + 1e-3 * away[4]), normal=tuple(away[4])))
    return model, ContactForce(q, Touches(model.tool, tuple(shapes), np.arange(5)))


def cases():
    planar = touched()[0]
    model, kind = spatial()
    force = kind.predict(model) + np.array([3.0, -2.0, 1.0])  # not quite along the normal
    return {
        "planar force": (actual(), planar),
        "planar gap": (actual(), ContactGap.of(planar, touched()[1] * 1.05 + [0.5, -0.3])),
        "force in space": (model, kind),
        "gap in space": (model, ContactGap.of(kind, force)),
    }


CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_derivatives_by_parameters_are_central_differences(name):
    model, kind = CASES[name]
    assert np.isfinite(kind.predict(model)).all()
    names = [p.name for p in model.parameters if not p.name.startswith("controller")][:40]
    got = kind.derivative(model, names)
    seen = 0
    for i, n in enumerate(names):
        row = model.parameters.rows[model.parameters.index(n)]
        step = 1e-4 * max(abs(row.value), 0.1 * row.scale)
        ends = [kind.predict(model.with_parameters({n: row.value + s * step})) for s in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * step)
        for r, unit in enumerate(row_.unit for row_ in kind.rows):
            # rounding of what is subtracted, about 1e-9 N and 1e-15 m
            noise = (1e-8 if unit == "N" else 1e-14) / step
            np.testing.assert_allclose(got[:, r, i], slope[:, r], atol=2e-4 * np.abs(slope[:, r]).max() + noise)
        seen += np.abs(slope).max() > 0
    assert seen >= 12
    np.testing.assert_allclose(kind.derivative(model, names[::-1]), got[:, :, ::-1], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_joint_errors_and_objects_move_readings_as_they_really_do(name):
    model, kind = CASES[name]
    again = (lambda q, t: ContactGap(q, t, kind.force, kind.planar)) if isinstance(kind, ContactGap) else (
        lambda q, t: ContactForce(q, t, kind.axes)
    )  # fmt: skip
    # the slope of a gap by joints leaves out how the bends change with the pose: some per cent of so soft an arm
    allowed = 0.1 if isinstance(kind, ContactGap) else 1e-5
    got = kind.by_joints(model)
    for j in range(model.n):
        step = 1e-6 * np.eye(model.n)[j]
        ends = [again(kind.q + s * step, kind.touches).predict(model) for s in (1, -1)]
        slope = (ends[0] - ends[1]) / 2e-6
        for r in range(len(kind.rows)):
            np.testing.assert_allclose(
                got[:, r, j], slope[:, r], atol=allowed * np.abs(slope[:, r]).max() + 1e-2 * (r > 0)
            )
    got = kind.by_objects(model)
    values = np.array([p.value for p in kind.touches.parameters])
    assert got.shape[2] == len(values)
    for i in range(len(values)):
        step = 1e-6 * np.eye(len(values))[i]
        ends = [again(kind.q, kind.touches.with_values(values + s * step)).predict(model) for s in (1, -1)]
        slope = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(got[:, :, i], slope, atol=1e-4 * np.abs(slope).max() + 1e-2 * (len(kind.rows) > 1))


@pytest.mark.parametrize("name", ["planar gap", "gap in space"])
def test_errors_of_the_force_move_gaps(name):
    model, kind = CASES[name]
    got = kind.by_force(model)
    for a in range(2 if kind.planar else 3):
        ends = []
        for s in (1, -1):
            force = kind.force + s * 1e-3 * np.eye(3)[a]
            moved = ContactGap(kind.q, kind.touches, force, kind.planar)
            # the sides are carried along with the force; in space they may spin about it, which is taken out
            readings = moved.predict(model)
            if not kind.planar:
                spin = np.einsum("nsi,nti->nst", kind.sides, moved.sides)
                readings[:, 1:] = np.einsum("nst,nt->ns", spin, readings[:, 1:])
            ends.append(readings)
        slope = (ends[0] - ends[1]) / 2e-3
        np.testing.assert_allclose(got[:, 0, a], slope[:, 0], rtol=1e-3, atol=1e-9)
        np.testing.assert_allclose(got[:, 1:, a], slope[:, 1:], atol=2e-4)
    assert np.abs(got[:, 1:]).max() > 0.5


@pytest.mark.parametrize("gaps", [True, False])
def test_all_twelve_parameters_come_back_from_nominal_values(gaps):
    kind, felt = touched()
    campaign = Measured(kind, felt, (ForceSensor(sd=0.1),))
    if gaps:
        campaign = Measured(ContactGap.of(kind, felt), np.zeros((36, 2)), (ForceSensor(sd=0.1), Encoder(sd=1e-5)))
    fit = estimate(nominal(), campaign, NAMES)
    np.testing.assert_allclose(fit.values, ACTUAL, rtol=1e-8)


def test_one_force_level_cannot_separate_gripper_compliance_from_its_play():
    for forces, rank in (((40.0,), 11), ((20.0, 40.0), 12)):
        kind, felt = touched(forces)
        campaign = Measured(kind, felt, (ForceSensor(sd=0.1),))
        problem = linearise(campaign, actual(), NAMES, weigh(campaign, actual()))
        groups = groups_of(problem, actual().joint_parameters)
        assert groups.rank.rank == rank
        if rank == 11:
            # 40 N * p + g is all that acts: a change of p that g takes back moves nothing
            step = np.zeros(12)
            step[[NAMES.index("gripper.p"), NAMES.index("gripper.gap")]] = 1e-6, -40e-6
            moved, alone = problem.matrix @ step, problem.matrix @ np.where(step > 0, step, 0)
            assert np.abs(moved).max() < 1e-8 * np.abs(alone).max()


def test_sources_say_what_they_move():
    kind, felt = touched()
    model = actual()
    assert ForceSensor(sd=0.5).covariance(kind, model)[0] == pytest.approx(0.25 * np.eye(2))
    places = ObjectPlaces(sd=1e-5)
    assert places.common
    assert [u.name for u in places.unknowns(kind, model)][:3] == [
        "object disc1.x",
        "object disc1.y",
        "object disc1.radius",
    ]
    one = ContactForce(kind.q[:12], kind.touches.rows(slice(0, 12)), "xy")
    assert len(places.unknowns(one, model)) == 3  # of objects that are touched
    in_space, spheres = spatial()
    assert len(ObjectPlaces(sd=1e-5).unknowns(spheres, in_space)) == 17
    assert len(ObjectPlaces(sd=1e-5, turn_sd=1e-4).unknowns(spheres, in_space)) == 19
    np.testing.assert_array_equal(places.columns(kind, model), kind.by_objects(model))
    # a gap scatters through the compliance: 0.1 N on about 5e-5 m/N
    gap = ContactGap.of(kind, felt)
    sd = np.sqrt(ForceSensor(sd=0.1).covariance(gap, model)[:, 0, 0])
    assert 1e-6 < sd.min() < sd.max() < 2e-5


def test_what_does_not_fit_is_refused():
    kind, felt = touched()
    with refused("range", "xw"):
        ContactForce(kind.q, kind.touches, "xw")
    with refused("shape", (36, 35)):
        ContactForce(kind.q[1:], kind.touches)
    with refused("range", 3):
        ContactGap.of(kind, felt * (np.arange(36) != 2)[:, None])
    marked = Deflection(Setup(kind.q, AppliedWrenches("gripper", np.ones((1, 6))), (Marker("gripper"),)))
    with refused("unsupported", "deflection"):
        ForceSensor(sd=1.0).unknowns(marked, actual())
    with refused("range", 0.0, parameter="sd"):
        ForceSensor(sd=0.0)


def test_a_contact_at_zero_torque_is_not_guessed():
    """Pressing along the line through the first axis: its play could rest on either side, at torques of some mN m."""
    centre = np.array(discs()[2].centre)
    n = -(centre - ACTUAL[:2]) / np.linalg.norm(centre - ACTUAL[:2])
    middle = ACTUAL * (np.array(NAMES) != "J1.gap")
    q = closed_form_joints(centre + 0.08 * n, 40 * n, middle)
    one = ContactForce(q[None], Touches("gripper", discs(), [2]), "xy")
    assert np.isnan(one.predict(actual())).all()
    assert np.isnan(one.derivative(actual(), ["J1.k"])).all()
    pressed = ContactForce(q[None] + [[-2e-3, 0.0]], one.touches, "xy")  # further round, one side is left
    assert np.isfinite(pressed.predict(actual())).all()

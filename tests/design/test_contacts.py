"""Contacts to choose from, and the plan of Ruggeri et al. (40 N everywhere) against one with two forces."""

from __future__ import annotations

import numpy as np
from oracle.refusals import refused

from elastocal.design.candidates import spread_poses
from elastocal.design.criteria.alphabetic import Determinant
from elastocal.design.exchange import search
from elastocal.design.observed import observed
from elastocal.design.rules import Rules
from elastocal.design.touching import ContactSet, contacts_from
from elastocal.files.robot.read import read_robot
from elastocal.measure.contacts import ContactForce
from elastocal.measure.sources.instrument import ForceSensor
from elastocal.model.robot import Robot
from elastocal.model.surfaces.disc import Disc

DISCS = (
    Disc(name="a", centre=(-0.25, 0.30), radius=0.15),
    Disc(name="b", centre=(0.20, 0.40), radius=0.05),
    Disc(name="c", centre=(0.05, 0.25), radius=0.08),
)
SENSOR = (ForceSensor(sd=0.1),)


def scara() -> Robot:
    return read_robot("scara-ruggeri").with_parameters({"gripper.gap": 5e-5, "J1.gap": 1e-4, "J2.gap": 1e-4})


def contacts(surfaces: tuple[Disc, ...], levels: tuple[float, ...], count: int) -> ContactSet:
    start = spread_poses(scara(), count, np.random.default_rng(1))
    return contacts_from(scara(), start, surfaces, levels)


def candidates(*levels: float) -> ContactSet:
    return contacts(DISCS, levels, 120)


def forces(found: ContactSet, axes: str = "xy") -> ContactForce:
    return ContactForce(found.q, found.touches, axes)


def test_every_contact_presses_as_it_should_on_its_object() -> None:
    found = candidates(20.0, 40.0)
    state = forces(found, "xyz").touched(scara())
    np.testing.assert_allclose(state.size, found.level, rtol=1e-3)
    for i, disc in enumerate(DISCS):
        mine = found.touches.which == i
        assert np.sum(mine) > 10
        away = np.hypot(*(state.point[mine, :2] - np.array(disc.centre)).T)
        np.testing.assert_allclose(away, disc.radius, atol=1e-9)
    assert not scara().beyond_limits(found.q)
    assert found.steps[0].removed + found.steps[0].left == 120 * 3 * 2
    assert found.steps[-1].left == len(found)


def test_one_force_everywhere_cannot_tell_give_from_play() -> None:
    """40 p_ee + g_ee is all that one force shows (002): the two are named, and a second force tells them apart."""
    one = candidates(40.0)
    rows = observed(forces(one), SENSOR, scara(), scara().parameters.names)
    with refused("unobservable", "gripper.p, gripper.gap"):
        search(rows, Determinant(), Rules(36), rng=np.random.default_rng(1), restarts=1)
    two = candidates(20.0, 40.0)
    rows = observed(forces(two), SENSOR, scara(), scara().parameters.names)
    plan = search(rows, Determinant(), Rules(36), rng=np.random.default_rng(1), restarts=2)
    chosen = list(plan.chosen)
    assert 10 < np.sum(two.level[chosen] == 20) < 26
    assert set(two.touches.which[chosen]) == {0, 1, 2}
    sd = dict(zip(rows.names, plan.known.sd, strict=True))
    assert sd["gripper.p"] < 0.01 * 1e-5
    assert sd["gripper.gap"] < 0.05 * 5e-5


def test_contacts_that_cannot_be() -> None:
    far = (Disc(name="far", centre=(5.0, 5.0), radius=0.1),)
    with refused("infeasible", {"too far from an object, or inside it": 20}):
        contacts(far, (10.0,), 20)
    for surfaces, levels in (((), (1.0,)), (DISCS, ()), (DISCS, (-1.0,))):
        with refused("no-contacts"):
            contacts(surfaces, levels, 5)

"""Parts of what a program is off by: each from a robot of its own that has only that cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from oracle.programs import EXAMPLES

from elastocal.compensation.correction import Correction
from elastocal.compensation.job import command_residuals, stand, stood_residuals
from elastocal.compensation.process import ProcessLoad
from elastocal.compensation.run import compensate
from elastocal.files.programs import read_program
from elastocal.files.robot.read import read_robot
from elastocal.model.robot import Robot


def off(model: Robot, force: Sequence[float] | None = None, payload: float | None = None) -> Correction:
    wrench = None if force is None else np.array([*force, 0.0, 0.0, 0.0])
    load = ProcessLoad(wrench=wrench, payload=payload, air_moves=True)
    return compensate(model, read_program(EXAMPLES / "contour.mod"), load=load)


@pytest.fixture
def arm() -> Robot:
    """Few springs, so that causes hardly couple; one joint zero is off."""
    whole = read_robot("kuka-kr270").without("gravity_compensator", "link_compliance", "foundation_compliance")
    return whole.with_parameters({"A2.offset": 4e-4})


def test_the_parts_add_up_to_what_the_program_is_off_by(arm):
    found = off(arm, (-400, 0, -150), payload=60.0)
    parts = found.contributions
    np.testing.assert_allclose(
        parts.load.position + parts.weight.position + parts.geometry.position, found.before.position, atol=1e-15
    )
    assert min(p.distances().rms for p in (parts.load, parts.weight, parts.geometry)) > 2e-4


def test_each_part_is_that_of_a_robot_with_this_cause_alone(arm):
    """Without weights and errors only the load moves the tool; and so on.  They couple by a thousandth or so."""
    parts = off(arm, (-400, 0, -150), payload=60.0).contributions
    exact, light = arm.without("joint_offset"), arm.without("link_mass", "payload")
    pushed = off(light.without("joint_offset"), (-400, 0, -150)).before.position
    heavy = off(exact, payload=60.0).before.position
    wrong = off(light).before.position
    for part, alone in ((parts.load, pushed), (parts.weight, heavy), (parts.geometry, wrong)):
        assert np.abs(part.position - alone).max() < 0.02 * np.abs(alone).max()


def test_play_counts_to_the_weight_that_takes_it_up(arm):
    """Without play nothing but its way is missing: the gap times the lever of the tool about the worn axis."""
    gap = 3e-4
    worn = arm.with_parameters({"A3.gap": gap})
    found, tight = (off(m, (0, 0, -150), payload=60.0).contributions for m in (worn, arm))
    parts = (found.load, found.weight, found.geometry)
    assert all(np.isfinite(p.position).all() and np.isfinite(p.rotation).all() for p in parts)
    np.testing.assert_allclose(sum(p.position for p in parts), found.total.position, atol=1e-15)
    np.testing.assert_array_equal(found.geometry.position, tight.geometry.position)
    assert found.geometry.distances().rms > 2e-4
    turned = np.linalg.norm(found.weight.rotation - tight.weight.rotation, axis=1)
    np.testing.assert_allclose(turned, gap, rtol=2e-3)
    assert np.linalg.norm(found.load.rotation - tight.load.rotation, axis=1).max() < 0.01 * gap
    empty = off(worn).contributions  # all weight is assumed; without it no force tells the side of the play
    np.testing.assert_allclose(empty.assumed.position, empty.weight.position, atol=1e-12)


def test_of_assumed_masses_only_those_count_that_bend_something(arm):
    """All masses of the file make all of the weight; that of the column, which no joint carries, makes none of it."""
    parts = off(arm).contributions
    np.testing.assert_allclose(parts.assumed.position, parts.weight.position, atol=1e-12)
    assert parts.weight.distances().rms > 2e-4
    weighed = tuple(
        e if e.kind != "link_mass" or e.frame in ("link0_end", "A1") else replace(e, status="measured")
        for e in arm.elements
    )
    assert off(replace(arm, elements=weighed)).contributions.assumed.distances().rms < 1e-9


def test_runs_that_are_solved_together_are_what_they_are_alone(arm):
    """A load on half of the stations in one run and none in the other, a payload that is picked up on the way."""
    done = off(arm, (-400, 0, -150))
    half = np.arange(len(done.job.reference)) % 2 == 0
    mass = np.where(np.arange(len(half)) < len(half) // 2, np.nan, 60.0)
    loads = replace(done.job.loads, wrench=done.job.loads.wrench * half[:, None], mass=mass)
    still, command = replace(loads, wrench=np.zeros_like(loads.wrench)), done.commands.command.copy()
    command[1] = np.nan
    runs = ((done.commands.nominal, loads), (command, loads), (command, still))
    for (q, load), stood in zip(runs, stand(done.job.placed.model, done.job, *runs), strict=True):
        alone = command_residuals(done.job.placed.model, replace(done.job, loads=load), q)
        together = stood_residuals(done.job, stood)
        np.testing.assert_array_equal(together.position, alone.position)
        np.testing.assert_array_equal(together.rotation, alone.rotation)
        assert together.status.tolist() == alone.status.tolist()
    assert np.isfinite(together.position).all(axis=1).sum() == len(half) - 1

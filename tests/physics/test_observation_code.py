"""Generated observation rows against the twists and wrenches that they stand for; what solved states share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from oracle.robots import configurations, random_robot, random_wrench

import elastocal as ec
from elastocal import robots
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.frames import _chains
from elastocal.model.kinematics import rigid_state
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Configurations
from elastocal.model.statics import observation
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.statics.flexibility import assemble, flexible
from elastocal.model.statics.force_code import observed, rigid_answer
from elastocal.model.statics.forces import forces_at
from elastocal.model.statics.newton import States, newton_step
from elastocal.model.statics.observation import Marker, linear_observation, loaded_observation
from elastocal.spatial.batch import PAGE, room

ROBOTS = sorted(p.stem for p in Path(robots.__file__).parent.glob("*.yaml"))


def _fresh(robot):
    """The same robot, whose chain has no code yet."""
    _chains.cache_clear()
    return replace(robot, tree=replace(robot.tree))


def _check_rows(robot, q, seed):
    """On numbers first, then by the code: the twists of the chain, and the wrenches' work on them."""
    posture, dofs = robot.posture(np.ascontiguousarray(q.T)), tuple(range(len(robot.chain.dofs)))
    push = np.array([random_wrench(seed + i, 900.0) for i in range(len(q))])
    frames = robot.tree.names
    applied = [AppliedWrenches(robot.tool, push), AppliedWrenches(frames[len(frames) // 2], push[::-1], follows=True)]
    seen = ((robot.tool, 6), (frames[-1], 3))
    state = rigid_state(posture)
    motion = np.concatenate([state.jacobian(f, dofs)[:rows] for f, rows in seen]).swapaxes(0, 1)
    force = sum(np.einsum("adn,an->dn", state.jacobian(w.frame, dofs), w.in_base(state)) for w in applied)
    workspace = np.empty((10 * len(dofs), len(q)))
    for _ in range(8):
        found = rigid_answer(posture, dofs, seen, applied, workspace)
        for a, b in zip(found, (motion, force), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(b).max())
    assert np.abs(force).max() > 1.0
    assert any(key[0] is observed and not isinstance(made, int) for key, made in robot.chain._codes.items())


@pytest.mark.parametrize("name", ROBOTS)
def test_generated_rows_are_twists_and_work_on_them(name):
    robot = _fresh(ec.read_robot(name))
    _check_rows(robot, configurations(robot, 20, seed=4), 4)


@pytest.mark.parametrize("seed", range(6))
def test_generated_rows_of_random_robots(seed):
    robot = _fresh(random_robot(seed))
    _check_rows(robot, np.random.default_rng(seed).uniform(-1, 1, (20, robot.n)), seed)


def test_a_few_rows_and_many_fill_the_same_matrix(monkeypatch):
    """Columns gathered in one call, and one by one: the same bits."""
    model = ec.read_robot("kuka-kr270").with_link_form("symmetric")
    q, load = configurations(model, 30, seed=5), [AppliedWrenches(model.tool, random_wrench(1, 900.0)[None])]
    few = linear_observation(model, q, load, [Marker(model.tool, "pose")])[1]
    loaded = loaded_observation(model, q, load, [Marker(model.tool, "pose")])[1]
    monkeypatch.setattr(observation, "LINEAR", 7)
    np.testing.assert_array_equal(linear_observation(model, q, load, [Marker(model.tool, "pose")])[1], few)
    monkeypatch.setattr(observation, "TOGETHER", 0)
    np.testing.assert_array_equal(linear_observation(model, q, load, [Marker(model.tool, "pose")])[1], few)
    np.testing.assert_array_equal(loaded_observation(model, q, load, [Marker(model.tool, "pose")])[1], loaded)
    assert np.abs(few).max(axis=(0, 1)).min() > 0


@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize("name", [r for r in ROBOTS if assemble(ec.read_robot(r)).n])
def test_the_product_is_that_of_the_matrix(name, follows):
    robot, rng = ec.read_robot(name), np.random.default_rng(6)
    flex, push = flexible(robot), rng.normal(size=(9, 6)) * 300
    posture, theta = robot.posture(rng.uniform(-1, 1, (robot.n, 9))), rng.normal(scale=0.01, size=(flex.n, 9))
    forces, x = (
        forces_at(flex, posture, theta, [AppliedWrenches(robot.tool, push, follows)]),
        rng.normal(size=theta.shape),
    )
    expected = np.einsum("ijn,jn->in", forces.dense(), x)
    np.testing.assert_allclose(forces.product(x), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def _case(count=12):
    """An arm whose backlash has a mean, pushed; with the equilibrium of other compliances and masses."""
    model = ec.read_robot("kuka-kr270")
    soft = [replace(e, gap=1e-4, transition=50.0) if isinstance(e, JointBacklash) else e for e in model.elements]
    model = replace(model, elements=tuple(soft))
    at = Configurations(configurations(model, count, seed=8))
    load = [AppliedWrenches(model.tool, np.array([random_wrench(i, 800.0) for i in range(count)]))]
    other = {p.name: 1.05 * p.value for p in model.parameters if p.kind.endswith(("compliance", "mass", "backlash"))}
    return model, model.with_parameters(other), at, load


def test_a_step_near_solved_states_is_newtons_but_for_the_rest_of_its_series():
    model, _, at, load = _case()
    bent = equilibrium(model, at, load, judged=False)
    states, residual = bent.states, np.random.default_rng(1).normal(size=(assemble(model).n, 12)) * 1e-6
    k = states.flex.compliance[:, :, None] + states.backlash[1]
    bends = np.einsum("ijn,jkn->nik", k, states.forces.dense())
    exact = np.linalg.solve(np.eye(states.flex.n) - bends, residual.T[..., None])[..., 0].T
    rate = np.abs(np.linalg.eigvals(bends)).max()
    left = np.abs(newton_step(states.flex, states, residual) - exact).max()
    assert 0.01 < rate < 0.2
    assert left < 3 * rate**3 * np.abs(exact).max() < 0.1 * np.abs(exact - residual).max()


def test_a_search_near_solved_states_ends_where_any_other_does_in_fewer_steps():
    model, other, at, load = _case()
    near = equilibrium(other, at, load, judged=False)
    warm, cold = equilibrium(model, at, load, start=near, judged=False), equilibrium(model, at, load)
    by_theta = equilibrium(model, at, load, start=near.theta, judged=False)
    assert np.abs(near.theta - cold.theta).max() > 1e-5
    np.testing.assert_allclose(warm.theta, cold.theta, rtol=0, atol=1e-10)
    assert warm.steps.sum() < 0.8 * by_theta.steps.sum()
    for rows in (slice(0, 5), slice(5, 12)):  # whoever else is in the batch
        part = [AppliedWrenches(w.frame, w.wrench[rows]) for w in load]
        some = equilibrium(other, at[rows], part, judged=False)
        alone = equilibrium(model, at[rows], part, start=some, judged=False)
        np.testing.assert_array_equal(alone.theta, warm.theta[rows])


def test_rows_and_poses_of_kept_states_are_those_of_the_equilibrium_alone():
    """Also where a configuration is lost, at other configurations and under another load than was kept."""
    model, _, at, load = _case()
    load[0].wrench[3] *= 1e4
    kept = equilibrium(model, at, load, judged=False)
    known = replace(kept)
    assert kept.states_of(model, at) is not None
    assert known.states is None
    assert kept.status[3] != 0
    markers = [Marker(model.tool, "pose")]
    for a, b in zip(frame_pose(model, at, kept, model.tool), frame_pose(model, at, known, model.tool), strict=True):
        assert np.isnan(b[..., 3]).all()
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(*(loaded_observation(model, at, load, markers, bent=b)[1] for b in (kept, known)))
    calm = [AppliedWrenches(model.tool, load[0].wrench * 0.5)]
    np.testing.assert_array_equal(*(loaded_observation(model, at, calm, markers, bent=b)[1] for b in (kept, known)))
    assert kept.states_of(model, Configurations(at.q)) is None
    assert isinstance(kept.states, States)


def test_a_large_array_begins_a_large_page():
    large, small = room(3, PAGE), room(2, 5)
    assert (large.shape, small.shape) == ((3, PAGE), (2, 5))
    assert large.ctypes.data % (8 * PAGE) == 0
    assert large.flags.c_contiguous
    large[-1, -1] = 1.0

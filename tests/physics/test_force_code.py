"""Generated forces against the sums over screws that they stand for; substitution against Newton's method."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import elastocal as ec
from elastocal import robots
from elastocal.model.frames import _chains
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.wrench import AppliedWrenches, Wrench
from elastocal.model.statics import newton
from elastocal.model.statics.flexibility import assemble, flexible
from elastocal.model.statics.force_code import Loading, code
from elastocal.model.statics.forces import Bends, evaluate, forces_at, placed_loads, placed_wrenches, state_at
from elastocal.model.statics.newton import States, newton_equilibrium, substituted
from elastocal.spatial.compiled import source
from elastocal.spatial.tape import Code

ROBOTS = sorted(p.stem for p in Path(robots.__file__).parent.glob("*.yaml"))


def _fresh(name):
    """A shipped robot whose chain has no code yet; chains are shared by robots whose frames are alike."""
    robot = ec.read_robot(name)
    _chains.cache_clear()
    return replace(robot, tree=replace(robot.tree))


def _case(name, seed, count=20):
    """A shipped robot that weighs something everywhere, bent at random, under a dead and a following wrench."""
    robot, rng = _fresh(name), np.random.default_rng(seed)
    frames = [f.name for f in robot.tree.frames]
    more = [LinkMass(frame=f, mass=3.0, moment=tuple(rng.normal(size=3))) for f in frames if f not in _weighed(robot)]
    robot = replace(robot.with_elements(*more), gravity=np.array([0.0, 3.0, -9.0]))
    flex = flexible(robot)
    q = rng.uniform(-1, 1, (robot.n, count))
    theta = rng.normal(scale=0.02, size=(flex.n, count))
    return robot, flex, robot.posture(q), theta, rng


def _weighed(robot):
    return {e.place for e in robot.loads if e.kind == "link_mass"}


def _wrenches(robot, rng, count, kind, factor=1.0):
    size = factor * np.array([500.0, 300, 200, 80, 50, 30])
    dead = AppliedWrenches(robot.tool, size * rng.normal(size=(count, 6)))
    plain = AppliedWrenches(robot.tool, dead.wrench * [1, 0, 1, 0, 0, 0])
    follows = AppliedWrenches(robot.tree.frames[-1].name, size * rng.normal(size=(count, 6)), follows=True)
    return {"none": (), "force": (plain,), "moment": (dead,), "follows": (plain, follows)}[kind]


@pytest.mark.parametrize("kind", ["none", "force", "moment", "follows"])
@pytest.mark.parametrize("name", ROBOTS)
def test_code_gives_the_forces_and_tangents_of_the_sums_over_screws(name, kind):
    robot, flex, at, theta, rng = _case(name, 5)
    applied = _wrenches(robot, rng, at.size, kind)
    state, values = state_at(flex, at, theta)
    placed = placed_loads(robot, state) + placed_wrenches(robot, state, applied)
    expected = evaluate(flex, at, state, placed, values)
    assert np.abs(expected.q).max() > 1.0
    for _ in range(8):  # on numbers first, then as code
        found = forces_at(flex, at, theta, applied)
        force, bend = Bends.of(flex, at, applied).at(theta)
    for part in ("q", "screws", "g", "h", "axis"):
        a, b = getattr(found, part), getattr(expected, part)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * max(1.0, np.abs(b).max()))
    assert (found.h is found.g) == (expected.h is expected.g)
    np.testing.assert_allclose(force, expected.q, rtol=0, atol=1e-12 * np.abs(expected.q).max())
    np.testing.assert_allclose(bend, flex.linear(expected.q), rtol=0, atol=1e-12 * (1e-9 + np.abs(bend).max()))


@pytest.mark.parametrize("name", ROBOTS)
def test_numbers_floats_and_arrays_agree_to_the_bit(name):
    robot, flex, at, theta, rng = _case(name, 6, count=24)
    applied = _wrenches(robot, rng, at.size, "follows")
    first = Bends.of(flex, at, applied).at(theta)
    for _ in range(8):
        many = Bends.of(flex, at, applied).at(theta)
    rows = np.array([1, 4])
    few = Bends.of(flex, at.take(rows), tuple(w.picked(rows) for w in applied)).at(theta[:, rows])
    for a, b, c in zip(first, many, few, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(c, b[:, rows])


def test_one_code_serves_all_values_of_the_parameters():
    robot = _fresh("kuka-kr270").without("payload")
    q = np.random.default_rng(7).uniform(-1, 1, (robot.n, 20))
    for factor in (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7):
        other = robot.with_parameters(
            {p.name: factor * p.value for p in robot.parameters if p.kind != "joint_backlash"}
        )
        flex = assemble(other)
        found = Bends.of(flex, other.posture(q), ()).at(np.zeros((flex.n, 20)))
    codes = [v for k, v in robot.chain._codes.items() if k[0] is code]
    assert len(codes) == 1
    state, values = state_at(flex, other.posture(q), np.zeros((flex.n, 20)))
    expected = evaluate(flex, other.posture(q), state, placed_loads(other, state), values).q
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@dataclass(frozen=True, kw_only=True)
class _Numeric(Wrench):
    """As another package may write it: by means that symbols do not know."""

    def with_values(self, values):
        return super().with_values([float(v) for v in values])


def test_a_load_that_symbols_cannot_run_takes_the_general_path():
    plain = Wrench(frame="tool", force=(0.0, 300.0, -900.0))
    q = np.random.default_rng(8).uniform(-1, 1, (6, 20))
    found = []
    for load in (plain, _Numeric(frame="tool", force=plain.force)):
        loaded = _fresh("kuka-kr270").with_elements(load)
        flex = assemble(loaded)
        for _ in range(8):
            force, _ = Bends.of(flex, loaded.posture(q), ()).at(np.zeros((flex.n, 20)))
        found.append(force)
        what = next(k[1][1] for k in loaded.chain._codes if isinstance(k[1][-1], Loading))
        assert (loaded.chain.code(code, next(k[1][0] for k in loaded.chain._codes), what) is None) == (
            load is not plain
        )
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("name", [r for r in ROBOTS if assemble(ec.read_robot(r)).n])
def test_substitution_ends_where_newton_ends(name):
    robot, rng = ec.read_robot(name).without("joint_backlash"), np.random.default_rng(9)
    q, factor = rng.uniform(-1, 1, (robot.n, 40)), 0.02 if name == "orthoglide-link" else 1.0
    for kind in ("force", "moment", "follows"):
        start = States.unloaded(assemble(robot), robot.posture(q), _wrenches(robot, rng, 40, kind, factor))
        theta, force, _, done = substituted(start)
        expected, pushed, _, converged = newton_equilibrium(start)
        both = done & converged
        assert done.any()
        assert np.abs(expected[:, both]).max() > 1e-6
        np.testing.assert_allclose(theta[:, both], expected[:, both], rtol=0, atol=1e-12 * robot.size)
        np.testing.assert_allclose(force[:, both], pushed[:, both], rtol=0, atol=1e-10 * np.abs(pushed[:, both]).max())


def test_mixed_steps_of_a_soft_arm_end_where_newton_ends_in_fewer_steps(monkeypatch):
    robot, rng = ec.read_robot("kuka-kr270").without("joint_backlash"), np.random.default_rng(9)
    q = rng.uniform(-1, 1, (robot.n, 40))
    start = States.unloaded(assemble(robot).scaled(4.0), robot.posture(q), _wrenches(robot, rng, 40, "follows", 2.0))
    theta, _, steps, done = substituted(start)
    expected, _, _, converged = newton_equilibrium(start)
    assert (done & converged).sum() > 20
    np.testing.assert_allclose(theta[:, done], expected[:, done], rtol=0, atol=2e-12 * robot.size)
    for row in np.flatnonzero(done)[:5]:  # whoever else is in the batch
        np.testing.assert_array_equal(substituted(start.take(np.array([row])))[0][:, 0], theta[:, row])
    monkeypatch.setattr(newton, "MIXED", np.inf)
    plain, _, more, converged = substituted(start)
    assert np.median(steps[done]) <= 0.7 * np.median(more[converged & done])
    np.testing.assert_allclose(plain[:, converged], expected[:, converged], rtol=0, atol=2e-12 * robot.size)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_text_for_the_compiler_gives_the_same_bits(name):
    """Run by Python: what numba makes of it is tested on a few in ``tests/spatial`` and ``tests/model``."""
    robot, flex, at, theta, rng = _case(name, 10, count=3)
    applied = _wrenches(robot, rng, at.size, "follows")
    for _ in range(8):
        expected = forces_at(flex, at, theta, applied)
    made = next(v for v in reversed(robot.chain._codes.values()) if isinstance(v, Code) and v.results > 2 * flex.n)
    values, numbers = [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Code, "plain", property(lambda _: lambda *_: None))
        patch.setattr(Code, "__call__", lambda _, out, a, p: (values.extend(a), numbers.extend(p), out.fill(0.0)))
        forces_at(flex, at, theta, applied)
    out = np.empty((made.results, 3))
    run_by_python(made, out, np.array([np.broadcast_to(v, 3) for v in values]), numbers)
    axis = expected.q - out[: flex.n]
    np.testing.assert_array_equal(out[flex.n : 7 * flex.n].reshape(6, flex.n, 3), expected.screws)
    np.testing.assert_array_equal(axis[~np.any(expected.axis, axis=1)], 0.0)


def run_by_python(made, out, a, p):
    """The text that numba would compile, as it stands."""
    space = {"rint": round, "sqrt": math.sqrt, "empty": np.empty}
    exec(source(made).split("@njit", 1)[1].split("\n", 1)[1], space)
    space["code"](out, a, p)


def test_some_configurations_without_a_force_that_others_have_take_the_code_of_all():
    """Half is pushed along x, half along z; those left over know one of them, and the code, made late, both."""
    robot, flex, at, theta, _ = _case("cylindrical", 4)
    push = np.zeros((20, 6))
    push[:10, 0], push[10:, 2] = 900.0, 700.0
    whole = Bends.of(flex, at, (AppliedWrenches(robot.tool, push),))
    rows = np.arange(20) < 10
    some = whole.take(robot.posture(at.q[:, rows]), rows)
    expected = whole.at(theta)
    for _ in range(12):  # on numbers first, then by the code
        for one, all_ in zip(some.at(theta[:, rows]), expected, strict=True):
            np.testing.assert_allclose(one, all_[:, rows], rtol=1e-12, atol=1e-12)
    assert some.forces.code is not None

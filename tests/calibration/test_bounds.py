"""Backlash that the readings would make negative is zero, and everything that is claimed is claimed of that point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from virtual import campaign, joint_values

import elastocal as ec
from elastocal.calibration import ladder
from elastocal.calibration import tool as tools
from elastocal.calibration.fit import Fit, ahead, fit
from elastocal.calibration.ladder import Rung, _confirmed, _predicts, _settled
from elastocal.calibration.noise import Instrument
from elastocal.calibration.sight import Sight
from elastocal.calibration.starts import start_placing
from elastocal.calibration.states import gather
from elastocal.calibration.task import Task, assemble
from elastocal.calibration.tool import tool_of
from elastocal.calibration.words import with_words
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import deflection
from elastocal.model.statics.equilibrium import equilibrium

MARKERS = ["marker1", "marker2", "marker3"]


@pytest.fixture(scope="module")
def task() -> tuple[Task, object]:
    """Deflections of a robot without backlash, in which noise would make some of it negative."""
    rng = np.random.default_rng(3)
    robot = ec.read_robot("kuka-kr270")
    low, high = 0.7 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((12, robot.n))
    wrench = np.zeros((12, 6))
    wrench[:, :3] = 1500 * rng.normal(size=(12, 3))
    tool = tool_of(robot, (), q, wrench, robot.tool)
    at, rest = tool.states(np.zeros(0)), tool.unloaded(np.zeros(0))
    moved = (at.origin - rest.origin)[:, None] + 3e-5 * rng.normal(size=(12, 3, 3))
    data = ec.Campaign(
        q=robot.controller.to_controller(q), deflection=moved, wrench=wrench, length="m", angle="rad", markers=MARKERS
    )
    sight = Sight(gather(robot, data))
    model, wanted = with_words(robot, ("compliance", "backlash"))
    none = np.zeros_like(sight.used)
    return Task(sight, model, wanted, "points", none, Instrument(3e-5)), start_placing(robot, sight)


def test_posterior_and_leave_one_out_are_those_of_the_bounded_point(task: tuple[Task, object]) -> None:
    problem, placing = task
    found = fit(problem, placing)
    gaps = [i for i, n in enumerate(problem.names) if n.endswith(".gap")]
    held = [i for i in gaps if found.values[i] == 0]
    assert held
    assert np.all(found.values[gaps] >= 0)
    p = len(problem.names)
    assert found.posterior.mean[held] == pytest.approx(found.x[held], abs=1e-7)
    sd = np.sqrt(np.diag(found.unbounded.covariance))[:p]
    assert np.all(np.abs(found.posterior.mean[:p] - found.x) < 0.02 * sd)  # what predicts is what is judged
    assert np.any(found.unbounded.mean[held] < -1e-6)  # without the bound it would not
    blocks = found.posterior.blocks
    plain = np.where(blocks.used, blocks.readings - blocks.jacobian @ found.posterior.mean, 0.0)
    assert np.abs(np.nan_to_num(found.deletion.blocks)).mean() > np.abs(plain).mean()
    assert np.all(np.sqrt(np.diag(found.covariance))[held] > 1e-7)  # and how well it is known does not vanish


def test_a_step_below_zero_ends_at_zero(task: tuple[Task, object]) -> None:
    """Mixed steps reach beyond the bound, which no robot can have; the others are taken as they are."""
    problem, placing = task
    x = np.zeros(len(problem.names))
    gaps = np.array([n.endswith(".gap") for n in problem.names])
    change = np.where(np.append(gaps, np.zeros(problem.sight.extra, dtype=bool)), -1e-5, 1e-6)
    there = ahead(problem, x, placing, assemble(problem, x, placing), change)
    assert there is not None
    assert np.all(problem.values(there[0])[gaps] == 0)
    assert there[0][~gaps] == pytest.approx(1e-6)


def test_a_step_to_zero_from_what_the_file_states_is_not_lost_in_rounding(task: tuple[Task, object]) -> None:
    problem = replace(task[0], robot=task[0].robot.with_parameters({"A2.gap": 1e-4 / 3}))
    at = problem.names.index("A2.gap")
    for start in 1e-3 * np.random.default_rng(1).random(200):
        x = np.zeros(len(problem.names))
        x[at] = start
        step = np.zeros_like(x)
        step[at] = -problem.file_values[at] - start
        assert 0 <= problem.values(problem.moved(x, step))[at] < 1e-18


def test_a_model_that_leaves_states_undetermined_does_not_predict(task: tuple[Task, object]) -> None:
    """Its leave-one-out error is that of the others, which may be the easier ones."""
    found = fit(*task)
    rung = Rung.of(("compliance", "backlash"), "points", None, found)
    assert _predicts(rung) == rung.loo
    used = found.posterior.blocks.used.copy()
    used[0] = False
    lost = replace(found.posterior, blocks=replace(found.posterior.blocks, used=used))
    assert _predicts(replace(rung, fitted=replace(found, posterior=lost))) == np.inf


def test_backlash_of_which_nothing_is_left_is_no_word_of_the_model(task: tuple[Task, object]) -> None:
    """Unless the file states some, which is none then: that is a model of its own."""
    problem, placing = task
    for words, left in ((("compliance", "backlash"), ("compliance",)), (("backlash",), ())):
        model, wanted = with_words(ec.read_robot("kuka-kr270"), words)
        rung = Rung.of(words, "points", None, fit(replace(problem, robot=model, wanted=wanted), placing))
        values = rung.fit.values.copy()
        values[[n.endswith(".gap") for n in rung.fit.task.names]] *= 1e-3  # as of a robot that has none
        small = _settled(replace(rung, fitted=_at(rung.fit, values)))
        assert (small.words, set(small.dropped_gaps)) == (left, set(model.joints))


@pytest.mark.parametrize(
    ("ends", "chosen", "searches"),
    [
        ([(1.01, True)], 0, 1),
        ([(1.5, True), (1.1, True)], 1, 2),
        ([(1.05, True)], 0, 1),
        ([(1.15, True), (1.2, True)], 0, 2),
        ([(1.0, False), (1.09, True)], 1, 2),
        ([(1.0, False), (1.35, True), (1.4, True)], 1, 3),
        ([(1.4, False), (1.3, False), (1.5, False)], 1, 3),
    ],
    ids=[
        "confirmed",
        "worse",
        "worse, and better than the next as it was",
        "worse, and the best all the same",
        "not converged",
        "the best that converged",
        "none converged",
    ],
)
def test_a_candidate_whose_search_leads_nowhere_gives_way_to_the_next(
    task: tuple[Task, object],
    monkeypatch: pytest.MonkeyPatch,
    ends: list[tuple[float, bool]],
    chosen: int,
    searches: int,
) -> None:
    """Errors at early ends are 1.0, 1.1 and 1.3 mm; those at the ends are stated."""
    rung = Rung.of(("compliance", "backlash"), "points", None, fit(*task))
    early = [replace(rung, errors=np.full_like(rung.errors, 1e-3 * e)) for e in (1.0, 1.1, 1.3)]
    late = [
        replace(rung, errors=np.full_like(rung.errors, 1e-3 * e), fitted=replace(rung.fit, converged=done))
        for e, done in ends
    ]
    settled: list[Rung] = []

    def end_of(rough: Rung) -> Rung:
        settled.append(rough)
        return late[early.index(rough)]

    monkeypatch.setattr(ladder, "_settled", end_of)
    assert _confirmed([early[2], early[0], early[1]]) == (late[chosen], early[chosen])
    assert settled == early[:searches]


def _at(found: Fit, values: np.ndarray) -> Fit:
    """The same fit with other values of its parameters."""
    out = replace(found)
    out.__dict__["values"] = values
    return out


def _pushed(nominal: ec.Robot) -> ec.Campaign:
    """Deflections of a robot without backlash."""
    rng = np.random.default_rng(8)
    q = joint_values(nominal, 14, rng, 0.5) + np.array([0, -1.2, 1.4, 0, 0.6, 0])
    wrench = np.zeros((14, 6))
    wrench[:, :3] = rng.uniform(-2000, 2000, size=(14, 3))
    moved = deflection(nominal, q, [AppliedWrenches(nominal.tool, wrench)]).translation
    read = moved + 2e-5 * rng.normal(size=moved.shape)
    return campaign(q, nominal, deflection=read, wrench=wrench, noise=2e-5 / np.sqrt(2))


def test_backlash_that_does_not_stand_out_is_none_and_said() -> None:
    """The file states some, the robot has none: it is none, not what the file says, and a note names the joint."""
    nominal = ec.read_robot("kuka-kr270")
    stated = nominal.with_parameters({"A2.gap": 1e-4})
    cal = ec.calibrate(stated, _pushed(nominal))
    assert "backlash" in cal.words
    (note,) = [w for w in cal.warnings if w.code == "no-backlash"]
    assert "A2" in note.data["joints"]
    assert cal.robot.parameters.values[cal.robot.parameters.index("A2.gap")] == 0.0


def test_the_ladder_does_not_end_with_a_search_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    nominal = ec.read_robot("kuka-kr270")
    ends: list[Rung] = []

    def first_fails(rough: Rung) -> Rung:
        ends.append(_settled(rough))
        return replace(ends[-1], fitted=replace(ends[-1].fit, converged=len(ends) > 1))

    monkeypatch.setattr(ladder, "_settled", first_fails)
    stated = nominal.with_parameters({"A2.gap": 1e-4})
    cal = ec.calibrate(stated, _pushed(nominal).take(np.arange(8)), ["backlash"], outliers=False)
    assert len(ends) > 1
    assert cal.ladder.chosen.fit.converged


def test_a_search_that_begins_where_another_ended_solves_nothing_there(
    task: tuple[Task, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks of one robot share a tool, which remembers; the minimum is the same as from the file's values."""
    problem, placing = task
    whole = fit(problem, placing)
    less = replace(problem, dropped=np.arange(problem.sight.states.count)[:, None] == 3)
    assert less.tool is problem.tool
    solved = []
    monkeypatch.setattr(tools, "equilibrium", lambda *a, **k: solved.append(1) or equilibrium(*a, **k))
    problem.tool.both(problem.values(whole.start[1]))
    assert not solved
    near = fit(less, *whole.start, near=(whole.posterior,))
    assert 0 < len(solved) < near.steps  # nothing is solved where it begins, and steps along slopes solve nothing
    far = fit(less, placing)
    assert near.converged
    assert near.steps < far.steps
    sd = np.sqrt(np.diag(far.covariance))[: len(far.x)]
    assert np.all(np.abs(near.values - far.values) < 0.02 * sd)


@pytest.mark.parametrize("which", ["states", "unloaded", "both"])
def test_states_moved_along_slopes_are_off_by_the_square_of_the_way(task: tuple[Task, object], which: str) -> None:
    """Half the way leaves a quarter of the difference to those that are solved there, a small part of the way."""
    problem = task[0]
    s = problem.sight.states
    compliances = [n for n, w in zip(problem.names, problem.logs, strict=True) if w]
    file = problem.file_values[problem.logs]
    direction = file * np.random.default_rng(4).normal(size=len(file))

    def shift(share: float, exact: bool) -> np.ndarray:
        tool = tool_of(problem.robot, compliances, s.q, s.wrench, s.load_frame)
        getattr(tool, which)(file)
        there = getattr(tool, which)(file + share * direction, exact)
        parts = there if isinstance(there, tuple) else (there,)
        return np.concatenate([np.concatenate([p.origin.ravel(), p.turn.ravel()]) for p in parts])

    way = np.abs(shift(0.02, True) - shift(0.0, True)).max()
    off = [np.abs(shift(share, False) - shift(share, True)).max() for share in (0.01, 0.02)]
    assert 1e-6 < way < tools.REACH
    assert 0 < off[1] < 0.02 * way
    assert 3.0 < off[1] / off[0] < 5.0


def test_states_are_solved_beyond_the_reach_of_slopes(task: tuple[Task, object]) -> None:
    problem = task[0]
    s, file = problem.sight.states, problem.file_values
    tool, other = (tool_of(problem.robot, problem.names, s.q, s.wrench, s.load_frame) for _ in range(2))
    tool.both(file)
    far = np.where(problem.logs, 1.5 * file, file)
    assert np.array_equal(tool.both(far, False)[0].origin, tool.both(far)[0].origin)
    assert tool.both(far, False)[0].origin == pytest.approx(other.both(far)[0].origin, abs=1e-9)


@pytest.mark.parametrize(("there", "away"), [(1e-12, 0.0), (0.0, 1e-12)])
def test_forces_of_states_nearby_are_of_their_own_coordinates(there: float, away: float) -> None:
    """A foundation's tilt that is exactly zero is no coordinate: columns of forces behind it are others then."""
    robot = ec.read_robot("kuka-kr270")
    robot = replace(
        robot,
        elements=tuple(
            replace(e, gap=1e-4, transition=5000.0) if isinstance(e, JointBacklash) else e for e in robot.elements
        ),
    )
    names = ("base.k35", "base.k55")
    low, high = 0.5 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * np.random.default_rng(1).random((5, robot.n))
    wrench = np.tile([800.0, 300.0, -900.0, 0.0, 0.0, 0.0], (5, 1))
    tool = tool_of(robot, names, q, wrench, robot.tool)
    tool.both(np.array([0.0, there]))
    aside, here = tool.both(np.array([0.0, away]), False)[0].loose, tool.both(np.array([0.0, away]))[0].loose
    assert aside is not None
    assert here is not None
    assert np.ptp(here, axis=1).min() > 1e-5  # the torques of joints differ: those of another would show
    assert aside == pytest.approx(here, rel=1e-4)

"""Intermediate targets: a controller that moves in lines between told poses, run through the loaded model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from oracle.refusals import refused
from scipy.spatial.transform import Rotation, Slerp

from elastocal.compensation.commands import correct
from elastocal.compensation.densify import Moves, densify
from elastocal.compensation.loads import PathLoads, PayloadChange
from elastocal.compensation.stations import rotations_between
from elastocal.compensation.targets import Targets, TargetStatus
from elastocal.compensation.verification import residual
from elastocal.files.robot.read import read_robot
from elastocal.model.loads.payload import Payload
from elastocal.model.loads.wrench import AppliedWrenches

LINKS = ("link_compliance", "foundation_compliance")
START = np.deg2rad([0.0, -80.0, 100.0, 0.0, 60.0, 0.0])
TOLERANCE = 2e-5


def job(payloads=()):
    """Three long lines in front of a KR 270 and a short one, turning on the way, under a load that grows."""
    model = read_robot("kuka-kr270").without(*LINKS)
    place = np.array([[1.5, -0.9, 0.9], [1.9, 0.8, 1.1], [1.4, 0.9, 1.3], [1.4, 0.902, 1.3]])
    turn = Rotation.from_euler("ZYX", [[0.0, 1.5, 0.1], [0.4, 1.4, 0.0], [0.3, 1.2, 0.2], [0.3, 1.2, 0.2]])
    targets = Targets("tool", place, turn.as_matrix(), START)
    wrench = np.array([[800.0, 300, -1500, 0, 0, 0], [900, -500, -2500, 40, 0, 0], [0, 500, -2000, 0, 60, 0]])
    loads = PathLoads((AppliedWrenches("tool", wrench[[0, 1, 2, 2]]),), payloads)
    return Moves(model, targets, loads, correct(model, targets, loads), np.arange(3), np.arange(1, 4), None, None)


def driven(moves, number, fractions, told):
    """Largest distance of the loaded tool from the desired line; told are poses (K, 3), (K, 3, 3) at fractions (K,)."""
    t = np.linspace(0, 1, 101)
    line = np.stack([np.interp(t, fractions, c) for c in told[0].T], axis=1)
    turn = Slerp(fractions, Rotation.from_matrix(told[1]))(t).as_matrix()
    a, b = moves.start[number], moves.end[number]
    reference = moves.correction.nominal[a]
    rigid = moves.model.without("joint_compliance")
    shown = correct(rigid, Targets("tool", line, turn, reference))
    ends = moves.targets
    wanted = Targets(
        "tool",
        (1 - t[:, None]) * ends.position[a] + t[:, None] * ends.position[b],
        Slerp([0, 1], Rotation.from_matrix(ends.rotation[[a, b]]))(t).as_matrix(),
        reference,
    )
    w = moves.loads.wrenches[0].wrench
    push = PathLoads((AppliedWrenches("tool", (1 - t[:, None]) * w[a] + t[:, None] * w[b]),))
    model = moves.loads.models(moves.model)[int(moves.loads.number(slice(0, 4))[b])]
    return residual(model, shown.command, wanted, push).distances().max


def test_the_loaded_tool_stays_within_the_tolerance_of_the_line():
    moves = job((PayloadChange(2, Payload(frame="flange", mass=150.0)),))
    found = densify(moves, TOLERANCE)
    assert found.failed.tolist() == [0, 0, 0]
    counts = np.bincount(found.move, minlength=3)
    assert counts[0] >= 3
    assert counts[2] == 0  # two millimetres need nothing between them
    assert found.left.max() <= TOLERANCE
    assert found.without[0] > 5 * TOLERANCE
    for number in (0, 1):
        mine = found.move == number
        assert (np.diff(found.fraction[mine]) > 0).all()
        c = moves.correction
        if number == 1:  # the payload changes with this move: its start was told for another load
            a = np.array([number])
            first = moves.exact(a, np.zeros(1))
            begin = first.position, first.rotation
        else:
            begin = c.position[[number]], c.rotation[[number]]
        ends = c.position[[number + 1]], c.rotation[[number + 1]]
        told = tuple(np.concatenate([b, mid, e]) for b, mid, e in
                     zip(begin, (found.position[mine], found.rotation[mine]), ends, strict=True))  # fmt: skip
        fractions = np.concatenate([[0.0], found.fraction[mine], [1.0]])
        without = tuple(np.concatenate([b, e]) for b, e in zip(begin, ends, strict=True))
        if number == 0:
            assert driven(moves, number, np.array([0.0, 1.0]), without) > 4 * TOLERANCE
        assert driven(moves, number, fractions, told) < 1.3 * TOLERANCE


def test_a_tighter_tolerance_takes_more_targets():
    moves = job()
    counts = [len(densify(moves, tolerance).move) for tolerance in (1.0, 1e-4, 2e-5, 5e-6)]
    assert counts[0] == 0
    assert counts[1] < counts[2] < counts[3]


def test_a_move_with_a_place_that_cannot_be_corrected_gets_none_and_says_why():
    """Both ends are fine; half way the tool passes so close to the foot that a joint is beyond its limit."""
    model = read_robot("kuka-kr270").without(*LINKS)
    place = np.array([[0.6, -1.8, 1.0], [0.6, 1.8, 1.0], [2.0, -1.4, 1.2], [2.0, 1.4, 1.2]])
    turn = np.repeat(Rotation.from_euler("Y", 1.4).as_matrix()[None], 4, axis=0)
    targets = Targets("tool", place, turn, START)
    loads = PathLoads((AppliedWrenches("tool", [[0.0, 0, -1000, 0, 0, 0]]),))
    c = correct(model, targets, loads)
    assert c.counts() == {"corrected": 4}
    found = densify(Moves(model, targets, loads, c, np.array([0, 2]), np.array([1, 3]), None, None), 1e-5)
    assert found.failed.tolist() == [TargetStatus.JOINT_LIMIT, TargetStatus.CORRECTED]
    assert set(found.move) == {1}
    assert np.isnan(found.left[0])
    assert found.left[1] <= 1e-5


def test_a_move_from_a_target_without_correction_says_why():
    model = read_robot("kuka-kr270").without(*LINKS)
    turn = np.repeat(Rotation.from_euler("Y", 1.4).as_matrix()[None], 2, axis=0)
    targets = Targets("tool", np.array([[1.4, 0, 2.9], [2.6, 0, 0.6]]), turn, START)
    c = correct(model, targets)
    found = densify(Moves(model, targets, PathLoads(), c, np.array([0]), np.array([1]), None, None), 1e-5)
    assert found.failed.tolist() == [TargetStatus.OUT_OF_REACH]
    assert len(found.move) == 0


def test_turns_between_are_those_of_scipy():
    r = Rotation.random(2, rng=np.random.default_rng(3)).as_matrix()
    t = np.array([0.0, 0.3, 1.0])
    ours = rotations_between(np.repeat(r[:1], 3, axis=0), np.repeat(r[1:], 3, axis=0), t)
    np.testing.assert_allclose(ours, Slerp([0, 1], Rotation.from_matrix(r))(t).as_matrix(), atol=1e-14)


def test_a_tolerance_must_be_positive():
    with refused("range", 0.0):
        densify(job(), 0.0)


def test_the_number_of_moves_changes_no_inserted_point():
    """Of a few moves, places that splits may ask for are solved ahead; of many, only those that are asked for."""
    moves = job()
    few = densify(moves, TOLERANCE)
    again = np.tile(np.arange(3), 40)
    many = densify(replace(moves, start=moves.start[again], end=moves.end[again]), TOLERANCE)
    for number, move in enumerate(again):
        for name in ("fraction", "position", "rotation", "command"):
            mine, other = getattr(many, name)[many.move == number], getattr(few, name)[few.move == move]
            np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(many.left, few.left[again])

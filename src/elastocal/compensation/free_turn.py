"""Another turn about the tool axis, where a program leaves it open and the one taken drives a joint out of its range.

The turn of all targets is changed by one angle, so that lines stay lines: by steps of 30 deg, the smallest first, until
no target is beyond a limit, else the one that leaves the fewest uncorrected.  Whoever states an orientation keeps it.
Where no turn helps, as where another joint than the last is at its limit, it is named what else does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elastocal.compensation.correction import Correction
from elastocal.compensation.left_open import along_axes, ways_to
from elastocal.compensation.posts.poses import aligned, kuka_angles
from elastocal.compensation.posts.post import Post, listed, pendant_values
from elastocal.compensation.program import Program
from elastocal.compensation.targets import TargetStatus
from elastocal.results import Finding
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.rotation import Rotation

ANGLES = (*(sign * angle for angle in range(30, 180, 30) for sign in (1, -1)), 180)
"""deg"""
MOST = 20_000
"""Targets of a program for which others are looked for: each costs a correction of the whole."""


Trial = Callable[[Program, Array | None], Correction]


def limited(status: Ints, kind: NDArray[np.str_]) -> int:
    """How many stations with an open turn are beyond a joint's range."""
    return int(((status == TargetStatus.JOINT_LIMIT) & (kind == "axis")).sum())


def another_turn(program: Program, post: Post, beyond: int, lost: int, trial: Trial) -> tuple[Program | None, Finding]:
    """The program with the turn that leaves fewer targets uncorrected than the ``lost`` ones, None where none does.

    ``beyond`` of them are so by a limit.  ``trial`` corrects a program, from controller values (n,) where these are
    not to be those that are stated.
    """
    word = "1 target is" if beyond == 1 else f"{beyond} targets are"
    message = f"The turn about the tool axis is open, and {word} beyond a joint's range"
    free = along_axes(program) and len(program.targets) <= MOST
    taken, best = None, lost
    for angle in ANGLES if free else ():
        other = _turned(program, post, _start(program), angle)
        count = _count(trial(other, None))
        if count < best:
            taken, best, chosen = other, count, angle
        if best <= lost - beyond:
            break
    if taken is None:
        tried = "with every turn by 30 deg" if free else "with this one"
        way, data = _way_out(program, post, lost - beyond, trial)
        return None, Finding("turn-limited", "warning", f"{message} {tried}{way}.", {"targets": beyond, **data})
    assert taken.given.orientation is not None
    angles = kuka_angles(taken.given.orientation).round(4)
    message += (
        f" with that of the base. It is taken {chosen:g} deg from it, as orientation {listed(angles)} states it; z of "
        "the tool leads from the tip to the spindle. State another, or one that looks into the part where z leads from "
        "the flange to the tip."
    )
    data = {"targets": beyond, "left": best, "angle_deg": chosen, "orientation_deg": angles.tolist()}
    return taken, Finding("turn-taken", "warning", message, data)


def _count(done: Correction) -> int:
    return int((~done.corrected).sum())


def _way_out(program: Program, post: Post, others: int, trial: Trial) -> tuple[str, dict[str, object]]:
    """What one could state so that every target is within the limits: another turn, of a tool that looks into the part
    where nobody said which way it looks, or axis values before the program."""
    if len(program.targets) > MOST:
        return "", {}
    stated = program.given.orientation
    start = _start(program, into=True) if stated is None else stated
    for angle in (0, *ANGLES):
        other = _turned(program, post, start, angle)
        if _count(trial(other, None)) <= others:
            assert other.given.orientation is not None
            angles = kuka_angles(other.given.orientation).round(4)
            looks = ", which looks into the part," if stated is None else ""
            return f"; with orientation {listed(angles)}{looks} none is", {"orientation_deg": angles.tolist()}
    done = trial(program, None)
    at, now = done.job.placed, done.model.controller.to_controller(done.commands.nominal[:1])[0]
    ways = ways_to(at.model, at.frames[0], at.position[0], at.rotation[0])
    turned = np.abs(np.sin((ways - now) / 2)) @ np.arange(at.model.n, 0, -1)  # the wrist turns over before the arm
    for way in ways[np.argsort(turned, kind="stable")]:
        if _count(trial(program, way)) <= others:
            shown = pendant_values(at.model, at.model.controller.to_joints(way[None])[0])
            return f"; from axis values near {listed(shown)} none is", {"near": way.tolist()}
    return "; move the target or the part", {}


def _start(program: Program, into: bool = False) -> Array:
    """An orientation whose z is on the side of the first tool axis, or against it: ``into`` the part."""
    axis = next(program.rotations[i, :, 2] for i, t in enumerate(program.targets) if t.kind == "axis")
    return np.asarray(aligned(np.array([[0.0, 0.0, 1.0 if (axis[2] >= 0) != into else -1.0]]))[0])


def _turned(program: Program, post: Post, start: Array, angle: float) -> Program:
    turn = Rotation.from_rotvec(np.array([[0.0, 0.0, np.radians(angle)]])).as_matrix()[0]
    given = replace(program.given, orientation=start @ turn)
    return replace(post.read(program.files, given), given=given, origin=program.origin)

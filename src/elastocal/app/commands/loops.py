"""Compliance and backlash from loops of force against displacement, by direction and for joints."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.commands.arcs import noise_of
from elastocal.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from elastocal.files.tables.loops import LoopRecord, LoopTable
    from elastocal.loops.directions import DirectionFit
    from elastocal.loops.estimate import Estimate, FTest
    from elastocal.loops.fit import LoopFit
    from elastocal.loops.joint import JointValues
    from elastocal.spatial.entries import Array

SURE = 0.999
"""Level of the interval that must lie below zero where a number is called negative."""


@dataclass(frozen=True)
class LoopsRequest:
    """``levers`` are texts such as J1=330 (mm); ``at_gripper`` takes the gripper's own values off the joints'."""

    data: Path
    levers: tuple[str, ...] = ()
    at_gripper: bool = False
    frame: str = "gripper"
    noise_um: float | None = None
    threshold: float = 0.0


@dataclass(frozen=True, eq=False)
class Directions:
    """The loops at the gripper: their places among all loops, unit vectors (n, d), and what describes them all.

    ``apart`` names loops that are not straight and take no part, unless most are like that.
    """

    at: tuple[int, ...]
    units: Array
    compliance: DirectionFit
    half_gap: DirectionFit
    apart: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class JointResult:
    """``loops`` with the values of each; ``values`` is the mean of them; ``agree`` tests compliance and half gap."""

    joint: str
    lever: float
    loops: tuple[int, ...]
    values: JointValues
    agree: tuple[FTest, FTest]


@dataclass(frozen=True, eq=False)
class LoopsResult:
    request: LoopsRequest
    table: LoopTable
    noise: float | None
    fits: tuple[LoopFit, ...]
    directions: Directions | None
    joints: tuple[JointResult, ...]
    yaml: str
    notes: tuple[str, ...]

    @property
    def records(self) -> tuple[LoopRecord, ...]:
        return self.table.records


def run(request: LoopsRequest) -> LoopsResult:
    from elastocal.app.loop_elements import elements_text
    from elastocal.app.loop_notes import notes_of
    from elastocal.app.threads import one_thread
    from elastocal.files.tables.loops import read_loops
    from elastocal.loops.fit import fit_loops

    noise = noise_of(request.noise_um)
    if not (isfinite(request.threshold) and request.threshold >= 0):
        raise InputError(f"--threshold {request.threshold:g}: must be a force in N, zero or more")
    levers = _levers(request.levers)
    table = _with_joint(read_loops(request.data, request.threshold), levers)
    lengths = {j: _lever(table, j, levers) for j in dict.fromkeys(r.joint for r in table.records if r.joint)}
    with one_thread():
        fits = fit_loops([r.loop for r in table.records], noise)
        _check_sense(table, fits)
        directions = _directions(table, fits)
        joints = tuple(_joint(request, table, fits, directions, j, lever) for j, lever in lengths.items())
    _check_joints(request, joints)
    text = elements_text(request.frame, directions, joints, table.file)
    notes = notes_of(table, fits, directions, joints)
    return LoopsResult(request, table, noise, fits, directions, joints, text, notes)


def _levers(texts: tuple[str, ...]) -> dict[str, float]:
    """JOINT=MM texts as lengths in m."""
    out: dict[str, float] = {}
    for text in texts:
        joint, equals, length = (part.strip() for part in text.partition("="))
        try:
            value = 1e-3 * float(length.replace(",", "."))
        except ValueError:
            value = 0.0
        if not (joint and equals and isfinite(value) and value > 0):
            raise InputError(f"--lever {text!r}: write the joint and its lever in mm, such as J1=330")
        if joint in out:
            raise InputError(f"--lever {text!r}: joint {joint} has a lever already; keep one")
        out[joint] = value
    return out


def _with_joint(table: LoopTable, levers: Mapping[str, float]) -> LoopTable:
    """A file without joints is that of the one joint whose lever is typed."""
    from dataclasses import replace

    named = [r.joint for r in table.records if r.joint]
    if named or not levers:
        for joint in levers:
            if joint not in named:
                raise UnknownNameError("joint", joint, dict.fromkeys(named), f"--lever: {table.file}")
        return table
    if len(levers) > 1:
        raise InputError(f"--lever: {table.file} names no joints, so it is of one joint at most; add the column joint")
    (joint,) = levers
    return replace(table, records=tuple(replace(r, joint=joint, name=f"{joint}, {r.name}") for r in table.records))


def _lever(table: LoopTable, joint: str, typed: Mapping[str, float]) -> float:
    given = {r.lever for r in table.records if r.joint == joint and r.lever is not None}
    given |= {typed[joint]} if joint in typed else set()
    if not given:
        raise InputError(f"{table.file}: joint {joint} has no lever; add a column lever_mm or --lever {joint}=MM")
    if len(given) > 1:
        said = " and ".join(f"{1e3 * v:g}" for v in sorted(given))
        raise InputError(f"{table.file}: joint {joint} has levers of {said} mm; give one, or name the loops apart")
    return given.pop()


def _check_sense(table: LoopTable, fits: tuple[LoopFit, ...]) -> None:
    """Nothing that is pushed moves against the push: there the gauge, or the sign of the force, is reversed."""
    for record, fit in zip(table.records, fits, strict=True):
        p = fit.compliance
        if p.known and p.value + p.half_width(SURE) < 0:
            raise InputError(
                f"{table.file}: in loop {record.name} the displacement runs against the force ({1e6 * p.value:.4g} +- "
                f"{1e6 * p.sd:.2g} um/N); turn the sign of one of the two columns there"
            )


def _check_joints(request: LoopsRequest, joints: tuple[JointResult, ...]) -> None:
    for j in joints:
        k = j.values.compliance
        if request.at_gripper and k.known and k.value + k.half_width(SURE) < 0:
            raise InputError(
                f"--at-gripper: joint {j.joint} would have a negative compliance ({1e6 * k.value:.4g} urad/(N m)) "
                "without the gripper's; leave the option out if the gauge was at the link"
            )


def _directions(table: LoopTable, fits: tuple[LoopFit, ...]) -> Directions | None:
    import numpy as np

    from elastocal.loops.directions import fit_directions
    from elastocal.loops.estimate import unknown

    at = tuple(i for i, r in enumerate(table.records) if r.joint is None and r.direction is not None)
    if not at:
        return None
    units = np.array([table.records[i].direction for i in at])
    straight = [fits[i].departures.straight for i in at]
    kept = straight if 2 * sum(straight) > len(at) else [True] * len(at)
    biased = unknown("its loop is not of straight parallel lines")
    p = [fits[i].compliance if keep else biased for i, keep in zip(at, kept, strict=True)]
    g = [fits[i].half_gap if keep else biased for i, keep in zip(at, kept, strict=True)]
    apart = tuple(table.records[i].name for i, keep in zip(at, kept, strict=True) if not keep)
    return Directions(at, units, fit_directions(units, p, root=False), fit_directions(units, g, root=True), apart)


def _joint(
    request: LoopsRequest,
    table: LoopTable,
    fits: tuple[LoopFit, ...],
    directions: Directions | None,
    joint: str,
    lever: float,
) -> JointResult:
    from elastocal.loops.estimate import mean_of
    from elastocal.loops.joint import JointValues, joint_values

    at = tuple(i for i, r in enumerate(table.records) if r.joint == joint)
    each = []
    for i in at:
        gripper = _gripper(table, directions, i) if request.at_gripper else None
        each.append(joint_values(fits[i], lever, gripper))
    if len(each) == 1:
        nothing = mean_of([])[1]
        return JointResult(joint, lever, at, each[0], (nothing, nothing))
    k, same_k = mean_of([v.compliance for v in each])
    gap, same_gap = mean_of([v.half_gap for v in each])
    hysteresis, _ = mean_of([v.half_hysteresis for v in each])
    return JointResult(joint, lever, at, JointValues(k, gap, hysteresis), (same_k, same_gap))


def _gripper(table: LoopTable, directions: Directions | None, i: int) -> tuple[Estimate, Estimate]:
    """The gripper's compliance and half gap along loop i."""
    record = table.records[i]
    if directions is None:
        raise InputError(f"--at-gripper: {table.file} has no loops at the gripper itself; add rows without a joint")
    if record.direction is None:
        raise InputError(f"--at-gripper: the loop of joint {record.joint} has no direction; add it to its rows")
    return directions.compliance.along(record.direction), directions.half_gap.along(record.direction)

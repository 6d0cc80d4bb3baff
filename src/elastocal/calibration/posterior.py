"""The posterior of robot, stations and markers together: drawn from, as registered in a cell, and asked about a load.

Draws.  Readings tell where the tool is in the axes of the instrument; where the base lies, and how its errors are
shared out between frames, stations and markers, priors alone decide.  So parameters drawn without stations and markers
scatter far more in base axes than predictions do: only all unknowns together scatter as intervals of predictions say.

Registered.  A program that is run in a base and with a tool that were measured with the robot does not suffer from it:
the error of a corrected target is

    dx  =  station error  +  robot error  +  marker error

with all their correlations.  Errors of the base and of the flange, of no size or added to those that these frames
have, carry those of stations and markers.

    base    e_r = R_s^T w,   e_t = R_s^T (d + w x (t_s - c_s))      station s: moved by d, turned by w about c_s
    tool    the motion a + b x m that fits the errors of the markers best; b by three markers or by orientations read

Under load.  Where no load was measured nothing is known of compliances but the robot file, or the size of the robot:
they enter with the prior that a loaded campaign would have started from, so that the intervals of loaded predictions
say how little that is; and a warning says so first.  Where a loaded campaign was fitted with compliances and the robot
as it was predicts no worse, they keep their values x_0, and are known as well as that fit knows them: with its estimate
x and covariance C

    C_0 = C + (x - x_0)(x - x_0)^T                                                                   (not moved)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.calibration.ladder import Ladder
from elastocal.calibration.words import compliance_priors
from elastocal.model.chain import AXES
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.frames import BASE
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.results import Finding
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import cross_matrices
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration


def unknowns(c: Calibration) -> tuple[str, ...]:
    """Names of the rows of the covariance."""
    stations = (f"station {s}.{a}" for s in c.stations for a in AXES)
    markers = (f"marker {m}.{a}" for m in c.markers for a in AXES[:3])
    return (*c.names, *stations, *markers, *(f"tool turn.{a}" for a in AXES[3:]))


def drawn(c: Calibration, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Parameters (count, p), and steps (count, extra) of the placing, drawn together.

    Compliances are drawn by their logarithms, so that they keep their sign; backlash is not negative.
    """
    own, at = len(c.names), c.values
    sd = c.inflation * np.sqrt(np.diag(c.covariance))
    size = np.where(sd > 0, sd, 1.0)
    values, vectors = np.linalg.eigh(c.inflation**2 * c.covariance / np.outer(size, size))
    moved = rng.normal(size=(count, len(sd))) * np.sqrt(np.maximum(values, 0.0)) @ vectors.T * size
    logs = np.array(["N" in c.parameters[n].unit and c.parameters[n].file_value != 0 for n in c.names], dtype=bool)
    change, steps = moved[:, :own], moved[:, own:]
    share = np.divide(change, at, out=np.zeros_like(change), where=logs & (at != 0))
    out = np.where(logs, at * np.exp(share), at + change)
    gaps = np.array([n.endswith(".gap") for n in c.names], dtype=bool)
    return np.asarray(np.where(gaps, np.maximum(out, 0.0), out)), steps


SPREAD = 0.02
"""m that three markers must be apart across the longest line between them to tell how the tool is turned."""


def registered(c: Calibration, flange: str) -> tuple[Robot, tuple[str, ...], Array]:
    """The robot with errors of base and flange, and names and covariance of all that is estimated of them.

    A calibration by deflections alone knows neither: there it is the robot as it stands.
    """
    robot, covariance = c.robot, c.inflation**2 * c.covariance  # as intervals of predictions count it
    if not c.placed:
        return robot, c.names, covariance[: len(c.names), : len(c.names)]
    moves = dict(zip(_motions(BASE), _base_rows(c), strict=True))
    moves |= dict(zip(_motions(flange), _flange_rows(c, flange), strict=True))
    robot = _with_motions(_with_motions(robot, BASE), flange)
    names = (*c.names, *(n for n in moves if n not in c.names))
    rows = np.eye(len(names), len(covariance))
    rows[len(c.names) :] = 0.0
    for name, row in moves.items():  # a frame may have errors of its own: these are moved, whatever its name
        rows[names.index(name)] += row
    return robot, names, rows @ covariance @ rows.T


def _motions(frame: str) -> list[str]:
    return [f"{frame}.{a}" for a in AXES]


def _with_motions(robot: Robot, frame: str) -> Robot:
    """The robot with errors of a frame along and about all axes; those that it lacks are of no size."""
    lacking: dict[str, Any] = {a: 0.0 for a in AXES if f"{frame}.{a}" not in robot.parameters.names}
    return robot.with_elements(FrameError(frame=frame, **lacking)) if lacking else robot


def skew(vector: Array) -> Array:
    """(3, 3): ``skew(a) @ b`` is a x b."""
    return np.asarray(cross_matrices(vector[:, None])[:, :, 0])


def _base_rows(c: Calibration) -> Array:
    """(6, unknowns): error of the base by that of the first station."""
    out, first = np.zeros((6, len(c.covariance))), len(c.names)
    back = c.placing.turn[0].T
    out[:3, first : first + 3] = back
    out[:3, first + 3 : first + 6] = -back @ skew(c.placing.shift[0] - c.placing.centres[0])
    out[3:, first + 3 : first + 6] = back
    return out


def _flange_rows(c: Calibration, flange: str) -> Array:
    """(6, unknowns): error of the flange by those of markers, and of the tool's turn where that was read."""
    spots, extra = c.placing.markers, np.zeros((6, len(c.covariance)))
    count, first = len(spots), len(c.names) + 6 * len(c.stations)
    centre = spots.mean(axis=0)
    mean = np.tile(np.eye(3) / count, (1, count))
    turn = np.zeros((3, 3 * count))
    last = first + 3 * count
    if "orientation" in c.noise:
        extra[3:, last : last + 3] = c.placing.tool_turn
    elif count >= 3 and np.linalg.svd(spots - centre, compute_uv=False)[1] > SPREAD:
        lever = np.concatenate([-skew(m - centre) for m in spots])  # dm = a + b x (m - centre)
        turn = np.linalg.pinv(lever) @ (np.eye(3 * count) - np.tile(mean, (count, 1)))
    extra[3:, first:last] = turn
    extra[:3, first:last] = mean
    extra[:3] += skew(centre) @ extra[3:]  # at the tool's origin: a - b x centre
    at = kinematics(c.nominal, np.zeros((1, c.robot.n)))
    hand = kinematics(c.nominal, np.zeros((1, c.robot.n)), flange)
    turned = hand.rotation[0].T @ at.rotation[0]
    arm = hand.rotation[0].T @ (at.position - hand.position)[0]
    out = np.empty_like(extra)
    out[3:] = turned @ extra[3:]
    out[:3] = turned @ extra[:3] + skew(arm) @ out[3:]  # v at the flange: v_tool - w x arm
    return out


@dataclass(frozen=True, eq=False)
class Compliances:
    """Compliances that a campaign knows and the chosen model does not have: their covariance about their values."""

    names: tuple[str, ...]
    covariance: Array


def compliances_of(ladder: Ladder, loaded: bool) -> Compliances | None:
    """By the smallest model of a loaded campaign that has them, where the chosen one has none; None if none has."""
    able = [r for r in ladder.rungs if "compliance" in r.words and r.fitted is not None and r.fit.converged]
    if not loaded or not able or "compliance" in ladder.chosen.words:
        return None
    fit = min(able, key=lambda r: (len(r.words), r.loo)).fit
    own = np.flatnonzero(fit.task.logs)
    away = (fit.values - fit.task.file_values)[own]
    names = tuple(fit.task.names[i] for i in own)
    return Compliances(names, fit.covariance[np.ix_(own, own)] + away * away[:, None])


def under_load(c: Calibration) -> tuple[Calibration, tuple[Finding, ...]]:
    """The same calibration with compliances that its model does not have as parameters, as far as they are known."""
    bends = any(np.any(e.compliance()) for e in c.robot.coordinates)
    robot = c.robot if bends else c.robot.with_joint_compliance()
    names, covariance = compliance_priors(robot, c.names)
    if not names:
        return c, ()
    if c.compliances is not None:
        names, covariance = c.compliances.names, c.compliances.covariance
    uncalibrated = c.uncalibrated if bends else c.uncalibrated.with_joint_compliance()
    own, every = len(c.names), [len(c.names)] * len(names)
    wide = np.insert(np.insert(c.covariance, every, 0.0, axis=0), every, 0.0, axis=1)
    wide[own : own + len(names), own : own + len(names)] = covariance
    wider = replace(
        c,
        robot=robot,
        uncalibrated=uncalibrated,
        names=(*c.names, *names),
        covariance=wide,
        compliances=None,
    )
    return wider, (_load_finding(c, bends, names),)


def _load_finding(c: Calibration, bends: bool, names: tuple[str, ...]) -> Finding:
    source = "those of the robot file" if bends else "assumed by the size of the robot"
    data = {"assumed": not bends, "parameters": list(names)}
    if c.compliances is not None:
        text = f"the compliances are {source}, which predict no worse than estimates; the interval is by the readings"
        return Finding("unchanged-compliance", "note", text, data)
    if np.any(c.residuals.wrench):
        text = f"compliances were not estimated: they are {source}, and the interval is that of their prior"
        return Finding("compliance-not-estimated", "warning", text, data)
    text = f"no load was measured: the compliances are {source}, and the interval is that of their prior"
    return Finding("prior-compliance", "warning", text, data)

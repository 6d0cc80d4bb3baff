"""A calibration whose model has no compliances, asked about a load.

Where no load was measured nothing is known of them but the robot file, or the size of the robot: they enter with the
prior that a loaded campaign would have started from, so that the intervals of loaded predictions say how little that
is; and a warning says so first.  Where a loaded campaign was fitted with compliances and the robot as it was predicts
no worse, they keep their values x_0, and are known as well as that fit knows them: with its estimate x and covariance C

    C_0 = C + (x - x_0)(x - x_0)^T                                                                       (not moved)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from elastocal.calibration.ladder import Ladder
from elastocal.calibration.words import compliance_priors
from elastocal.findings import Finding
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration


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
    wider = replace(
        c,
        robot=robot,
        uncalibrated=uncalibrated,
        names=(*c.names, *names),
        covariance=_inserted(c.covariance, len(c.names), covariance),
        compliances=None,
    )
    return wider, (_finding(c, bends, names),)


def _finding(c: Calibration, bends: bool, names: tuple[str, ...]) -> Finding:
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


def _inserted(covariance: Array, at: int, block: Array) -> Array:
    """A covariance with an independent block put in at a place."""
    n, k = len(covariance), len(block)
    place = np.concatenate([np.arange(at), np.arange(at + k, n + k)])
    out = np.zeros((n + k, n + k))
    out[np.ix_(place, place)] = covariance
    out[at : at + k, at : at + k] = block
    return out

"""A calibration that saw no load, asked about one: compliances come from the robot file, or from the size of the robot.

Nothing was measured of them.  They enter with the prior that a loaded campaign would have started from, so that the
intervals of loaded predictions say how little is known; and a warning says so first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from elastocal.calibration.words import compliance_priors
from elastocal.findings import Finding
from elastocal.spatial.entries import Array

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration


def under_load(c: Calibration) -> tuple[Calibration, tuple[Finding, ...]]:
    """The same calibration with compliances that were not estimated as parameters of their prior."""
    bends = any(np.any(e.compliance()) for e in c.robot.coordinates)
    robot = c.robot if bends else c.robot.with_joint_compliance()
    names, prior = compliance_priors(robot, c.names)
    if not names:
        return c, ()
    source = "those of the robot file" if bends else "assumed by the size of the robot"
    text = f"no load was measured: the compliances are {source}, and the interval is that of their prior"
    finding = Finding("prior-compliance", "warning", text, {"assumed": not bends, "parameters": list(names)})
    uncalibrated = c.uncalibrated if bends else c.uncalibrated.with_joint_compliance()
    own = len(c.names)
    wider = replace(
        c,
        robot=robot,
        uncalibrated=uncalibrated,
        names=(*c.names, *names),
        covariance=_inserted(c.covariance, own, prior),
    )
    return wider, (finding,)


def _inserted(covariance: Array, at: int, block: Array) -> Array:
    """A covariance with an independent block put in at a place."""
    n, k = len(covariance), len(block)
    place = np.concatenate([np.arange(at), np.arange(at + k, n + k)])
    out = np.zeros((n + k, n + k))
    out[np.ix_(place, place)] = covariance
    out[at : at + k, at : at + k] = block
    return out

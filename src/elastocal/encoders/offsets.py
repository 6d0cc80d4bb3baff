"""Whether counts are zero where the joints are: a test of all offsets of the joint relation at once.

With o the offsets of a block and C their covariance, the sum of o^T C^-1 o over all blocks, divided by their number,
follows F on that number and the spare equations if all of them are zero.  Offsets that pass are set to zero, which
makes every ratio about twice as accurate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.encoders.fit import SystemFit

LEVEL = 0.05


@dataclass(frozen=True)
class ZeroTest:
    """F and its probability (None where it was not tested), and whether offsets are taken as zero."""

    statistic: float | None
    probability: float | None
    accepted: bool


def offsets_are_zero(fit: SystemFit) -> ZeroTest:
    """The test, by a fit with free offsets."""
    from scipy.special import fdtrc

    total, count = 0.0, 0
    for b in fit.blocks:
        at = slice(len(b.block.inputs), None)
        o, c = b.beta[at], b.covariance[at, at]
        if b.block.relation == "joint" and len(o):
            total += float(o @ np.linalg.pinv(c, hermitian=True) @ o)
            count += int(np.linalg.matrix_rank(c, hermitian=True))
    spare = float(
        np.sum([n for n, (_, relation) in zip(fit.spare, fit.system.levels, strict=True) if relation == "joint"])
    )
    if count == 0 or spare < 0.5:
        return ZeroTest(None, None, False)
    value = total / count
    probability = float(fdtrc(count, spare, value))
    return ZeroTest(value, probability, probability > LEVEL)

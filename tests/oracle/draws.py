"""How often a test draws at random: few times in ``make test``, many times in ``make proof``.

Bounds are made of the number of draws, so that the same test holds for few and for many: a right program passes either
way, and a smaller error is seen by more draws.
"""

from __future__ import annotations

import math
import os

PROOF = bool(os.environ.get("ELASTOCAL_PROOF"))
SIGMAS = 4.5
"""Standard deviations of a mean of draws that a right program may be away: once in 150 000 numbers."""


def draws(few: int, many: int) -> int:
    return many if PROOF else few


def spread_of_share(share: float, count: int, sigmas: float = SIGMAS) -> float:
    """How far from ``share`` the share of hits among ``count`` independent draws may be."""
    return sigmas * math.sqrt(share * (1 - share) / count)

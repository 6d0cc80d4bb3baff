"""Scales of priors and of noise by maximum evidence.

EM steps first, s_g^2 <- (|theta_g - m_g|^2 + tr H^-1_gg) / n_g, which never kill a group at once; then quasi-Newton
steps of the logarithms from the point reached and from one where the scales of the priors are ten times larger; then
every group that ended far below its start is tried again at several sizes, since a group that shrank early cannot come
back.
"""

from __future__ import annotations

import numpy as np

from elastocal.solve.blocks import Blocks
from elastocal.solve.evidence import Evidence, Posterior, evidence, evidence_at, evidence_of_group, posterior
from elastocal.spatial.entries import Array, Bools, Ints

RANGE = np.log(1e5)
"""How far a scale may leave its start value, as a logarithm."""


LEAST_NOISE = np.log(1e3)
"""How far the scale of a noise may fall: readings without any noise would make the problem singular."""


STEPS, LONGEST = 100, 2.0
"""Steps of a climb, and the longest of a logarithm."""
REVIVED = (0.003, 0.02, 0.1, 0.3, 3.0, 30.0)
"""Multiples of its start at which a group that has shrunk is tried again."""
GAIN, ROUGHLY = 1e-5, 1e-2
"""Evidence that a further step may bring where a climb ends, and where its scales only serve a search or a judgement:
noise is then known to a part of a percent of what it is known by."""
STEEP = 10.0
"""Multiple of the curvature at hand beyond which a step shows that it began far off."""
LEAST_CURVED = 0.05
"""Added to the curvature of every scale: the evidence of a group at nothing is flat."""


def maximise_evidence(
    blocks: Blocks,
    start: Array | None = None,
    *,
    revive: bool = True,
    fresh: Bools | None = None,
    gain: float = GAIN,
) -> tuple[Array, float]:
    """Logarithms of all scales at the largest evidence found, and that evidence (hyperprior included)."""
    best = largest_evidence(blocks, start, revive=revive, fresh=fresh, gain=gain)
    return best.log_scales, best.value


def largest_evidence(
    blocks: Blocks,
    start: Array | None = None,
    *,
    revive: bool = True,
    fresh: Bools | None = None,
    gain: float = GAIN,
    known: Posterior | None = None,
) -> Evidence:
    """The largest evidence found.

    From ``start`` the scales are near; those that are ``fresh`` were never fitted (all of them without a start).  It
    ends where a further step would bring less than ``gain``.  ``known`` is what is solved at the start already, perhaps
    with other priors.
    """
    begin = blocks.start if start is None else start
    if not blocks.free.any():
        return _known_at(blocks, begin, known)
    groups = np.arange(len(blocks.scales)) < len(blocks.groups)
    new = blocks.free & (start is None if fresh is None else fresh)
    if new.any():
        warm = _em(blocks, begin, 6)
        best = _climb(blocks, warm, gain)
    else:
        warm, best = begin, _climb(blocks, begin, gain, _known_at(blocks, begin, known))
    if not revive:
        return best
    if (new & groups).any():
        wider = np.where(new & groups, warm + np.log(10.0), warm)
        best = _larger(best, _climb(blocks, wider, gain))
    for i in np.flatnonzero(blocks.free & groups).tolist():
        if best.log_scales[i] < blocks.start[i] + np.log(0.05):
            best = _revived(best, i, gain)
    return best


def _known_at(blocks: Blocks, log_scales: Array, known: Posterior | None) -> Evidence:
    if known is None:
        return evidence(blocks, log_scales)
    return evidence_at(known if known.blocks is blocks else posterior(blocks, log_scales, known))


def _larger(one: Evidence, other: Evidence) -> Evidence:
    return max(one, other, key=lambda found: found.value)


def _revived(best: Evidence, group: int, gain: float) -> Evidence:
    """The best again with one group tried at other sizes; climbed from only where that alone is an improvement."""
    blocks = best.blocks
    sizes = blocks.start[group] + np.log(REVIVED)
    trials = np.repeat(best.log_scales[None], len(sizes), axis=0)
    trials[:, group] = sizes
    values = evidence_of_group(best.posterior, group, sizes)
    values += [blocks.log_penalty(trial)[0] for trial in trials]
    j = int(np.flatnonzero(values == values.max())[-1])
    if values[j] <= best.value + 1e-6:
        return best
    return _larger(best, _climb(blocks, trials[j], gain))


def _em(blocks: Blocks, log_scales: Array, steps: int) -> Array:
    """EM of the groups' scales, and the same fixed point for those of the noise, damped."""
    at, sizes = log_scales.copy(), _sizes(blocks)
    for _ in range(steps):
        gradient = evidence(blocks, at).gradient
        at = np.where(
            blocks.free, at + np.clip(0.5 * np.log(np.maximum(1 + 2 * gradient / sizes, 0.05)), -1.0, 1.0), at
        )
    return at


def _sizes(blocks: Blocks) -> Array:
    """Twice the number of unknowns of every group, and of readings for every part of the noise."""
    own = [2.0 * len(g.columns) for g in blocks.groups]
    return np.array(own + [2.0 * blocks.count / len(blocks.noise)] * len(blocks.noise))


def _climb(blocks: Blocks, start: Array, gain: float, known: Evidence | None = None) -> Evidence:
    """To the nearest maximum: quasi-Newton steps (BFGS) whose first curvature is that expected at the start.

    Where noise is far too small the evidence is far steeper than that, and steps by such curvatures would be short for
    good: nothing is learned from it, and where no gain is seen the curvature expected there must not see one either.
    """
    free, noise = np.flatnonzero(blocks.free), np.arange(len(start)) >= len(blocks.groups)
    low = (blocks.start - np.where(noise, LEAST_NOISE, RANGE))[free]
    high = (blocks.start + RANGE)[free]

    def full(part: Array) -> Array:
        out = start.copy()
        out[free] = part
        return out

    def look(part: Array) -> Evidence | None:
        try:
            return evidence(blocks, full(part))
        except np.linalg.LinAlgError:
            return None

    at = np.clip(start[free], low, high)
    here = evidence(blocks, full(at)) if known is None or (at != start[free]).any() else known
    curved, learned = _curvature(here, free), False
    for _ in range(STEPS):
        slope = here.gradient[free]
        step = _newton_step(curved, slope, (at <= low) & (slope < 0) | (at >= high) & (slope > 0))
        if not 0.5 * float(slope @ step) > gain:
            if not learned:
                break
            curved, learned = _curvature(here, free), False
            continue
        step *= min(1.0, LONGEST / float(np.abs(step).max()))
        share, there = 1.0, np.clip(at + step, low, high)
        ahead = look(there)
        while share > 1e-4 and (ahead is None or ahead.value < here.value + 1e-4 * float(slope @ (there - at))):
            share *= 0.3
            there = np.clip(at + share * step, low, high)
            ahead = look(there)
        if ahead is None or not ahead.value > here.value:
            break
        moved, fall, pushed = there - at, slope - ahead.gradient[free], curved @ (there - at)
        at, here = there, ahead
        steeper = float(moved @ fall) / float(moved @ pushed)
        if steeper > STEEP:
            curved, learned = _curvature(here, free), False
        elif steeper > 1e-3:
            curved = curved + np.outer(fall, fall) / (moved @ fall) - np.outer(pushed, pushed) / (moved @ pushed)
            learned = True
    return here


def _curvature(here: Evidence, free: Ints) -> Array:
    """What the evidence is expected to curve by, its hyperprior too; never nothing."""
    own = (here.information + here.blocks.penalty[0])[np.ix_(free, free)]
    own[np.diag_indices(len(free))] += LEAST_CURVED
    return own


def _newton_step(curved: Array, slope: Array, held: Bools) -> Array:
    out, on = np.zeros(len(slope)), np.flatnonzero(~held)
    out[on] = np.linalg.solve(curved[np.ix_(on, on)], slope[on])
    return out

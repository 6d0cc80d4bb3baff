"""Following an equilibrium from no load to full load, for the few configurations where Newton alone misleads.

First the robot's own loads grow (all compliances scaled from 0 to 1, which is the same as scaling the loads), then
the external ones.  Each step starts from the last.  A configuration is lost where no equilibrium is found near the
last one, where the determinant of I - k D has changed its sign, or where a joint or link would bend by more than a
radian.  In the last two cases the arm gives way.  In the first it does where the tangent is about to become singular
(a turning point of the path); elsewhere the search has failed and the load factor is unknown.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics import stability
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.newton import States, newton_equilibrium
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

STEPS = 48
FINER = 32
TURNING = 0.05  # a critical factor this close above the share reached: the path turns back there
LARGEST_BEND = 1.0  # rad: what bends farther has given way, whatever holds it there
_DENSE = 256


@dataclass(frozen=True, eq=False)
class Path:
    """Where the path ended: state and forces, whether it reached full load, whether the arm gave way, the load factor.

    Neither reached nor gave way: the search failed, the factor is nan.
    """

    theta: Array
    force: Array
    reached: Bools
    gave_way: Bools
    factor: Array


def trace(states: States) -> Path:
    """Follow every configuration from theta without load, in pieces."""
    total = states.size
    pieces = [np.arange(a, min(a + _DENSE, total)) for a in range(0, total, _DENSE)]
    parts = [_trace(states.take(rows)) for rows in pieces]
    return Path(
        np.concatenate([p.theta for p in parts], axis=1),
        np.concatenate([p.force for p in parts], axis=1),
        np.concatenate([p.reached for p in parts]),
        np.concatenate([p.gave_way for p in parts]),
        np.concatenate([p.factor for p in parts]),
    )


def _trace(batch: States) -> Path:
    flex, size = batch.flex, batch.size
    theta, force = batch.posture.start(flex.dofs), np.zeros((flex.n, size))
    alive, gave_way = np.ones(size, dtype=bool), np.zeros(size, dtype=bool)
    for scale in np.linspace(0, 1, STEPS + 1)[1:]:
        _advance(flex.scaled(scale), batch, 0.0, theta, force, alive, gave_way)
    stood = alive.copy()
    share = np.zeros(size)
    for part in np.linspace(0, 1, STEPS + 1)[1:]:
        before = alive.copy()
        _advance(flex, batch, part, theta, force, alive, gave_way)
        share[alive] = part
        fell = before & ~alive
        if fell.any():  # a sharp bend of the path looks like its end: take it in small steps
            alive[fell], gave_way[fell] = True, False
            for finer in np.linspace(part - 1 / STEPS, part, FINER + 1)[1:]:
                _advance(flex, batch, float(finer), theta, force, alive, gave_way, fell)
                share[alive & fell] = finer
    factor = np.zeros(size)  # gave way under its own loads: no external load at all can be borne
    if stood.any():
        factor[stood] = _critical(flex, batch.take(stood), theta[:, stood], share[stood])
    fell = stood & ~alive
    gave_way |= fell & (factor <= share + TURNING)
    gave_way |= alive & (factor <= 1.0)
    factor[fell] = np.clip(factor[fell], share[fell], share[fell] + 1 / (STEPS * FINER))
    factor[~alive & ~gave_way] = np.nan
    return Path(theta, force, alive & ~gave_way, gave_way, factor)


def _advance(
    flex: Flexibility,
    batch: States,
    share: float,
    theta: Array,
    force: Array,
    alive: Bools,
    gave_way: Bools,
    only: Bools | None = None,
) -> None:
    """One step of the path for the configurations still alive (and in ``only``); updates the arrays in place."""
    rows = np.flatnonzero(alive if only is None else alive & only)
    if not len(rows):
        return
    some = batch.take(rows)
    push = tuple(AppliedWrenches(w.frame, share * w.wrench, w.follows) for w in some.applied)
    last = States(flex, some.posture, push, theta[:, rows])
    ahead, now, _, done = newton_equilibrium(last)
    bend = np.abs(ahead - some.posture.unloaded(flex.dofs))[flex.rotates]
    firm = np.all(bend <= LARGEST_BEND, axis=0) & (_sign(replace(last, theta=ahead)) > 0)
    held = done & firm
    theta[:, rows[held]], force[:, rows[held]] = ahead[:, held], now[:, held]
    alive[rows[~held]] = False
    gave_way[rows[done & ~firm]] = True


def _sign(states: States) -> Array:
    """Sign of the determinant of I - (k + backlash') D (N,)."""
    k = states.flex.compliance[:, :, None] + states.backlash[1]
    tangent = np.eye(states.flex.n)[:, :, None] - np.einsum("ijn,jkn->ikn", k, states.forces.dense())
    return np.asarray(np.linalg.slogdet(np.moveaxis(tangent, -1, 0))[0])


def _critical(flex: Flexibility, batch: States, theta: Array, share: Array) -> Array:
    """Multiple of the full external load (N,) at which the tangent at these states becomes singular."""
    part = np.where(share > 0, share, 1.0)
    push = [AppliedWrenches(w.frame, part[:, None] * w.wrench, w.follows) for w in batch.applied]
    own, external = stability.split_forces(flex, batch.posture, theta, push)
    k = flex.compliance[:, :, None] + flex.backlash(own.q + external.q)[1]
    bent = [np.einsum("ijn,jkn->ikn", k, f.dense()) for f in (own, external)]
    return np.asarray(part * stability.critical_factor(bent[0], bent[1]))

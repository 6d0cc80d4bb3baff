"""Solve (I - k D) x = r along the chain in linear time.

D is semiseparable (see ``forces``): with the displacement xi_b accumulated up to block b and the change of
wrench eta_b beyond it,

    xi_b  = xi_{b-1} + J_b x_b
    eta_b = eta_{b+1} + G_b x_b
    (D x)_b = J_b^T eta_{b+1} + D_bb x_b + H_b^T xi_{b-1}.

Going inwards, eta_{b+1} = P xi_b + p is kept as a linear law (a Riccati step per block); going outwards
x follows.  A block is a set of coordinates that k couples: one joint, or the six of a link.

Dead loads change moments only.  Then eta is a pure moment, P has three rows, and only coordinates that
rotate feel it: with A the rows of the rotating coordinates, the block's system x = c + k_A y, y = M x has
the size of y (three for a link).  Following loads use the full size; the code is the same.

Where few coordinates bend, or columns are wanted at few configurations, D is written out instead and the system solved
as it stands, which costs fewer calls.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import Forces
from elastocal.spatial import batch
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

FEW = 8
"""Bending coordinates up to which the matrix is written out, and twice as many coordinates in all."""
AT_ONCE = 16
"""Configurations whose matrices are written out together: they stay in cache."""
MANY = 200
"""Configurations from which on the chain is walked for columns: a walk takes as long as solving for so many."""


@dataclass(frozen=True, eq=False)
class _Block:
    where: slice
    feels: slice
    response: Array
    offset: Array
    own: Array
    fore: Array
    wrench: Array


def solve(flex: Flexibility, forces: Forces, rhs: Array, backlash: Array | None = None) -> tuple[Array, Array]:
    """x and D x, both (n, r, N), for right-hand sides (n, r, N); ``backlash`` (n, n, N) adds to k."""
    with np.errstate(all="ignore"):  # a lost configuration turns to nan and is reported by its status
        if len(flex.bending) <= FEW and flex.n <= 2 * FEW:
            return _written_out(flex, forces, rhs, backlash)
        return _outwards(forces, rhs, _inwards(flex, forces, rhs, backlash))


def transposed(flex: Flexibility, forces: Forces, rhs: Array, backlash: Array | None = None) -> tuple[Array, Array]:
    """y = (I - k D)^-T b and z = k^T y: y = b + D^T z with (I - k^T D^T) z = k^T b, and D^T is D, G and H exchanged."""
    if rhs.shape[2] < MANY:
        try:
            return _few_transposed(flex, forces, rhs, backlash)
        except np.linalg.LinAlgError:  # one of them is about to give way: the others have columns
            pass
    swapped = Forces(forces.q, forces.screws, forces.h, forces.g, forces.axis)
    turned = flex.transposed()
    bends = flex.bending
    if len(bends) == flex.n:
        return _by_walk(turned, swapped, rhs, None if backlash is None else np.swapaxes(backlash, 0, 1))
    y, z = rhs.copy(), np.zeros_like(rhs)
    if len(bends):
        own = None if backlash is None else np.swapaxes(backlash, 0, 1)[np.ix_(bends, bends)]
        y[bends], z[bends] = _by_walk(turned.bending_alone, swapped.take(bends), rhs[bends], own)
        _add_felt(y, z, swapped, flex)
    return y, z


def _by_walk(flex: Flexibility, forces: Forces, rhs: Array, backlash: Array | None) -> tuple[Array, Array]:
    """y = b + D z and z = k y."""
    first = flex.linear(rhs)
    if backlash is not None:
        flex.add_backlash(first, backlash, rhs)
    z, felt = solve(flex, forces, first, backlash)
    return rhs + felt, z


def _add_felt(out: Array, x: Array, forces: Forces, flex: Flexibility) -> None:
    """Add D x to the coordinates (n, r, N) that do not bend, where x is zero: by what lies within and beyond them."""
    turns = forces.screws[forces.top :]
    edges = np.flatnonzero(np.diff(np.isin(np.arange(flex.n), flex.bending))) + 1
    runs = [slice(int(a), int(b)) for a, b in pairwise([0, *edges, flex.n])]
    bends = [run.start in flex.bending for run in runs]
    eta = [batch.matmul(forces.g[:, run], x[run]) if b else None for run, b in zip(runs, bends, strict=True)]
    beyond, within = np.zeros((2, len(turns), *x.shape[1:]))
    for push in eta:
        beyond += 0.0 if push is None else push
    for run, push in zip(runs, eta, strict=True):
        if push is None:
            out[run] += batch.matmul_t(turns[:, run], beyond) + batch.matmul_t(forces.h[:, run], within)
        else:
            beyond -= push
            within += batch.matmul(turns[:, run], x[run])


def _few_transposed(flex: Flexibility, forces: Forces, rhs: Array, backlash: Array | None) -> tuple[Array, Array]:
    """The same with all matrices in full, configurations first: only what bends is solved for."""
    bends, y, z = flex.bending, np.empty_like(rhs), np.zeros_like(rhs)
    if not len(bends):
        return rhs, z
    own = bends if len(bends) < flex.n else slice(None)
    inner, one = bends <= np.arange(flex.n)[:, None], np.arange(len(bends))
    for first in range(0, rhs.shape[2], AT_ONCE):
        some = slice(first, first + AT_ONCE)
        moves, g, h = (
            a[..., some].transpose(2, 1, 0).copy() for a in (forces.screws[forces.top :], forces.g, forces.h)
        )
        felt = np.where(inner, g @ moves[:, own].swapaxes(1, 2), moves @ h[:, own].swapaxes(1, 2))  # D^T
        felt[:, bends, one] += forces.axis[own, some].T
        soft = flex.bending_compliance.T
        if backlash is not None:
            soft = np.repeat(soft[None], len(felt), axis=0)
            for _, at in flex.backlashes:
                b, whole = slice(*np.searchsorted(bends, (at[0], at[-1] + 1))), slice(at[0], at[-1] + 1)
                soft[:, b, b] += backlash[whole, whole, some].transpose(2, 1, 0)
        still = felt[:, own] @ soft
        still[:, one, one] -= 1.0
        aim = rhs[:, :, some].transpose(2, 0, 1)
        bent = soft @ -np.linalg.solve(still, aim[:, own])
        y[:, :, some] = (aim + felt @ bent).transpose(1, 2, 0)
        z[own, :, some] = bent.transpose(1, 2, 0)
    return y, z


def _written_out(flex: Flexibility, forces: Forces, rhs: Array, backlash: Array | None) -> tuple[Array, Array]:
    """The same by elimination; coordinates that do not bend keep their right-hand side."""
    d, bends, x = forces.dense(), flex.bending, rhs.copy()
    if len(bends):
        k = flex.bending_compliance
        k = k if backlash is None else k[:, :, None] + backlash[np.ix_(bends, bends)]
        felt = d[bends]
        still = np.eye(len(bends))[:, :, None] - batch.matmul_any(k, felt[:, bends])
        pushed = rhs[bends]
        if len(bends) < flex.n:
            x[bends] = 0.0
            pushed = pushed + batch.matmul_any(k, batch.matmul(felt, x))
        x[bends] = batch.eliminate_unpivoted(still, pushed)
    return x, batch.matmul(d, x)


def _inwards(flex: Flexibility, forces: Forces, rhs: Array, backlash: Array | None) -> list[_Block]:
    top = forces.top
    columns, size = rhs.shape[1], rhs.shape[2]
    law = np.zeros((6 - top, 6 + columns, size))
    out: list[_Block] = []
    for b in reversed(flex.blocks):
        d = b.stop - b.start
        feels = slice(0, d) if top == 0 or forces.axis[b].any() else flex.rotating(b)
        reach = forces.screws[top:, b][:, feels]
        carried = batch.matmul(law[:, :6], forces.screws[:, b])
        push = carried + forces.g[:, b]
        own = _own(carried, push, forces, b, feels)
        driven = np.zeros((d, 6 + columns, size)) if feels != slice(0, d) else np.empty((d, 6 + columns, size))
        driven[feels] = batch.matmul_t(reach, law)
        wrench = driven[:, 6:].copy()
        driven[:, top:6] += np.swapaxes(forces.h[:, b], 0, 1)
        bent = flex.bend(b, driven, backlash)
        bent[:, 6:] += rhs[b]
        k_feels = flex.bend_columns(b, feels, backlash)
        still = np.eye(len(own))[:, :, None] - batch.matmul_any(own, k_feels)
        solved = bent
        if len(own):
            solved = bent + batch.matmul_any(k_feels, batch.eliminate_unpivoted(still, batch.matmul(own, bent)))
        law = law + batch.matmul(push, solved)
        out.append(_Block(b, feels, solved[:, :6], solved[:, 6:], own, driven[:, :6], wrench))
    return out[::-1]


def _outwards(forces: Forces, rhs: Array, blocks: list[_Block]) -> tuple[Array, Array]:
    x, change = np.empty_like(rhs), np.empty_like(rhs)
    xi = np.zeros((6, rhs.shape[1], rhs.shape[2]))
    for block in blocks:
        b = block.where
        x[b] = batch.matmul(block.response, xi) + block.offset
        part = batch.matmul(block.fore, xi) + block.wrench
        part[block.feels] += batch.matmul(block.own, x[b])
        change[b] = part
        xi = xi + batch.matmul(forces.screws[:, b], x[b])
    return x, change


def _own(carried: Array, push: Array, forces: Forces, b: slice, feels: slice) -> Array:
    """Rows ``feels`` of D_bb + J_b^T P J_b: G on and above the diagonal, H below."""
    d = b.stop - b.start
    screws = forces.screws[forces.top :, b]
    out = batch.matmul_t(screws[:, feels], push)
    if d > 1:
        lower = batch.matmul_t(screws[:, feels], carried) + batch.matmul_t(forces.h[:, b][:, feels], screws)
        below = np.tri(d, k=-1, dtype=bool)[feels, :, None]
        out = np.where(below, lower, out)
    diagonal = np.arange(d)[feels]
    out[diagonal - feels.start, diagonal] += forces.axis[b][feels]
    return out

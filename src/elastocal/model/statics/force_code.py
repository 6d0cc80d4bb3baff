"""Forces of all loads, written out for one chain: on numbers, or on symbols, once, as straight-line code.

Joint motions, wrenches, masses, gravity and compliances are inputs of the code, so that one serves a whole fit; what is
exactly zero is left out.  A load that does not run on symbols, as one from another package may not, is worked out on
numbers every time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.model import straight_line
from elastocal.model.chain import Chain, ChainState
from elastocal.model.loads.resultant import Resultant
from elastocal.model.loads.wrench import AppliedWrenches, at_frame
from elastocal.spatial import entries as en
from elastocal.spatial.entries import ORIGIN, Array, Entry
from elastocal.spatial.tape import Code

if TYPE_CHECKING:
    from elastocal.model.elements import Load
    from elastocal.model.robot import Robot
    from elastocal.model.statics.flexibility import Flexibility

LATER = 6
"""Uses after which a code is made: making it takes as long as some ten."""
Placed = tuple[int, Resultant]
"""The number of degrees of freedom that a wrench is felt by, and the wrench."""


@dataclass(frozen=True)
class Loading:
    """What the code depends on: where forces are wanted, what pushes there, and which of its numbers are not zero."""

    dofs: tuple[int, ...]
    loads: tuple[tuple[Load, tuple[bool, ...]], ...]
    gravity: tuple[bool, ...]
    applied: tuple[tuple[str, bool, tuple[bool, ...]], ...]
    compliance: tuple[tuple[int, int], ...]
    tangent: bool


def force_rows(
    flex: Flexibility,
    model: Robot,
    applied: Sequence[AppliedWrenches],
    values: Sequence[Entry],
    size: int,
    tangent: bool = False,
) -> Array:
    """Rows of Q and k Q (2 n, N) at values of all degrees of freedom; with ``tangent`` Q, screws, G and H instead."""
    chain = model.chain
    loads, numbers = model.load_values
    gravity: list[float] = model.gravity.tolist()
    sixes = [w.entries for w in applied]
    k = () if tangent else flex.nonzeros
    what = Loading(
        flex.dofs,
        loads,
        tuple(g != 0 for g in gravity),
        tuple((w.frame, w.follows, tuple(map(_there, six))) for w, six in zip(applied, sixes, strict=True)),
        tuple((i, j) for i, j, _ in k),
        tangent,
    )
    made = chain.code(code, chain.pattern(values), what, soon=size > 1000, after=LATER)
    if made is None:
        state = ChainState(chain, size, *chain.run(chain.inputs(values), flex.dofs))
        own = [(f, r) for load in model.loads for f, r in load.resultants(state, model.gravity)]
        own += [(w.frame, at_frame(state, w.frame, six, w.follows)) for w, six in zip(applied, sixes, strict=True)]
        return en.dense(_results(flex.dofs, state, own, k, tangent), size)
    rows = [*straight_line.moved(values), *(e for six in sixes for e in six if _there(e))]
    out = np.empty((made.results, size))
    made(out, rows, [*(g for g in gravity if g), *numbers, *(c for _, _, c in k)])
    return out


def _there(entry: Entry) -> bool:
    return not isinstance(entry, float)


def code(chain: Chain, moves: straight_line.Pattern, what: Loading) -> Code | None:
    """The same from motions, components of wrenches and numbers; None where a load does not run on symbols."""
    tape, inputs = straight_line.symbols(moves)
    rows, numbers = straight_line.rows(moves), list[str]()

    def number(there: bool = True) -> Any:
        if not there:
            return 0.0
        numbers.append(f"p{len(numbers)}")
        return tape.variable(numbers[-1])

    def component(there: bool) -> Any:
        if not there:
            return 0.0
        rows.append((f"w{len(rows)}",))
        return tape.variable(rows[-1][0])

    gravity: Any = [number(there) for there in what.gravity]
    state = ChainState(chain, 1, *chain.run(inputs, what.dofs))
    acting: list[tuple[str, Resultant]] = []
    try:
        for load, there in what.loads:
            acting += load.with_values([number(t) for t in there]).resultants(state, gravity)
    except TypeError:
        return None
    for frame, follows, given in what.applied:
        acting.append((frame, at_frame(state, frame, [component(t) for t in given], follows)))
    k = [(i, j, number()) for i, j in what.compliance]
    return tape.kernel(_results(what.dofs, state, acting, k, what.tangent), rows, numbers)


def _results(
    dofs: tuple[int, ...],
    state: ChainState,
    acting: Sequence[tuple[str, Resultant]],
    k: Sequence[tuple[int, int, Any]],
    tangent: bool,
) -> list[Any]:
    """Q and k Q; or Q, screws, G and, where it is another, H: by component, then by coordinate."""
    felt = list(_felt(dofs, [(state.chain.level(frame), r) for frame, r in acting]))
    q: list[Any] = []
    for dof, total in zip(dofs, felt, strict=True):
        screw = state.screws[dof]
        assert screw is not None
        force, moment = total.wrench()
        about = force if screw.point is None else en.minus(moment, en.cross(screw.point, force))
        q.append(en.dot(screw.axis, about))
    if not tangent:
        bend: list[Any] = [0.0] * len(q)
        for i, j, c in k:
            bend[i] = en.add(bend[i], en.mul(c, q[j]))
        return [*q, *bend]
    screws = list(state.twists_at(ORIGIN, dofs))
    first, same = 0 if any(r.follows for _, r in acting) else 3, all(r.potential for _, r in acting)
    both = [total.tangents(screw) for total, screw in zip(felt, screws, strict=True)]
    columns = [screws, [g[first:] for g, _ in both], [] if same else [h[first:] for _, h in both]]
    return [*q, *(column[a] for part in columns if part for a in range(len(part[0])) for column in part)]


def _felt(dofs: Sequence[int], placed: Sequence[Placed]) -> Iterator[Resultant]:
    """Sum of the wrenches that each degree of freedom feels; the outermost are added first."""
    order = sorted(placed, key=lambda p: -p[0])
    out: list[Resultant] = []
    total = Resultant()
    for dof in reversed(dofs):
        while order and order[0][0] > dof:
            total = total + order.pop(0)[1]
        out.append(total)
    return reversed(out)

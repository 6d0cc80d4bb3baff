"""The chain as straight-line code, made once for each pattern of motions.

``state`` gives what ``Chain.evaluate`` gives; ``motion`` writes pose and Jacobian of one frame.  Both come from
running the chain itself on symbols, so there is one kinematics.  The code runs on arrays, and as well on floats: for
a few configurations Python's floats cost a tenth of NumPy's calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from elastocal.spatial.entries import Entry
from elastocal.spatial.tape import Tape, function

if TYPE_CHECKING:
    from elastocal.model.chain import Chain

Input = Entry | tuple[Entry, Entry]
"""A shift, or cosine and sine of a turn."""
Pattern = str
"""What each degree of freedom does: 0 nothing, s shift, t turn."""


def pattern(inputs: Sequence[Any]) -> Pattern:
    return "".join("t" if isinstance(e, tuple) else "0" if isinstance(e, float) and e == 0.0 else "s" for e in inputs)


def flat(inputs: Sequence[Input]) -> list[Entry]:
    """The arguments of the code: shifts, cosines and sines, without the zeros."""
    out: list[Entry] = []
    for e in inputs:
        if isinstance(e, tuple):
            out += e
        elif not isinstance(e, float) or e != 0.0:
            out.append(e)
    return out


def state(chain: Chain, moves: Pattern, screws: tuple[int, ...]) -> Callable[..., Any]:
    """(inputs) -> screws and poses, as ``Chain.run`` returns them."""
    from elastocal.model.chain import Screw

    tape, inputs = _symbols(moves)
    found, poses = chain.run(inputs, screws)
    axes = [s for s in found if s is not None]
    rows = [row for s in axes for row in (s.axis, s.point) if row is not None]
    rows += [row for turn, origin in poses.values() for row in (*turn, origin)]
    lines, texts = tape.code([e for row in rows for e in row])
    parts = (f"({a}, {b}, {c})" for a, b, c in zip(*[iter(texts)] * 3, strict=True))
    turns = [
        "None" if s is None else f"Screw({next(parts)}, {'None' if s.point is None else next(parts)})" for s in found
    ]
    frames = [f"{f!r}: (({next(parts)}, {next(parts)}, {next(parts)}), {next(parts)})" for f in poses]
    result = f"return ({', '.join(turns)}{',' * (len(turns) == 1)}), {{{', '.join(frames)}}}"
    return function("state", _arguments(moves), [*lines, result], {"Screw": Screw})  # type: ignore[no-any-return]


def motion(chain: Chain, moves: Pattern, frame: str, dofs: tuple[int, ...]) -> Callable[..., Any]:
    """(out, inputs): origin (3), rotation (9, by rows) and twists (6 each) into the rows of ``out``."""
    tape, inputs = _symbols(moves)
    lines, _ = tape.code(motion_entries(chain, inputs, frame, dofs), "out[{}]")
    return function("motion", ["out", *_arguments(moves)], lines or ["pass"], {})  # type: ignore[no-any-return]


def motion_entries(chain: Chain, inputs: Sequence[Any], frame: str, dofs: tuple[int, ...]) -> list[Any]:
    from elastocal.model.chain import ChainState

    here = ChainState(chain, 1, *chain.run(inputs, dofs))
    turn, origin = here.pose(frame)
    return [*origin, *(e for row in turn for e in row), *(e for t in here.twists(frame, dofs) for e in t)]


def _symbols(moves: Pattern) -> tuple[Tape, list[Any]]:
    tape = Tape()
    names = {i: [tape.variable(name) for name in _names(i, m)] for i, m in enumerate(moves)}
    return tape, [tuple(v) if len(v) == 2 else v[0] if v else 0.0 for v in names.values()]


def _arguments(moves: Pattern) -> list[str]:
    return [name for i, m in enumerate(moves) for name in _names(i, m)]


def _names(i: int, move: str) -> tuple[str, ...]:
    return {"0": (), "s": (f"x{i}",), "t": (f"c{i}", f"s{i}")}[move]

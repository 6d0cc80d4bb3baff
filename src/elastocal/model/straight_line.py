"""The chain as straight-line code, made once for each pattern of motions.

``state`` gives what ``Chain.evaluate`` gives; ``motion`` writes pose and Jacobian of one frame.  Both come from
running the chain itself on symbols, so there is one kinematics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from elastocal.spatial.entries import Entry
from elastocal.spatial.tape import Code, Tape, function

if TYPE_CHECKING:
    from elastocal.model.chain import Chain

Input = Entry | tuple[Entry, Entry]
"""A shift, or cosine and sine of a turn."""
Pattern = str
"""What each degree of freedom does: 0 nothing, s shift, t turn."""


def pattern(rotates: Sequence[bool], values: Sequence[Entry]) -> Pattern:
    return "".join(
        "0" if isinstance(v, float) and v == 0.0 else "t" if turns else "s"
        for turns, v in zip(rotates, values, strict=True)
    )


def flat(inputs: Sequence[Input]) -> list[Entry]:
    """Shifts, cosines and sines, without the zeros."""
    return [e for v in inputs for e in (v if isinstance(v, tuple) else (v,)) if not isinstance(v, float) or v != 0.0]


def moved(values: Sequence[Entry]) -> list[Entry]:
    """The values that are not zero."""
    return [v for v in values if not isinstance(v, float) or v != 0.0]


def state(chain: Chain, moves: Pattern) -> Callable[..., Any]:
    """(inputs) -> screws and poses, as ``Chain.run`` returns them."""
    from elastocal.model.chain import Screw

    tape, inputs = symbols(moves)
    screws_by_dof, poses = chain.run(inputs, range(len(chain.dofs)))
    axes = [s for s in screws_by_dof if s is not None]
    triples = [row for s in axes for row in (s.axis, s.point) if row is not None]
    triples += [row for turn, origin in poses.values() for row in (*turn, origin)]
    lines, texts = tape.code([e for row in triples for e in row])
    parts = (f"({a}, {b}, {c})" for a, b, c in zip(*[iter(texts)] * 3, strict=True))
    turns = [
        "None" if s is None else f"Screw({next(parts)}, {'None' if s.point is None else next(parts)})"
        for s in screws_by_dof
    ]
    frames = [f"{f!r}: (({next(parts)}, {next(parts)}, {next(parts)}), {next(parts)})" for f in poses]
    result = f"return ({', '.join(turns)}{',' * (len(turns) == 1)}), {{{', '.join(frames)}}}"
    return function("state", [name for row in rows(moves) for name in row], [*lines, result], {"Screw": Screw})  # type: ignore[no-any-return]


def motion(chain: Chain, moves: Pattern, frame: str, dofs: tuple[int, ...]) -> Code:
    """Origin (3), rotation (9, by rows) and twists (6 each) of a frame from the inputs."""
    tape, inputs = symbols(moves)
    return tape.kernel(motion_entries(chain, inputs, frame, dofs), rows(moves))


def motion_entries(chain: Chain, inputs: Sequence[Any], frame: str, dofs: tuple[int, ...]) -> list[Any]:
    from elastocal.model.chain import ChainState

    here = ChainState(chain, 1, *chain.run(inputs, dofs))
    turn, origin = here.pose(frame)
    return [*origin, *(e for row in turn for e in row), *(e for t in here.twists(frame, dofs) for e in t)]


def symbols(moves: Pattern) -> tuple[Tape, list[Any]]:
    tape = Tape()
    names = {i: [tape.variable(name) for name in _names(i, m)] for i, m in enumerate(moves)}
    return tape, [tuple(v) if len(v) == 2 else v[0] if v else 0.0 for v in names.values()]


def rows(moves: Pattern) -> list[tuple[str, ...]]:
    """Names of the variables of everything that moves."""
    return [_names(i, m) for i, m in enumerate(moves) if m != "0"]


def _names(i: int, move: str) -> tuple[str, ...]:
    return {"0": (), "s": (f"x{i}",), "t": (f"c{i}", f"s{i}")}[move]

"""Targets that are written as a shift of another one: Offs, RelTool of RAPID, LIN_REL of KRL; and constant arithmetic.

    p = p_0 + d      (axes of the base)          p = p_0 + R_0 d      (axes of the tool, RelTool and #TOOL)
    R = R_0

The shift d is what stands in the program and what is exchanged: where the other target is corrected, d becomes what
leads from its new place to the corrected one.  The orientation follows that of the other target, and is off where that
is not what it should be: this is said.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import NamedTuple

from elastocal.compensation.program import Changes, Program
from elastocal.spatial.entries import Array

LONGEST = 200
"""Characters of an expression that is worked out."""


class Derived(NamedTuple):
    """From target ``parent`` (None: a pose that no move goes to, which stays), shifted in its own axes where ``tool``.

    ``key`` is the file and name by which the parent is found when all moves are read.
    """

    position: Array
    rotation: Array
    tool: bool = False
    parent: int | None = None
    key: tuple[str, str] | None = None


def place_derived(derived: Mapping[int, Derived], shifts: Array, positions: Array, rotations: Array) -> None:
    """Fill in positions (N, 3) and rotations (N, 3, 3) of derived targets from shifts (N, 3) in m."""
    for number in _in_order(derived):
        place, turn = _parent(derived[number], positions, rotations)
        d = shifts[number]
        positions[number] = place + (turn @ d if derived[number].tool else d)
        rotations[number] = turn


def new_shifts(derived: Mapping[int, Derived], program: Program, changes: Changes) -> dict[int, Array]:
    """Shifts (3,) in m of derived targets that are corrected, or whose parents are."""
    changed = changes.changed(program)
    rotations = changes.rotations.copy()
    out = {}
    for number in _in_order(derived):
        d = derived[number]
        place, turn = _parent(d, changes.positions, rotations)
        rotations[number] = turn
        if changed[number] or (d.parent is not None and changed[d.parent]):
            away = changes.positions[number] - place
            out[number] = turn.T @ away if d.tool else away
    return out


def _parent(d: Derived, positions: Array, rotations: Array) -> tuple[Array, Array]:
    return (d.position, d.rotation) if d.parent is None else (positions[d.parent], rotations[d.parent])


def _in_order(derived: Mapping[int, Derived]) -> list[int]:
    """Parents before their children."""
    done: list[int] = []
    for number in derived:
        chain = [number]
        while (up := derived[chain[-1]].parent) is not None and up in derived and up not in done and up not in chain:
            chain.append(up)
        done += [n for n in reversed(chain) if n not in done]
    return done


_TWO: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


_PYTHON = re.compile(r"(?<![\w.])\d+(_|[xXoObBjJ])")
"""Numbers of Python that no controller knows: 1_0, 0x10, 3j."""


def constant(text: str, names: Mapping[str, float]) -> float | None:
    """The value of ``2*h+1.5`` with names (lower case) of constants; None where it is not known when it is read."""
    if len(text) > LONGEST or _PYTHON.search(text):
        return None
    try:
        value = _evaluated(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, ValueError, KeyError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
        return None
    return value if isfinite(value) else None


def _evaluated(node: ast.expr, names: Mapping[str, float]) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.Name):
        return names[node.id.lower()]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _evaluated(node.operand, names)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _TWO:
        return _TWO[type(node.op)](_evaluated(node.left, names), _evaluated(node.right, names))
    raise ValueError(ast.dump(node))

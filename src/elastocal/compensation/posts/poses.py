"""Poses as languages write them: orientations, and shifts of another target (Offs, RelTool of RAPID, LIN_REL of KRL).

Of the ways to write an orientation the one nearest to the old is chosen.  Angles (a, b, c) and (a + pi, b', c + pi),
with b' = pi - b where three axes differ and b' = -b where the first is the last, are one rotation, and so are angles
that differ by whole turns.

    p = p_0 + d      (axes of the base)          p = p_0 + R_0 d      (axes of the tool, RelTool and #TOOL)
    R = R_0

The shift d is what stands in the program and what is exchanged: where the other target is corrected, d becomes what
leads from its new place to the corrected one.  The orientation follows that of the other target, and is off where that
is not what it should be: this is said.  Numbers of a shift may be constant arithmetic.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from math import isfinite
from typing import NamedTuple

import numpy as np

from elastocal.compensation.program import Changes, Program
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import Rotation, matrix_rpy

EDGE = 9e-8
"""Angles so near to half a turn (rad) are written as half a turn."""


def near(angle: Array, old: Array) -> Array:
    """``angle`` plus the whole turns that bring it closest to ``old``."""
    return np.asarray(angle - 2 * np.pi * np.round((angle - old) / (2 * np.pi)))


def kuka_angles(rotation: Array) -> Array:
    """A, B, C in deg of one rotation matrix, about z, y and x in turn; at B = 90 too, where A and C turn alike."""
    angles = np.array(matrix_rpy(rotation)[::-1])
    return np.degrees(np.where(angles < EDGE - np.pi, np.pi, angles)) + 0.0


def euler_near(rotation: Array, sequence: str, old: Array) -> Array:
    """Intrinsic angles (N, 3) of rotations (N, 3, 3), nearest to the ``old`` ones.

    R R_3(-c_old) is taken apart instead of R, so that c stays where only a +- c is determined.
    """
    if not len(rotation):
        return np.empty((0, 3))
    last = Rotation.from_euler(sequence[2], -old[:, 2:])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Gimbal lock", UserWarning)
        first = (Rotation.from_matrix(rotation) * last).as_euler(sequence)
    first = first + np.stack([0 * old[:, 2], 0 * old[:, 2], old[:, 2]], axis=1)
    middle = -first[:, 1] if sequence[0] == sequence[2] else np.pi - first[:, 1]
    second = np.stack([first[:, 0] + np.pi, middle, first[:, 2] + np.pi], axis=1)
    first, second = near(first, old), near(second, old)
    closer = np.abs(second - old).sum(axis=1) < np.abs(first - old).sum(axis=1)
    return np.where(closer[:, None], second, first)


def controller_angles(rotation: Array, sequence: str, old: Array) -> Array:
    """The same as controllers have them: where the old angle is within half a turn, the new one is in (-pi, pi]."""
    angles = euler_near(rotation, sequence, old)
    whole = angles - 2 * np.pi * np.ceil((angles - np.pi - EDGE) / (2 * np.pi))
    whole = np.where(np.abs(np.abs(whole) - np.pi) <= EDGE, np.pi, whole)
    return np.where((np.abs(old) <= np.pi + EDGE) & (np.abs(angles) >= np.pi - EDGE), whole, angles)


def quaternion_near(rotation: Array, old: Array) -> Array:
    """Unit quaternions (N, 4), scalar first, of the sign of the ``old`` ones."""
    if not len(rotation):
        return np.empty((0, 4))
    q = Rotation.from_matrix(rotation).as_quat(scalar_first=True)
    return np.asarray(np.where((q * old).sum(axis=1, keepdims=True) < 0, -q, q))


def aligned(axes: Array, like: Array | None = None) -> Array:
    """Rotations (N, 3, 3) whose third columns are along ``axes`` (N, 3), with the least turn from ``like`` (3, 3).

    That is the rule for the free turn about a tool axis: ``like`` (default: the axes of the base) is turned about
    the common normal of its third column and the axis, and not about the axis itself; about its own first column
    where the two are opposite.
    """
    start = np.eye(3) if like is None else like
    z = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    normal = np.cross(start[:, 2], z)
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    angle = np.arctan2(size, (z @ start[:, 2])[:, None])
    unit = np.where(size > 1e-12, normal / np.where(size > 1e-12, size, 1.0), start[:, 0])
    turn = np.asarray((Rotation.from_rotvec(angle * unit) * Rotation.from_matrix(start)).as_matrix())
    turn[:, :, 2] = z
    return turn


def along_axes(axes: Array, like: Array | None = None, first: Array | None = None) -> Array:
    """``aligned`` to tool axes from tip to spindle, or against them where z of ``like`` points away from the ``first``.

    Tools of robots have z from the flange to the tip, so that a stated orientation of theirs looks into the part.
    """
    first = axes[0] if first is None and len(axes) else first
    into = like is not None and first is not None and float(like[:, 2] @ first) < 0
    return aligned(-axes if into else axes, like)


def axes_of(rotations: Array, old: Array) -> Array:
    """Tool axes (N, 3) of rotations, on the side and with the length of the ``old`` ones."""
    z = rotations[:, :, 2]
    side = np.where((z * old).sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    return np.asarray(side * z * np.linalg.norm(old, axis=1, keepdims=True))


def as_rotations(numbers: Array, form: str, stated: Array | None) -> Array:
    """(N, 3, 3) of numbers (N, k) in SI; ``stated`` where the file gives points only."""
    n = len(numbers)
    if form in ("point", "joints") or not n:
        out = np.full((n, 3, 3), np.nan)
        if stated is not None and form == "point":
            out[:] = stated
        return out
    if form == "vector":
        return along_axes(numbers, stated)
    if form == "quaternion":
        return np.asarray(Rotation.from_quat(numbers, scalar_first=True).as_matrix())
    if form == "rotvec":
        return np.asarray(Rotation.from_rotvec(numbers).as_matrix())
    return np.asarray(Rotation.from_euler(form, numbers).as_matrix())


def as_numbers(rotations: Array, form: str, old: Array) -> Array:
    """Numbers (N, k) of rotations, written as near to the ``old`` ones as can be."""
    if form == "point" or not len(rotations):
        return old
    if form == "vector":
        return axes_of(rotations, old)
    if form == "quaternion":
        return quaternion_near(rotations, old)
    if form == "rotvec":
        return _rotvec_near(Rotation.from_matrix(rotations).as_rotvec(), old)
    return euler_near(rotations, form, old)


def _rotvec_near(vector: Array, old: Array) -> Array:
    """v (1 + 2 pi n / |v|) is the same rotation for every whole n; the one nearest to ``old`` is taken."""
    size = np.linalg.norm(vector, axis=1, keepdims=True)
    unit = np.where(size > 1e-12, vector / np.where(size > 0, size, 1.0), 0.0)
    along = (unit * old).sum(axis=1, keepdims=True)
    return np.asarray(vector + unit * 2 * np.pi * np.round((along - size) / (2 * np.pi)))


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

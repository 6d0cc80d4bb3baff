"""Places of a workpiece as typed: "x:1600:2100:15,y:-150:150:11,z:800" in mm of a work object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.configurations import numbers, typed
from elastocal.errors import ConflictError, InputError, MissingError, RangeError

if TYPE_CHECKING:
    from elastocal.model.places import Plane
    from elastocal.model.robot import Robot
    from elastocal.spatial.entries import Array
    from elastocal.spatial.pose import Pose

FORM = "x:from:to:count,y:from:to:count,z:at in mm, for example x:1600:2100:15,y:-150:150:11,z:800"
MOST = 10_000
OF_CELL = "workpiece"
"""Stands for the plane that cell.yaml states."""


def is_cartesian(model: Robot, text: str) -> bool:
    """Whether a map is over x, y, z and not over axes of the controller."""
    from elastocal.app.configurations import axes_of

    first = text.partition(":")[0].strip()
    return text == OF_CELL or (first in ("x", "y", "z") and first not in axes_of(model).names)


def typed_places(
    model: Robot, text: str | None, at: tuple[str, ...], object_: str | None = None
) -> tuple[Plane | None, Array | None]:
    """The plane, and joint values with the tool held as on the workpiece; None for what was not typed."""
    near = typed(model, at).q[0] if at else None
    if len(at) > 1:
        raise ConflictError(f"a map takes one --at, {len(at)} were given", parameter="at")
    return (None if text is None else _plane(model, text, near, _object(object_))), near


def _plane(model: Robot, text: str, near: Array | None, base: Pose) -> Plane:
    import numpy as np

    from elastocal.model.kinematics import kinematics
    from elastocal.model.places import Plane

    if text == OF_CELL:
        return _of_cell()

    spans: dict[int, Array] = {}
    fixed: dict[int, float] = {}
    for part in text.split(","):
        name, *rest = (p.strip() for p in part.split(":"))
        if name not in ("x", "y", "z") or len(rest) not in (1, 3) or "xyz".index(name) in (*spans, *fixed):
            raise InputError(f"--map {text!r}: not of the form {FORM}", code="form", parameter="map")
        if len(rest) == 1:
            fixed["xyz".index(name)] = 1e-3 * float(numbers(rest[0], 1, f"--map {part!r}", "at")[0])
            continue
        low, high = numbers(" ".join(rest[:2]), 2, f"--map {part!r}", "from, to")
        if not rest[2].isdecimal() or not 2 <= int(rest[2]) <= MOST or not high > low:
            raise RangeError(f"--map {part!r}: give a range upwards and at least 2 points", parameter="map")
        spans["xyz".index(name)] = 1e-3 * np.linspace(low, high, int(rest[2]))
    if len(spans) != 2:
        raise InputError(f"--map {text!r}: two of x, y, z need a range; write {FORM}", code="form", parameter="map")
    first, second = sorted(spans)
    normal = 3 - first - second
    if normal not in fixed:
        if near is None:
            raise MissingError(f"--map {text!r}: add {'xyz'[normal]}:AT, or --at to take it from", parameter="map")
        tip = kinematics(model.nominal, near[None]).position[0]
        fixed[normal] = float(((tip - base.translation) @ base.rotation)[normal])
    return Plane((first, second), (spans[first], spans[second]), fixed[normal], base)


def _of_cell() -> Plane:
    from elastocal.app.cells.trace import current

    cell = current().cell
    if cell is None or cell.workpiece is None:
        message = "--map workpiece: is the key workpiece of a cell.yaml, and there is none"
        raise MissingError(f"{message}; add it, or write {FORM}", parameter="map")
    return cell.workpiece.planes()[0]


def _object(text: str | None) -> Pose:
    """X,Y,Z in mm and A,B,C in deg about z, y, x in turn, in base; the base itself where nothing was typed."""
    import numpy as np

    from elastocal.spatial.pose import Pose
    from elastocal.spatial.turns import Rotation

    if text is None:
        return Pose(np.eye(3), np.zeros(3))
    x, y, z, a, b, c = numbers(text, 6, f"--object {text!r}", "X, Y, Z, A, B, C")
    return Pose(Rotation.from_euler("ZYX", [a, b, c], degrees=True).as_matrix(), 1e-3 * np.array([x, y, z]))

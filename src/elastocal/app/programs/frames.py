"""Frames and words that the user states for a program: --base, --tool, --orientation, --rotary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.configurations import numbers
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.compensate.program import Given
    from elastocal.model.robot import RobotModel
    from elastocal.spatial.entries import Array
    from elastocal.spatial.pose import Pose

FLANGE = "flange"
_POSE = "X, Y, Z in mm, A, B, C in deg about z, y, x in turn"


def given(
    model: RobotModel,
    flange: str,
    bases: tuple[str, ...],
    tools: tuple[str, ...],
    orientation: str | None,
    rotary: str,
) -> Given:
    from elastocal.compensate.program import Given

    turn = None if orientation is None else _turn(numbers(orientation, 3, f"--orientation {orientation!r}", "A, B, C"))
    return Given(
        dict(_named("--base", text, None, flange) for text in bases),
        dict(_named("--tool", text, model, flange) for text in tools),
        turn,
        rotary,
    )


def flange_of(model: RobotModel, asked: str | None) -> str:
    """The frame that tools are mounted on."""
    if asked is not None:
        model.tree.frame(asked)
        return asked
    if FLANGE in model.tree.names:
        return FLANGE
    raise InputError(
        f"robot {model.name} has no frame {FLANGE!r} that tools could be mounted on; name one with --flange, of "
        f"{', '.join(model.tree.names)}"
    )


def _named(option: str, text: str, model: RobotModel | None, flange: str) -> tuple[str, Pose]:
    """``2=1750,-80,800,0,0,0``; of a tool also a frame of the robot: ``1=tool``."""
    import numpy as np

    from elastocal.spatial.pose import Pose

    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(
            f"{option} {text!r}: give the name that the program uses and its pose, {option} NAME=X,Y,Z,A,B,C"
        )
    if model is not None and value.strip() in model.tree.names:
        return name.strip(), _fixed(model, flange, value.strip())
    x, y, z, a, b, c = numbers(value, 6, f"{option} {text!r}", _POSE)
    return name.strip(), Pose(_turn((a, b, c)), np.array([1e-3 * v for v in (x, y, z)]))


def _fixed(model: RobotModel, flange: str, frame: str) -> Pose:
    """Pose of a frame on the flange that hangs on it rigidly."""
    from elastocal.spatial.pose import Pose

    path = model.tree.path(frame)
    names = [f.name for f in path]
    after = path[names.index(flange) + 1 :] if flange in names else ()
    if (flange not in names and frame != flange) or any(f.joint for f in after):
        raise InputError(f"--tool {frame}: is no frame that hangs on {flange}; give X,Y,Z,A,B,C")
    out = Pose()
    for f in after:
        out = out @ f.pose
    return out


def _turn(abc: tuple[float, ...]) -> Array:
    from math import radians

    from elastocal.spatial.rotation import rpy_matrix

    a, b, c = (radians(v) for v in abc)
    return rpy_matrix(c, b, a)

"""Joint limits in words."""

from __future__ import annotations

from math import degrees
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.model.robot import RobotModel


def limit_text(model: RobotModel, joint: str, value: float) -> str:
    """What is beyond which limits: as the pendant shows it, or as a joint value where several axes move the joint."""
    motion = model.tree.joint(joint)
    assert motion.limits is not None
    unit, scale = ("deg", degrees(1.0)) if motion.kind == "revolute" else ("mm", 1e3)
    row = model.joints.index(motion.follows or joint)
    factors = model.controller.matrix[row]
    movers = [a for a, f in zip(model.controller.axes, factors, strict=True) if f]
    if len(movers) == 1 and motion.follows is None:
        column = model.controller.axes.index(movers[0])
        shown = [scale * (v / factors[column] + model.controller.zero[column]) for v in (value, *motion.limits)]
        what = f"axis {movers[0]} = {shown[0]:.6g} {unit}"
        low, high = sorted(shown[1:])
    else:
        together = " together" if len(movers) > 1 else ""
        what = (
            f"joint {joint}, moved by {' and '.join(movers)}{together}, = {scale * value:.6g} {unit} (no pendant value)"
        )
        low, high = (scale * v for v in motion.limits)
    return f"{what} is beyond its limits {low:.6g} to {high:.6g} {unit}"

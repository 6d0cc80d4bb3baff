"""A robot to try a new cell with: that of its file with other springs, so that a calibration has something to find."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.model.robot import Robot

FACTORS = (1.25, 0.8, 1.15, 0.85, 1.3, 0.9)
"""True over stated compliance, one place after the other."""
SPRINGS = ("joint_compliance", "motor_compliance", "link_compliance", "foundation_compliance")


def made_up_robot(stated: Robot) -> Robot | None:
    """The robot with every spring softer or stiffer than its file says; None where it has none."""
    springs = [p for p in stated.parameters if p.kind in SPRINGS and p.value]
    places = tuple(dict.fromkeys(p.name.rpartition(".")[0] for p in springs))
    factor = {place: FACTORS[i % len(FACTORS)] for i, place in enumerate(places)}
    values = {p.name: factor[p.name.rpartition(".")[0]] * p.value for p in springs}
    return stated.with_parameters(values) if values else None

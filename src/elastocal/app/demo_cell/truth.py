"""The robot that the demonstration measures: the shipped KR-270 with other springs, and with play in its gears.

All numbers here are made up.  Joints differ from the file by -15 to 25 %, links, foundation and compensator by up to
30 %; play is that of a worn wrist.  A1 and A6 have none: without a load nothing presses their gears to one side, so
that the place they rest at before a reading would be anybody's guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.model.robot import RobotModel

FACTORS = {
    "A1": 1.12, "A2": 0.91, "A3": 1.08, "A4": 0.85, "A5": 0.93, "A6": 1.25,
    "base": 1.3, "link1_end": 0.9, "link2_end": 0.8, "link3_end": 1.25, "link4_end": 1.1, "link5_end": 0.9,
    "flange": 1.2,
}  # fmt: skip
"""True over stated compliance, by joint or frame."""
COMPENSATOR = 1.15
PLAY = {"A2": 20e-6, "A3": 30e-6, "A4": 120e-6, "A5": 150e-6}
"""Half of the play in rad."""
_SPRINGS = ("joint_compliance", "link_compliance", "foundation_compliance")


def true_robot(stated: RobotModel) -> RobotModel:
    values = {}
    for p in stated.parameters:
        place = p.name.split(".")[0]
        if p.kind in _SPRINGS:
            values[p.name] = FACTORS[place] * p.value
        elif p.kind == "joint_backlash":
            values[p.name] = PLAY.get(place, 0.0)
        elif p.name == "A2.k_c":
            values[p.name] = COMPENSATOR * p.value
    return stated.with_parameters(values)

"""What became of a pose that joint values were sought for."""

from __future__ import annotations

from enum import IntEnum


class PoseStatus(IntEnum):
    """Outcome of an inverse problem; ``text`` is the help."""

    REACHED = 0
    OUT_OF_REACH = 1
    NO_EQUILIBRIUM = 2
    OFF_THE_PLANE = 3
    JOINT_LIMIT = 4

    @property
    def text(self) -> str:
        return _TEXT[self]


_TEXT = {
    PoseStatus.REACHED: "reached",
    PoseStatus.OUT_OF_REACH: "out of reach: no joint values near the start bring the frame there; see what is left, "
    "start elsewhere, or check the target",
    PoseStatus.NO_EQUILIBRIUM: "no determined equilibrium there: a backlash carries no force, or the load is too "
    "large; change the force",
    PoseStatus.OFF_THE_PLANE: "off the plane: the target is beside the plane or line in which the joints move the "
    "frame, so that no start helps; change the target, see what is left",
    PoseStatus.JOINT_LIMIT: "joint limit: a joint stands at its limit before the frame is there; start elsewhere, or "
    "move the target",
}

"""What became of one target."""

from __future__ import annotations

from enum import IntEnum

from elastocal.model.statics import equilibrium


class TargetStatus(IntEnum):
    """Outcome of one target; ``text`` says what it means and what to do."""

    CORRECTED = 0
    OUT_OF_REACH = 1
    JOINT_LIMIT = 2
    NEAR_SHOULDER_SINGULARITY = 3
    NEAR_ELBOW_SINGULARITY = 4
    NEAR_WRIST_SINGULARITY = 5
    NEAR_SINGULARITY = 6
    CONFIGURATION_FLIP = 7
    UNDETERMINED_BACKLASH = 8
    UNSTABLE = 9
    NOT_CONVERGED = 10
    KEPT = 11

    @property
    def text(self) -> str:
        return _TEXT[self]


_NEAR = "joints turn by far more than the correction; move or tilt the target"
_TEXT = {
    TargetStatus.CORRECTED: "corrected",
    TargetStatus.OUT_OF_REACH: "out of reach: no joint values bring the tool there; check base, tool and the target",
    TargetStatus.JOINT_LIMIT: "joint limit: the corrected command is beyond a joint's range; move the target or the "
    "part",
    TargetStatus.NEAR_SHOULDER_SINGULARITY: f"the wrist is too close to axis 1: {_NEAR}",
    TargetStatus.NEAR_ELBOW_SINGULARITY: f"the elbow is almost stretched or folded: {_NEAR}",
    TargetStatus.NEAR_WRIST_SINGULARITY: f"axes 4 and 6 are almost in line: {_NEAR}",
    TargetStatus.NEAR_SINGULARITY: f"the joints hardly move the tool in some direction: {_NEAR}",
    TargetStatus.CONFIGURATION_FLIP: "configuration flip: nominal and corrected command lie on two sides of a "
    "singularity, so the arm would turn over; move or tilt the target",
    TargetStatus.UNDETERMINED_BACKLASH: equilibrium.Status.UNDETERMINED_BACKLASH.text,
    TargetStatus.UNSTABLE: equilibrium.Status.UNSTABLE.text,
    TargetStatus.NOT_CONVERGED: "not converged: no command was found whose loaded pose is the desired one; check "
    "loads and compliances",
    TargetStatus.KEPT: "kept: it stands in a file that other programs use too; copy it into this program to correct it",
}

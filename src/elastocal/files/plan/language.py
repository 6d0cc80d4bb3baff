"""The language that a robot's controller takes its programs in: one rule for all that is written for it."""

from __future__ import annotations

import re

from elastocal.files.plan.krl import AXES
from elastocal.model.robot import RobotModel
from elastocal.model.transmission import Language

_ABB = r"(?<![a-z])(abb|irb)(?![a-z])"


def language(model: RobotModel) -> Language:
    """What the robot file states, else RAPID for ABB or IRB in name or title, else KRL for axes called as on a KUKA.

    Names come before axes, since A1 to A6 are used by others as well; KUKA in a name decides nothing, since not all of
    its arms take KRL.  Empty where nothing tells.
    """
    if model.controller.language:
        return model.controller.language
    if re.search(_ABB, f"{model.name} {model.title}", re.IGNORECASE):
        return "rapid"
    return "krl" if model.controller.axes and set(model.controller.axes) <= set(AXES) else ""

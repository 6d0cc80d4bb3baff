"""A plan as an ABB program: one MoveAbsJ per stop, a Stop where somebody reads or changes the load.

``NAME.mod`` holds the jointtargets in degrees and the procedure that drives to them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from elastocal.files.plan.stop import Stop, plain_lines, program_name, windows_lines
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array

SPEED = "v200"
LOAD = "tool0 has no load: state the load carried (loaddata, GripLoad) before running, and when it changes"
NO_EXTERNAL = "[9E9,9E9,9E9,9E9,9E9,9E9]"
_WORDS = (
    "alias|and|backward|case|connect|const|default|div|do|else|elseif|endfor|endfunc|endif|endmodule|endproc|endrecord|"
    "endtest|endtrap|endwhile|error|exit|false|for|from|func|goto|if|inout|local|mod|module|nostepin|not|noview|or|pers|"
    "proc|raise|readonly|record|retry|return|step|sysmodule|task|test|then|to|trap|true|trynext|undo|var|viewonly|while|"
    "with|xor"
)
"""Words of the language, which no module can be called."""


def jointtarget(model: RobotModel, q: Array) -> str:
    """The literal of joint values (6,)."""
    shown = np.degrees(model.controller.to_controller(q[None])[0])
    return f"[[{','.join(f'{v + 0.0:.4f}' for v in shown)}],{NO_EXTERNAL}]"


def rapid_files(
    name: str, model: RobotModel, stops: Sequence[Stop], notes: Sequence[str], wait: float
) -> dict[str, str]:
    """Texts by file name, for six revolute joints; ``wait`` seconds pass before anybody is asked to read."""
    module = program_name(name)
    module = f"P_{module}" if re.fullmatch(_WORDS, module, re.IGNORECASE) else module
    width = max(2, len(str(len(stops))))
    points, body = [], []
    for number, stop in enumerate(stops, 1):
        point = f"jm{number:0{width}d}"
        points.append(f"  CONST jointtarget {point}:={jointtarget(model, stop.q)};")
        body.append(f"    ! stop {number} of {len(stops)}")
        body += [f"    ! {line}" for line in plain_lines(stop.note)] if stop.note else []
        body += [f"    MoveAbsJ {point}\\NoEOffs,{SPEED},fine,tool0;", f"    WaitTime {wait:g};"]
        for sentence in stop.sentences:
            body += [*(f'    TPWrite "{line}";' for line in plain_lines(sentence)), "    Stop;"]
    head = [f"  ! {line}" for note in (*notes, LOAD) for line in plain_lines(note)]
    lines = [f"MODULE {module}", *head, *points, f"  PROC meas_{module}()", *body, "  ENDPROC", "ENDMODULE"]
    return {f"{module}.mod": windows_lines(lines)}

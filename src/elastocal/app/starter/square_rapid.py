"""The example program in RAPID."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from elastocal.app.starter.program import Square
    from elastocal.model.robot import RobotModel
    from elastocal.spatial.entries import Array

FOREARM, UPPER, WRIST = 2, 1, 4


def rapid_text(model: RobotModel, square: Square) -> str:
    """A module with the square as robtargets, each with the confdata that it is reached with."""
    from elastocal.app.starter.program import said
    from elastocal.files.plan.rapid import NO_EXTERNAL, jointtarget
    from elastocal.files.plan.stop import windows_lines

    tool, poses = _pose(square.tool.translation, square.tool.rotation), square.corners[:4]
    points = [
        f"  CONST robtarget p{i + 1}:=[{_pose(corner, square.rotation)[1:-1]},{conf},{NO_EXTERNAL}];"
        for i, (corner, conf) in enumerate(zip(poses, _confdata(model, square), strict=True))
    ]
    lines = [
        "MODULE Square",
        f"  ! {said(model, square)}",
        "  ! load of the tool is not known: set it before running",
        f"  PERS tooldata tSquare:=[TRUE,{tool},[1,[0,0,1],[1,0,0,0],0,0,0]];",
        f"  CONST jointtarget jStart:={jointtarget(model, square.q)};",
        *points,
        "  PROC main()",
        "    MoveAbsJ jStart,v100,fine,tSquare;",
        *(f"    MoveL p{i},v50,fine,tSquare;" for i in (1, 2, 3, 4, 1)),
        "  ENDPROC",
        "ENDMODULE",
    ]
    return windows_lines(lines)


def _pose(position: Array, rotation: Array) -> str:
    from scipy.spatial.transform import Rotation

    place = ",".join(f"{v + 0.0:.4f}" for v in np.round(1e3 * position, 4))
    turn = Rotation.from_matrix(rotation).as_quat(canonical=True, scalar_first=True)
    return f"[[{place}],[{','.join(f'{v + 0.0:.8f}' for v in np.round(turn, 8))}]]"


def _confdata(model: RobotModel, square: Square) -> list[str]:
    """[cf1, cf4, cf6, cfx] of the corners, next to where the square starts.

    cfx counts 4 where the wrist is behind axis 1, which it never is here, 2 where it is behind the lower arm, 1 where
    axis 5 stands below zero.
    """
    from elastocal.compensate.posts.rapid_data import quarter_turns
    from elastocal.model.inverse_kinematics import inverse_kinematics
    from elastocal.model.kinematics import rigid_pose
    from elastocal.model.task import task

    corners = square.corners[:4]
    turn = np.repeat(square.rotation[:, :, None], len(corners), axis=2)
    start = np.repeat(square.q[:, None], len(corners), axis=1)
    found = inverse_kinematics(model.nominal, model.tool, task(model, model.tool), corners.T, turn, start).q
    shoulder, elbow, wrist = (rigid_pose(model.nominal, model.joints[i], found)[0].T for i in (UPPER, FOREARM, WRIST))
    ahead = np.cross(elbow - shoulder, wrist - shoulder)
    forward = np.cross([0.0, 0.0, 1.0], wrist * [1.0, 1.0, 0.0])
    behind = np.einsum("ni,ni->n", ahead, forward) < 0
    axes = np.round(model.controller.to_controller(found.T), 9)
    cfx = 2 * behind + (axes[:, 4] < 0)
    return [f"[{a:.0f},{b:.0f},{c:.0f},{x}]" for (a, b, c), x in zip(quarter_turns(axes), cfx, strict=True)]

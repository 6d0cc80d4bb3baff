"""Programs on the desk, and an independent judge of them: scipy finds the joints, statics says where the tool goes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from oracle.programs import EXAMPLES, kuka
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import Equilibrium, equilibrium

BASE = np.array([1.75, -0.08, 0.8])
TOOL = (np.array([0.0, 0.1, 0.2]), np.eye(3))
HOME = "0,-90,90,0,90,0"
NEAR = np.radians([0, -70, 92, 0, 68, 180])
FORCE = (-400.0, 0.0, -150.0)
WORDS: dict[str, tuple[str, ...]] = {
    "src": (),
    "mod": (),
    "nc": ("--near", HOME, "--tool", "T1=0,100,200,0,0,0", "--orientation", "0,0,180"),
    "csv": ("--near", HOME),
}


def lay_program(folder: Path, ending: str) -> Path:
    for name in ("contour.src", "contour.dat") if ending == "src" else (f"contour.{ending}",):
        shutil.copy(EXAMPLES / name, folder / name)
    return folder / f"contour.{ending}"


def tip(model: Any, q: np.ndarray, bent: Equilibrium) -> tuple[np.ndarray, np.ndarray]:
    """Where the spindle's tip is: the flange moved by the tool that the examples state."""
    at, turn = frame_pose(model, q[None], bent, "flange")
    return at[:, 0] + turn[:, :, 0] @ TOOL[0], turn[:, :, 0] @ TOOL[1]


def joints_for(rigid: Any, position: np.ndarray, rotation: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Joint values of a robot that does not bend, by a general minimiser."""
    still = equilibrium

    def missing(q: np.ndarray) -> np.ndarray:
        at, turn = tip(rigid, q, still(rigid, q[None]))
        return np.concatenate([at - position, Rotation.from_matrix(turn @ rotation.T).as_rotvec()])

    found = least_squares(missing, near, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert np.abs(found.fun).max() < 1e-9
    return np.asarray(found.x)


def loaded_tip(model: Any, q: np.ndarray, force: Any) -> tuple[np.ndarray, np.ndarray]:
    """Tip under a force at the tip: the same wrench at the flange turns with where the tip then is."""
    wrench = np.zeros((1, 6))
    wrench[0, :3] = force
    for _ in range(6):
        bent = equilibrium(model, q[None], [AppliedWrenches("flange", wrench)])
        arm = tip(model, q, bent)[0] - frame_pose(model, q[None], bent, "flange")[0][:, 0]
        wrench[0, 3:] = np.cross(arm, wrench[0, :3])
    return tip(model, q, bent)


def without_bends(model: Any) -> Any:
    """The same geometry with nothing that gives way."""
    kinds = sorted({c.kind for c in model.coordinates})
    return model.without(*kinds, "gravity_compensator")


def desired(pose: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return BASE + 1e-3 * pose[0], pose[1]


def error(model: Any, told: Any, wanted: Any, force: Any) -> tuple[float, float]:
    """How far the loaded tip is from the wanted pose when the controller is told another: m and rad."""
    q = joints_for(without_bends(model), *desired(told), NEAR)
    at, turn = loaded_tip(model, q, force)
    place, rotation = desired(wanted)
    off = Rotation.from_matrix(turn @ rotation.T).magnitude()
    return float(np.linalg.norm(at - place)), float(off)


DOWN = kuka(0, 0, 180)


def calibration(folder: Path, robot: str, names: tuple[str, ...], share: float, **changed: Any) -> Path:
    """A calibration of a shipped robot, or of one in the folder, with values known to a share of their size."""
    from elastocal.files.calibration import CalibrationRecord, ParameterRecord, calibration_text
    from elastocal.files.robot.read import read_robot
    from elastocal.files.run_record import robot_mark

    model = read_robot(robot, folder=folder if robot.endswith(".yaml") else Path())
    scale = changed.pop("scale", 1.0)
    rows = [
        ParameterRecord(name=p.name, unit=p.unit, value=p.value * (scale if p.name in names else 1.0))
        if p.name in names
        else ParameterRecord(name=p.name, unit=p.unit, value=p.value, status="fixed", reason="not sought")
        for p in model.parameters
    ]
    sd = np.array([share * p.value for p in model.parameters if p.name in names])
    record = CalibrationRecord(
        robot=robot, mark=robot_mark(robot, folder), tool=model.tool, load_frame=model.tool, parameters=tuple(rows),
        names=names, covariance=np.diag(sd**2), discrepancy=float("nan"), discrepancy_reason="made up",
        noise_stated=True, scatter=1.0, freedom=50, **changed,
    )  # fmt: skip
    path = folder / "calibration.json"
    path.write_text(calibration_text(record), encoding="utf-8")
    return path


def answered(got: Any) -> Any:
    assert got.code == 0, got.err
    return json.loads(got.out)

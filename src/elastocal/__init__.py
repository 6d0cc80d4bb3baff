"""Elastocal: robots that are accurate under load.

    import elastocal as ec

    robot = ec.read_robot("irb4600.urdf")
    data = ec.Campaign(q=q, position=xyz, length="mm", angle="deg")
    cal = ec.calibrate(robot, data)
    cal.predict(q)
    done = ec.compensate(cal, ec.read_program("contour.src"), wrench=[0, 0, -500, 0, 0, 0])

The names below are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_NAMES = {
    # robots
    "read_robot": "elastocal.files.robot.read",
    "shipped_robots": "elastocal.files.robot.read",
    "Robot": "elastocal.model.robot",
    "kinematics": "elastocal.model.kinematics",
    "deflection": "elastocal.model.statics.deflection",
    "stiffness": "elastocal.model.statics.stiffness",
    # plan and simulate
    "plan": "elastocal.design.planning",
    "Plan": "elastocal.design.result",
    "Cell": "elastocal.design.cell",
    "Hanging": "elastocal.design.loading.loading",
    "Actuator": "elastocal.design.loading.loading",
    "assess": "elastocal.calibration.simulation",
    "simulate": "elastocal.calibration.simulation",
    # measure: readings and their errors
    "Campaign": "elastocal.calibration.campaign",
    "read_campaign": "elastocal.calibration.readings",
    "recognise": "elastocal.files.campaign.recognise",
    "Reading": "elastocal.measure.sources.reading",
    "Tracker": "elastocal.measure.sources.tracker",
    "Encoder": "elastocal.measure.sources.encoder",
    "Repeatability": "elastocal.measure.sources.repeatability",
    # calibrate
    "calibrate": "elastocal.calibration.run",
    "cross_validate": "elastocal.calibration.validation",
    "Calibration": "elastocal.calibration.calibration",
    "Validation": "elastocal.calibration.calibration",
    "read_calibration": "elastocal.calibration.store",
    "compare": "elastocal.calibration.comparison",
    "export": "elastocal.calibration.export",
    "history": "elastocal.store.history",
    "History": "elastocal.store.history",
    # correct programs
    "read_program": "elastocal.files.programs",
    "compensate": "elastocal.compensation.run",
    "Correction": "elastocal.compensation.correction",
    "ProcessLoad": "elastocal.compensation.process",
    "iso9283": "elastocal.compensation.iso9283",
    # cells: a robot, its plan, readings, calibration and programs in one folder
    "desk": "elastocal.desk:",
    # procedures and published cases
    "transmission": "elastocal.procedures.transmission:identify",
    "gravity": "elastocal.procedures.gravity:identify",
    "loops": "elastocal.procedures.loops:identify",
    "compensator": "elastocal.procedures.compensator:identify",
    "contact": "elastocal.procedures.contact.calibrate:identify",
    "reproduce": "elastocal.published.case",
    # errors
    "ElastocalError": "elastocal.errors",
    "InputError": "elastocal.errors",
}

__all__ = ["__version__", *_NAMES]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'elastocal' has no attribute {name!r}")
    module, colon, other = _NAMES[name].partition(":")
    value: Any = import_module(module)
    if other or not colon:
        value = getattr(value, other or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

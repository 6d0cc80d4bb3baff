"""Elastocal: robots that are accurate under load.

    import elastocal as ec

    robot = ec.read_robot("irb4600.urdf")
    data = ec.Campaign(q=q, position=xyz, length="mm", angle="deg")
    cal = ec.calibrate(robot, data)
    cal.predict(q)
    done = ec.compensate(cal, ec.read_program("contour.src"), wrench=[0, 0, -500, 0, 0, 0])

The names below are loaded when they are first used.
"""

from elastocal.lazy import lazy as _lazy

__version__ = "0.1.0"

_NAMES = {
    # robots
    "read_robot": "elastocal.files.robot.read",
    "shipped_robots": "elastocal.files.robot.read",
    "Robot": "elastocal.model.robot",
    "Pose": "elastocal.spatial.pose",
    # plan and simulate
    "plan": "elastocal.calibration.planning",
    "Cell": "elastocal.design.cell",
    "obstacles": "elastocal.design.obstacles:",
    "loads": "elastocal.design.loading:",
    "assess": "elastocal.calibration.simulation",
    "simulate": "elastocal.calibration.simulation",
    # measure: readings and their errors
    "Campaign": "elastocal.calibration.campaign",
    "read_campaign": "elastocal.calibration.readings",
    "Tracker": "elastocal.measure.sources.instrument",
    "sources": "elastocal.measure.sources:",
    # calibrate
    "calibrate": "elastocal.calibration.run",
    "cross_validate": "elastocal.calibration.validation",
    "Calibration": "elastocal.calibration.calibration",
    "read_calibration": "elastocal.calibration.store",
    "compare": "elastocal.calibration.comparison",
    "export": "elastocal.calibration.export",
    "history": "elastocal.store.history",
    # correct programs
    "read_program": "elastocal.files.programs",
    "compensate": "elastocal.compensation.run",
    "ProcessLoad": "elastocal.compensation.process",
    "iso9283": "elastocal.compensation.iso9283",
    # whole procedures, published cases, cells
    "procedures": "elastocal.procedures:",
    "reproduce": "elastocal.published.case",
    "desk": "elastocal.desk:",
    # the one error that is raised on purpose
    "InputError": "elastocal.errors",
}

__all__ = ["__version__", *_NAMES]
__getattr__, __dir__ = _lazy(__name__, _NAMES)

"""What each command takes from a cell and where its results go there.  docs/cells.md shows it to people."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Fill:
    """A value that the cell gives to a parameter that was not typed, unless one of others was.

    ``place`` is a role of cell.yaml, with ``name`` a file in that folder; "{}" stands for the label of the run.
    ``parent`` takes the folder of the place.
    """

    parameter: str
    place: str
    name: str = ""
    parent: bool = False
    output: bool = True
    unless: tuple[str, ...] = ()


@dataclass(frozen=True)
class Uses:
    """``roles`` are the places that a folder stands for, by parameter; ``fills`` what the cell adds.

    ``either`` are sets of parameters that say the same in different ways: what is typed in one of them sets aside what
    cell.yaml says in another.  ``nominal`` commands answer from the robot file, whether it was calibrated or not.
    """

    roles: dict[str, str]
    fills: tuple[Fill, ...] = ()
    either: tuple[tuple[str, ...], ...] = ()
    nominal: bool = False

    def other_ways(self, parameter: str, typed: Collection[str]) -> tuple[str, ...]:
        """What was typed in place of a parameter."""
        if not any(parameter in way for way in self.either):
            return ()
        return tuple(p for way in self.either if parameter not in way for p in way if p in typed)


REPORT = Fill("report", "reports", "{}.html")
ROBOT = Fill("robot", "robot", output=False)
WHERE = (("at",), ("configurations",))
"""Fills and ways that several commands share."""
USES: dict[str, Uses] = {
    "kinetostatics": Uses(
        {"robot": "robot"}, either=(("at", "torque"), ("position", "rpy", "force", "near"), ("table",))
    ),
    "plan": Uses({"source": "plan"}, (Fill("out", "planned", parent=True), REPORT)),
    "assess": Uses({"robot": "planned"}, (REPORT,)),
    "export": Uses(
        {"calibration": "calibration"},
        (Fill("kinematics", "calibration", "kinematics.yaml", parent=True, unless=("yaml", "urdf", "schema")),),
    ),
    "compensate": Uses(
        {"program": "programs", "calibration": "calibration", "robot": "robot", "truth": "robot"},
        (
            Fill("calibration", "calibration", output=False, unless=("robot",)),
            Fill("out", "corrected"),
            REPORT,
        ),
        (("force", "moment"), ("loads",), ("milling",)),
    ),
    "iso9283": Uses({"measured": "validation"}, (REPORT,)),
    "transmission": Uses(
        {"tables": "counts", "robot": "robot"},
        (ROBOT, Fill("out", "robot", "transmission.yaml", parent=True), REPORT),
    ),
    "loops": Uses({"data": "loops"}, (REPORT,)),
    "gravity": Uses(
        {"log": "log", "robot": "robot"},
        (ROBOT, Fill("out", "robot", "gravity.yaml", parent=True), REPORT),
    ),
    "record": Uses({"out": "log"}),
}
TARGETS = ("out", "urdf", "kinematics", "schema", "report", "csv")
"""Parameters that say where a result goes."""
FIRST = {
    "robot": "write it, or name it in cell.yaml",
    "plan": "write it (docs/planning.md), or name it in cell.yaml",
    "planned": "run 'elastocal plan CELL' first",
    "campaign": "put what was measured there, or run 'elastocal simulate CELL'",
    "calibration": "run 'elastocal calibrate CELL' first",
    "programs": "put programs to correct there",
}
"""How a place of the cell comes to hold something."""

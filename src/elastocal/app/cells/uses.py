"""What each command takes from a cell and where its results go there.  docs/cells.md shows it to people."""

from __future__ import annotations

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
    """``roles`` are the places that a folder stands for, by parameter; ``fills`` what the cell adds."""

    roles: dict[str, str]
    fills: tuple[Fill, ...] = ()


_REPORT = Fill("report", "reports", "{}.html")
_ROBOT = Fill("robot", "robot", output=False)
USES: dict[str, Uses] = {
    "show": Uses({"robot": "robot"}),
    "deflect": Uses({"robot": "robot"}),
    "stiffness": Uses({"robot": "robot"}),
    "kinetostatics": Uses({"robot": "robot"}),
    "convert": Uses({"source": "robot"}),
    "plan": Uses({"source": "plan"}, (Fill("out", "planned", parent=True), _REPORT)),
    "assess": Uses({"robot": "planned"}, (_REPORT,)),
    "simulate": Uses({"plan": "planned", "truth": "robot"}, (Fill("out", "campaign", parent=True), _REPORT)),
    "identify": Uses({"campaign": "campaign"}, (Fill("out", "calibration"), _REPORT)),
    "predict": Uses({"calibration": "calibration"}),
    "export": Uses(
        {"calibration": "calibration"},
        (Fill("kinematics", "calibration", "kinematics.yaml", parent=True, unless=("urdf", "schema")),),
    ),
    "compensate": Uses(
        {"program": "programs", "calibration": "calibration", "robot": "robot", "truth": "robot"},
        (
            Fill("calibration", "calibration", output=False, unless=("robot",)),
            Fill("out", "corrected"),
            _REPORT,
        ),
    ),
    "iso9283": Uses({"measured": "validation"}, (_REPORT,)),
    "arcs": Uses({"points": "points"}, (_REPORT,)),
    "compensator": Uses({"points": "points", "robot": "robot"}, (_ROBOT, _REPORT)),
    "transmission": Uses(
        {"tables": "counts", "robot": "robot"},
        (_ROBOT, Fill("out", "robot", "transmission.yaml", parent=True), _REPORT),
    ),
    "loops": Uses({"data": "loops"}, (_REPORT,)),
    "gravity": Uses(
        {"log": "log", "robot": "robot"},
        (_ROBOT, Fill("out", "robot", "gravity.yaml", parent=True), _REPORT),
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
    "calibration": "run 'elastocal identify CELL' first",
    "programs": "put programs to correct there",
}
"""How a place of the cell comes to hold something."""

"""What a person does at a cell: ``elastocal.desk``, beside the other names of ``import elastocal``.

A cell is made, asked how it stands, and worked on by its steps as they are typed.  ``cell`` and ``files`` are its
folder and what lies there; ``robot``, ``plan``, ``readings``, ``calibration`` and ``program`` look at one of its parts
and change it; ``work`` runs commands.  The studio shows what these return.
"""

from elastocal.desk import calibration, cell, files, plan, program, readings, robot, work
from elastocal.desk.cell import new, read_cell, status
from elastocal.desk.readings import columns
from elastocal.desk.work import run

__all__ = [
    "calibration",
    "cell",
    "columns",
    "files",
    "new",
    "plan",
    "program",
    "read_cell",
    "readings",
    "robot",
    "run",
    "status",
    "work",
]

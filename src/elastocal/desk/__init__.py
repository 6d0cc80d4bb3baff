"""What a person does at a cell: ``elastocal.desk``, beside the other names of ``import elastocal``.

A cell is made, asked how it stands, and worked on by its steps as they are typed.  ``cell`` and ``files`` are its
folder and what lies there; ``robot``, ``plan``, ``readings``, ``calibration`` and ``program`` look at one of its parts
and change it; ``work`` runs commands.  The studio shows what these return.
"""

from elastocal.lazy import lazy

_PARTS = ("calibration", "cell", "files", "plan", "program", "readings", "robot", "work")
_NAMES = {part: f"elastocal.desk.{part}:" for part in _PARTS} | {
    "new": "elastocal.desk.cell",
    "read_cell": "elastocal.desk.cell",
    "status": "elastocal.desk.cell",
    "columns": "elastocal.desk.readings",
    "run": "elastocal.desk.work",
    "History": "elastocal.store.history",
}

__all__ = [*_NAMES]
__getattr__, __dir__ = lazy(__name__, _NAMES)

"""Calibration by touching known objects (002): from a plan of contacts to what a fit of them is worth.

Order of the procedure: where to touch and how hard, and what a simulated robot reads of it (``plan``), whether such
contacts resolve what is sought and the cheapest change of plan that does (``repair``); the contacts read
as lengths (``gaps``), contacts and objects that do not belong (``outliers``), the calibration itself with its force
error and the estimates that stand for combinations (``calibrate``).  ``kinetostatics`` leads from drives to pose and
force and back.
"""

from elastocal.lazy import lazy

_NAMES = {
    "identify": "elastocal.procedures.contact.calibrate",
    "Touches": "elastocal.model.surfaces.surface",
    "Cylinder": "elastocal.model.surfaces.cylinder",
    "Disc": "elastocal.model.surfaces.disc",
    "Plane": "elastocal.model.surfaces.plane",
    "Sphere": "elastocal.model.surfaces.sphere",
}

__all__ = list(_NAMES)
__getattr__, __dir__ = lazy(__name__, _NAMES)

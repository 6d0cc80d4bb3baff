"""Units in files: a number's unit stands in its key (``xyz_mm``) or is declared once for its dimension."""

from __future__ import annotations

from math import pi

DEGREE = pi / 180

LENGTH = {"m": 1.0, "mm": 1e-3, "um": 1e-6, "in": 0.0254}
ANGLE = {"rad": 1.0, "deg": DEGREE, "mrad": 1e-3, "urad": 1e-6}
FORCE = {"N": 1.0, "kN": 1e3}
MOMENT = {"Nm": 1.0, "kNm": 1e3}
ANGULAR_COMPLIANCE = {"rad_per_Nm": 1.0, "urad_per_Nm": 1e-6, "mrad_per_Nm": 1e-3, "deg_per_Nm": DEGREE}
LINEAR_COMPLIANCE = {"m_per_N": 1.0, "mm_per_N": 1e-3, "um_per_N": 1e-6}

DIMENSIONS: dict[str, dict[str, float]] = {
    "length": LENGTH,
    "angle": ANGLE,
    "joint value": {**LENGTH, **ANGLE},
    "force": FORCE,
    "moment": MOMENT,
    "joint force": {**FORCE, **MOMENT},
    "mass": {"kg": 1.0, "g": 1e-3},
    "mass moment": {"kg_m": 1.0, "kg_mm": 1e-3},
    "joint compliance": {**ANGULAR_COMPLIANCE, **LINEAR_COMPLIANCE},
    "linear compliance": LINEAR_COMPLIANCE,
    "acceleration": {"m_s2": 1.0},
    "pressure": {"Pa": 1.0, "MPa": 1e6, "GPa": 1e9},
    "SI": {"SI": 1.0},
    "number": {},
}
"""Suffix and factor to SI, by dimension; ``number`` takes no unit."""

REVOLUTE = {*ANGLE, *ANGULAR_COMPLIANCE, *MOMENT}
PRISMATIC = {*LENGTH, *LINEAR_COMPLIANCE, *FORCE}

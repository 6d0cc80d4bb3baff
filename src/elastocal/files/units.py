"""Units in files: a number's unit stands in its key (``xyz_mm``) or is declared once for its dimension."""

from __future__ import annotations

from collections.abc import Iterable
from math import pi

from elastocal.errors import UnitError, WrongTypeError
from elastocal.files.located import Located, Path_

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
    "slope": {"m_per_m": 1.0, "mm_per_m": 1e-3, "um_per_m": 1e-6},
    "share": {"share": 1.0, "percent": 1e-2},
    "joint speed": {"rad_s": 1.0, "deg_s": DEGREE, "m_s": 1.0, "mm_s": 1e-3},
    "expansion": {"per_K": 1.0, "um_per_m_K": 1e-6},
    "time": {"s": 1.0, "min": 60.0},
    "SI": {"SI": 1.0},
    "number": {},
}
"""Suffix and factor to SI, by dimension; ``number`` takes no unit."""

REVOLUTE = {*ANGLE, *ANGULAR_COMPLIANCE, *MOMENT}
PRISMATIC = {*LENGTH, *LINEAR_COMPLIANCE, *FORCE}

USUAL = (
    *("mm", "deg", "rad_per_Nm", "m_per_N", "N", "Nm", "kg", "kg_m", "m_s2", "GPa", "um_per_m", "um_per_m_K"),
    *("percent", "SI"),
)
"""What an engineer would write first."""

_OF_JOINTS = {
    "joint value": {"revolute": "angle", "prismatic": "length"},
    "joint force": {"revolute": "moment", "prismatic": "force"},
    "joint compliance": {"revolute": "angular compliance", "prismatic": "linear compliance"},
}


def fitting(dimension: str | None, joint: str | None = None) -> tuple[str, ...]:
    """Suffixes of a dimension; ``joint`` (revolute or prismatic) leaves out what cannot fit it."""
    wrong: set[str] = set()
    if joint in ("revolute", "prismatic") and dimension in _OF_JOINTS:
        wrong = PRISMATIC if joint == "revolute" else REVOLUTE
    return tuple(u for u in DIMENSIONS.get(dimension or "", {}) if u not in wrong)


def spellings(name: str, dimension: str | None, joint: str | None = None) -> tuple[str, ...]:
    """The keys that a list of valid ones shows for a field: its usual units only."""
    return tuple(f"{name}_{u}" for u in fitting(dimension, joint) if u in USUAL) or (name,)


def with_article(dimension: str, joint: str | None = None) -> str:
    """``a length``, ``an angle``"""
    kinds = _OF_JOINTS.get(dimension)
    words = [dimension] if kinds is None else [kinds[joint]] if joint in kinds else list(kinds.values())
    return either(f"{'an' if word[0] in 'aeiou' else 'a'} {word}" for word in words)


def unit_is_of(unit: str) -> str | None:
    """The dimension that a suffix belongs to."""
    if unit in ANGULAR_COMPLIANCE:
        return "angular compliance"
    return next((d for d, units in DIMENSIONS.items() if unit in units and d not in _OF_JOINTS), None)


def compliance_unit(suffix: str) -> tuple[str, float] | None:
    """For a stiffness suffix such as ``Nm_per_rad``: the SI suffix of its inverse, and its own factor to SI."""
    over, _, under = suffix.replace("/", "_per_").partition("_per_")
    for loads, motions, inverse in ((MOMENT, ANGLE, "rad_per_Nm"), (FORCE, LENGTH, "m_per_N")):
        if over in loads and under in motions:
            return inverse, loads[over] / motions[under]
    return None


def either(words: Iterable[str]) -> str:
    """``a, b or c``"""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def declared_units(located: Located) -> dict[str, str]:
    """The unit of each dimension that the file declares under ``units``."""
    declared = located.data.get("units") or {}
    if not isinstance(declared, dict):
        raise located.error(
            ("units",), f"{declared!r} should be a mapping such as {{length: mm, angle: deg}}", WrongTypeError
        )
    for dimension, unit in declared.items():
        where: Path_ = ("units", str(dimension))
        if not DIMENSIONS.get(dimension):
            valid = [d for d, units in DIMENSIONS.items() if units]
            raise located.unknown(where, "dimension", str(dimension), valid)
        if not isinstance(unit, str) or unit not in DIMENSIONS[dimension]:
            raise located.error(where, f"{unit!r} is not a unit of it; use {either(DIMENSIONS[dimension])}", UnitError)
    return {str(dimension): str(unit) for dimension, unit in declared.items()}

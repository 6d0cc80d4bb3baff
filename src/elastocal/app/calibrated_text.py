"""The robot file with the values that a calibration found, each with its source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.files.calibration.record import CalibrationRecord
    from elastocal.model.elements import Element
    from elastocal.model.parameters import Parameter
    from elastocal.model.robot import RobotModel


def calibrated_text(model: RobotModel, record: CalibrationRecord, calibration: Path) -> str:
    """``model`` has the values of the record already.

    The source names the calibration by file and fingerprint: like all results the file holds no time.
    """
    import numpy as np

    from elastocal.files.opened import sha256_of
    from elastocal.files.robot.write import robot_text

    made = f"{calibration.name}, sha256 {sha256_of(calibration)[:16]}"
    estimated = {p.name for p in record.parameters if p.status == "estimated"}
    spread = zip(record.names, np.sqrt(np.diag(record.covariance)), strict=True)
    sd = {name: float(s) for name, s in spread if name in estimated}
    pairs = zip(model.elements, model.parameter_rows, strict=True)
    elements = tuple(_sourced(element, rows, sd, made) for element, rows in pairs)
    notes = [f"Made from {record.robot} by elastocal export, with the values that {made} found."]
    if record.without:
        notes.append(f"The calibration left out: {', '.join(record.without)}.")
    return robot_text(replace(model, elements=elements), notes)


def _sourced(element: Element, rows: tuple[Parameter, ...], sd: dict[str, float], made: str) -> Element:
    """The element with its source, where some of its values were identified."""
    found = [f"{p.name} +- {sd[p.name]:.2g} {p.unit}" for p in rows if p.name in sd]
    if not found:
        return element
    rest = any(p.value and p.name not in sd for p in rows)
    source = f"identified ({made}): {', '.join(found)}" + (f"; the rest: {element.source}" if rest else "")
    return replace(element, source=source, status=element.status if rest else "measured")

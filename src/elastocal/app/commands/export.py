"""A calibration for others: robot file, URDF with its compliances beside it, DH table, kinematics.yaml, JSON schema."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from elastocal.app.cells.roles import Fill, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command, protect
from elastocal.errors import MissingError
from elastocal.report.blocks import Column, Report, Section, Table
from elastocal.results import Finding, as_json
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.calibrated import Calibrated

_CELL = Uses(
    {"calibration": "calibration"},
    (Fill("kinematics", "calibration", "kinematics.yaml", parent=True, unless=("yaml", "urdf", "dh", "schema")),),
)
SIDECAR = "elastocal-compliance/1"


@dataclass(frozen=True, eq=False)
class ExportResult:
    """``files`` to be written, and what each holds; ``warned`` is what speaks against trusting the calibration."""

    robot: str
    files: dict[Path, str | bytes]
    words: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    warned: tuple[str, ...] = ()


@command("daily", 10, _CELL, report=False)
def export(
    calibration: o.Calibration,
    yaml: Annotated[Path | None, o.option("FILE.yaml", "Write the robot file with the estimates."), o.WRITTEN] = None,
    urdf: Annotated[
        Path | None, o.option("FILE.urdf", "Write the corrected URDF, compliances beside it."), o.WRITTEN
    ] = None,
    source: Annotated[
        Path | None, o.option("FILE.urdf", "The URDF that the robot file was made from.", "--from")
    ] = None,
    kinematics: Annotated[
        Path | None, o.option("FILE.yaml", "Joint origins like kinematics.yaml of Universal Robots."), o.WRITTEN
    ] = None,
    dh: Annotated[Path | None, o.option("FILE.csv", "The corrected DH table, as CSV or .xlsx."), o.WRITTEN] = None,
    schema: Annotated[Path | None, o.option("FILE.json", "The JSON schema of calibration files."), o.WRITTEN] = None,
) -> ExportResult:
    """A calibration in formats of others.

    The robot file holds everything. In the others geometry goes into the origins of joints; compliances into a
    JSON file beside the URDF, which has no words for them. Of a robot made from a DH table the URDF is written anew.

    \b
    Example:
      elastocal export calibration.json --yaml calibrated.yaml --kinematics kinematics.yaml
    """
    from elastocal.app.calibrated import calibrated, calibrated_robot_text, of_readings
    from elastocal.calibration.export import (
        corrected_dh,
        corrected_kinematics,
        corrected_urdf,
        fixed_geometry,
        new_urdf,
        of_table,
        varying_effects,
    )
    from elastocal.calibration.store import calibration_schema as readings_schema
    from elastocal.calibration.store import read_calibration
    from elastocal.files.calibration import calibration_schema
    from elastocal.files.robot.read import robot_file

    if not any((yaml, urdf, kinematics, dh, schema)):
        raise MissingError("nothing is asked for; add --yaml, --urdf, --dh, --kinematics or --schema with a file name")
    known = calibrated(calibration, None)
    model = known.model
    protect({"the robot": robot_file(known.word)})
    files: dict[Path, str | bytes] = {}
    words: list[tuple[str, str]] = []
    rigid, how_well = model, tuple[Finding, ...]()
    fixed = not (urdf is None and kinematics is None and dh is None)
    if of_readings(calibration) and fixed:
        rigid, how_well = fixed_geometry(read_calibration(calibration))
    notes = [*(f.text for f in how_well), *known.notes]
    if yaml is not None:
        files[yaml] = calibrated_robot_text(known, calibration)
        words.append((yaml.as_posix(), "robot file with the estimates; accuracies stay in the calibration"))
    if urdf is not None:
        beside = urdf.with_suffix(".compliance.json")
        if source is None and not of_table(model):
            raise MissingError.of("urdf", urdf, f"say with --from which URDF robot {known.word} was made from")
        files[urdf], lost = new_urdf(rigid) if source is None else corrected_urdf(rigid, source)
        files[beside] = sidecar_text(known, _placing(calibration), whole=bool(how_well))
        notes += lost
        words.append((urdf.as_posix(), "corrected URDF" if source is not None else "URDF of the corrected robot"))
        words.append((beside.as_posix(), "what a URDF cannot hold, for whoever computes with it"))
    if kinematics is not None:
        files[kinematics], lost = corrected_kinematics(rigid, known.mark)
        notes += [note for note in lost if note not in notes]
        words.append((kinematics.as_posix(), "joint origins in the style of Universal Robots"))
    if dh is not None:
        files[dh], lost = corrected_dh(rigid, dh.suffix)
        notes += [note for note in lost if note not in notes]
        words.append((dh.as_posix(), "DH table, standard and Hayati rows"))
    if fixed:
        notes += varying_effects(model)
    if schema is not None:
        files[schema] = readings_schema() if of_readings(calibration) else calibration_schema()
        words.append((schema.as_posix(), "JSON schema of calibration files"))
    return ExportResult(model.name, files, tuple(words), tuple(notes), known.warned)


def sidecar_text(known: Calibrated, placing: dict[str, Any] | None = None, *, whole: bool = False) -> str:
    """What a URDF has no words for: every parameter but constant geometry, in SI, with its accuracy; registration.

    The ``whole``, with constant geometry, where the origins of the URDF are not those of the calibrated robot.
    """
    from elastocal.calibration.export import CONSTANT

    geometry: set[str] = set() if whole else {p.name for p in known.model.parameters if p.kind in CONSTANT}
    rows: list[dict[str, Any]] = [
        {"name": p.name, "unit": p.unit, "value": p.value, "sd": p.sd if p.sd == p.sd else None, "status": p.status}
        for p in known.parameters
        if p.name not in geometry
    ]
    kept = [i for i, n in enumerate(known.names) if n not in geometry]
    covariance = [] if known.covariance is None else known.covariance[kept][:, kept].tolist()
    document = {
        "format": SIDECAR, "robot": known.word, "mark": known.mark, "tool": known.model.tool, "parameters": rows,
        "names": [known.names[i] for i in kept], "covariance": covariance,
        "discrepancy_m": known.discrepancy if known.discrepancy == known.discrepancy else None,
        "origins": "nominal: the URDF has a geometry that predicts best alone" if whole else "of the URDF",
        "warnings": list(known.warned),
    } | (placing or {})  # fmt: skip
    return as_json(document) + "\n"


def _placing(calibration: Path) -> dict[str, Any] | None:
    """Where stations and markers are, of a calibration by readings: poses of the base in stations, markers in m."""
    from elastocal.app.calibrated import of_readings
    from elastocal.calibration.store import read_calibration

    if not of_readings(calibration):
        return None
    c = read_calibration(calibration)
    return {
        "stations": [
            {"name": name, "rotation": c.placing.turn[i].tolist(), "translation_m": c.placing.shift[i].tolist()}
            for i, name in enumerate(c.stations)
        ],
        "markers": [{"name": n, "xyz_m": c.placing.markers[i].tolist()} for i, n in enumerate(c.markers)],
    }


def page(result: ExportResult) -> Report:
    table = Table("exported", "", (Column("file", "file"), Column("holds", "holds")), result.words)
    files = f"{len(result.words)} file{'s' * (len(result.words) != 1)}"
    verdict = (*result.warned, f"The calibration of {result.robot} is written in {files} for others.")
    return Report("Exported calibration", verdict, (Section("", (table,)),), result.notes)

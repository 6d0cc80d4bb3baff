"""Files of a calibration: the calibration itself, the robot file with its values, and what its accuracy leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.app.calibrated import Calibrated
    from elastocal.app.commands.calibrate import CalibrateResult
    from elastocal.files.calibration.record import CalibrationRecord, ParameterRecord
    from elastocal.model.elements import Element
    from elastocal.model.parameters import Parameter
    from elastocal.model.robot import Robot


def calibration(result: CalibrateResult, out: Path) -> str:
    """The calibration file: every parameter as it was calibrated, and the covariance of those estimated."""
    import numpy as np

    from elastocal.files.calibration.record import CalibrationRecord, calibration_text
    from elastocal.files.campaign.file import listed
    from elastocal.files.opened import seen_from
    from elastocal.files.robot.read import robot_file
    from elastocal.files.run_record import digests, robot_mark

    file, study = result.file, result.study
    fit, folder = study.fit, file.files[0].parent
    kind = fit.campaign.measurement
    own = robot_file(file.robot)
    record = CalibrationRecord(
        robot=file.robot if own is None else seen_from((folder / own).resolve(), out.resolve().parent),
        mark=robot_mark(file.robot, folder),
        serial=file.model.serial,
        tool=file.model.tool,
        without=listed(file.words.get("without", ())),
        form=file.requests.form or "beam",
        statics=kind.statics,
        load_frame=kind.load_frame,
        follows=not kind.touching and kind.setup.load.follows,
        parameters=_records(result),
        names=study.wide.names,
        covariance=np.asarray(study.wide.covariance),
        discrepancy=study.discrepancy.sd,
        discrepancy_reason=study.discrepancy.reason,
        noise_stated=fit.stated,
        scatter=fit.scatter,
        freedom=fit.freedom,
        warnings=tuple(f.text for f in result.judged.warnings),
        inputs=digests(file.files),
        seed=result.seed,
    )
    return calibration_text(record)


def _records(result: CalibrateResult) -> tuple[ParameterRecord, ...]:
    from elastocal.files.calibration.record import ParameterRecord
    from elastocal.solve.groups import Group

    study, fit = result.study, result.study.fit
    groups = study.identification.groups
    group = dict(zip(groups.names, (str(g) for g in groups.group), strict=True))
    group |= dict.fromkeys(result.judged.combined, str(Group.COMBINED))
    why = {d.name: d.reason for d in study.identification.dropped}
    sd = dict(zip(fit.names, (float(v) for v in fit.sd), strict=True))
    out = []
    for p in fit.model.parameters:
        if p.name in sd:
            out.append(ParameterRecord(name=p.name, unit=p.unit, value=p.value, sd=sd[p.name], group=group[p.name]))
        else:
            reason = why.get(p.name, "not sought")
            out.append(ParameterRecord(name=p.name, unit=p.unit, value=p.value, status="fixed", reason=reason))
    return tuple(out)


def calibrated_text(known: Calibrated, calibration: Path) -> str:
    """The robot file with the estimates.

    The source names the calibration by file and fingerprint: like all results the file holds no time.
    """
    import numpy as np

    from elastocal.calibration.calibration import Calibration
    from elastocal.calibration.export import with_placing
    from elastocal.files.opened import sha256_of
    from elastocal.files.robot.write import robot_text

    made = f"{calibration.name}, sha256 {sha256_of(calibration)[:16]}"
    model = known.model
    estimated = {p.name for p in known.parameters if p.status == "estimated"}
    assert known.covariance is not None
    spread = zip(known.names, np.sqrt(np.diag(known.covariance)), strict=True)
    sd = {name: float(s) for name, s in spread if name in estimated}
    pairs = zip(model.elements, model.parameter_rows, strict=True)
    elements = tuple(_sourced(element, rows, sd, made) for element, rows in pairs)
    notes = [f"Made from {known.word} by elastocal export, with the estimates of {made}."]
    if known.without:
        notes.append(f"The calibration left out: {', '.join(known.without)}.")
    calibrated = replace(model, elements=elements)
    if isinstance(known.known, Calibration):
        calibrated, placed = with_placing(calibrated, known.known)
        notes += placed
    return robot_text(calibrated, notes)


def _sourced(element: Element, rows: tuple[Parameter, ...], sd: dict[str, float], made: str) -> Element:
    """The element with its source, where some of its values were identified."""
    notes = [f"{p.name} +- {sd[p.name]:.2g} {p.unit}" for p in rows if p.name in sd]
    if not notes:
        return element
    rest = any(p.value and p.name not in sd for p in rows)
    source = f"identified ({made}): {', '.join(notes)}" + (f"; the rest: {element.source}" if rest else "")
    return replace(element, source=source, status=element.status if rest else "measured")


MOST = 6
MASSES = ("link_mass", "payload")


def taken_as_exact(parameters: Iterable[tuple[str, float]], sought: Iterable[str]) -> tuple[str, ...]:
    """Names of the parameters (with values) that have one and were not sought."""
    known = set(sought)
    return tuple(name for name, value in parameters if value and name not in known)


def exact_in(record: CalibrationRecord) -> tuple[str, ...]:
    """The same of a calibration file."""
    return taken_as_exact(((p.name, p.value) for p in record.parameters if p.status == "fixed"), record.names)


def exact_note(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    shown = ", ".join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
    return (f"Fixed at the robot file, because they were not sought: {shown}.",)


def assumed_masses(model: Robot, sought: Iterable[str]) -> tuple[str, ...]:
    """Parameters of masses that nobody sought and that are assumed."""
    named = ((p.name, p.value) for p in model.parameters if p.kind in MASSES and p.status == "assumed")
    return taken_as_exact(named, sought)

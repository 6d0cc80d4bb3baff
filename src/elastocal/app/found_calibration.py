"""The calibration file of an identification."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.app.commands.calibrate import CalibrateResult
    from elastocal.files.calibration.record import ParameterRecord


def calibration(result: CalibrateResult, out: Path) -> str:
    """The calibration file: every parameter as it was calibrated, and the covariance of those estimated."""
    import numpy as np

    from elastocal.files.calibration.record import CalibrationRecord, calibration_text
    from elastocal.files.campaign.readings_entry import listed
    from elastocal.files.digest import digests, robot_mark
    from elastocal.files.place import seen_from
    from elastocal.files.robot.read import robot_file
    from elastocal.measure.contact_force import ContactForce
    from elastocal.measure.deflection import Deflection

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
        statics=kind.statics if isinstance(kind, Deflection) else "loaded",
        load_frame=kind.touches.frame if isinstance(kind, ContactForce) else kind.setup.load.frame,
        follows=not isinstance(kind, ContactForce) and kind.setup.load.follows,
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
    from elastocal.identifiability.groups import Group

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
            out.append(ParameterRecord(name=p.name, unit=p.unit, value=p.value, status="held", reason=reason))
    return tuple(out)

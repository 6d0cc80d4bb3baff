"""The certificate of a calibration: what was found, what people state, the uncertainty budget, and the decision.

The variance of the predicted markers at the poses that were measured is the trace of J C J^T.  The share of a group of
parameters is the sum over its members of J_p (C J^T)_p, which counts correlations half to each side, so that the shares
add up exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, sqrt
from typing import TYPE_CHECKING

import numpy as np

from elastocal import __version__
from elastocal.calibration.decision import K, Outcome, decide
from elastocal.calibration.prediction import slopes_and_noise
from elastocal.errors import UnsupportedError
from elastocal.files.cell import Stated
from elastocal.model.kinematics import kinematics
from elastocal.report.certificate import Certificate, Group, Line
from elastocal.solve.summary import ErrorSummary, rms

if TYPE_CHECKING:
    from elastocal.calibration.accuracy import Validation
    from elastocal.calibration.calibration import Calibration


STATED = "stated priors"


def variance_at_poses(c: Calibration) -> tuple[float, Mapping[str, float], float]:
    """Mean variance of a predicted point over the campaign's poses, its shares by group, and the variance that one
    reading has besides, all in m2."""
    slope, noise = slopes_and_noise(c, c.residuals.q, c.residuals.wrench)
    shares = np.mean(np.sum(slope * (slope @ c.covariance), axis=1), axis=0)
    groups: dict[str, float] = {}
    for name, share in zip(_column_groups(c), shares, strict=True):
        groups[name] = groups.get(name, 0.0) + float(share) / len(c.markers)
    groups["model discrepancy"] = noise.shape[2] * c.discrepancy**2
    return sum(groups.values()), groups, float(np.mean(np.sum(noise, axis=2)))


def _column_groups(c: Calibration) -> list[str]:
    group = {e.name: STATED if e.stated else e.group for e in c.parameters.rows}
    rest = c.covariance.shape[0] - len(c.names)
    return [group.get(n, "other parameters") for n in c.names] + ["stations and markers"] * rest


TRACEABLE = (
    "lengths are traceable to the SI metre through the instrument named above, by its certificate; uncertainty by GUM, "
    "expanded with k = 2 (about 95 %)."
)
UNLOADED = "deflections under load were read: nothing is said of where the unloaded tool is"
ANGLES = "orientations alone were read: a certificate states lengths, and nothing is known of any"
NOT_TRACEABLE = "not stated: name the instrument, its serial number and its certificate."


def certificate_of(
    c: Calibration,
    validation: Validation | None = None,
    stated: Stated | None = None,
    files: Mapping[str, str] | None = None,
) -> Certificate:
    if c.before.unit != "m":
        raise UnsupportedError(f"{c.robot.name}: {ANGLES}; read positions too")
    statements = stated or Stated()
    decision = decide(validation, statements.tolerance, statements.statistic)
    expected = expected_errors(c, validation)
    numbers = {"value": decision.value, "uncertainty": decision.uncertainty, "tolerance": decision.tolerance}
    return Certificate(
        item=_item(c, statements),
        outcome=decision.outcome,
        reason=decision.reason,
        rule=decision.rule,
        numbers=numbers,
        uncertainty_basis=decision.basis,
        errors=_errors(c, validation),
        basis=_basis(c, validation),
        measurand="Position error" if c.placed else "Error of predicted deflections",
        expected_of="the compensated tool" if c.placed else "predicted deflections",
        expected=None if expected is None else expected[0],
        groups=_groups(c, statements),
        traceability=_traceability(statements),
        warnings=(
            *_unloaded(c),
            *(w.text for w in c.warnings if w.severity == "warning"),
            *_warned(validation, decision.outcome),
            *_expired(statements),
        ),
        version=__version__,
        files=files or {},
    )


def expected_errors(c: Calibration, validation: Validation | None) -> tuple[float, float] | None:
    """What uncertainty of the model lets expect of the tool's place, twice the RMS of its predicted standard deviation,
    and what it lets expect with the noise of one reading, the RMS distance that an RMS error is to be compared with; m.

    Over the validation points, without them over the measured poses.  Where deflections alone were read it is that of
    deflections, and None without validation points.
    """
    if validation is None or not validation.after.count:
        if not c.placed:
            return None
        model, _, noise = variance_at_poses(c)
        return K * sqrt(model), sqrt(model + noise)
    read = np.isfinite(validation.errors)
    return K * rms(validation.expected[read]), rms(validation.spread[read])


def _item(c: Calibration, stated: Stated) -> str:
    kind = stated.robot_type or c.robot.title or c.robot.name
    make = stated.robot_make or ""
    name = kind if kind.lower().startswith(make.lower()) else f"{make} {kind}"
    serial = stated.robot_serial or c.robot.serial
    return f"{name}, serial number {serial}" if serial else name


def _basis(c: Calibration, validation: Validation | None) -> str:
    if validation is not None:
        return "validation poses" if _is_new(validation) else "poses of the calibration: not validated"
    return "refits without a fifth of the calibration poses" if c.optimistic else "leave-one-out on calibration poses"


def _errors(c: Calibration, validation: Validation | None) -> dict[str, ErrorSummary]:
    pairs = (c.before, c.claim) if validation is None else (validation.before, validation.after)
    if validation is not None and _is_new(validation):
        pairs = ErrorSummary.of(validation.new[0]), ErrorSummary.of(validation.new[1])
    by = ", leave-one-out" if validation is None and c.optimistic else ""
    return {f"before (nominal{by})": pairs[0], "after (calibrated)": pairs[1]}


def _is_new(validation: Validation) -> bool:
    """Whether any pose took no part in the calibration."""
    return bool(np.isfinite(validation.new[1]).any())


def _groups(c: Calibration, s: Stated) -> tuple[Group, ...]:
    known = c.reference_temperature
    mean = f"{known:.1f} \N{DEGREE SIGN}C (mean of the campaign)" if isfinite(known) else None
    degrees = mean if s.temperature_C is None else f"{s.temperature_C:g} \N{DEGREE SIGN}C"
    return (
        Group("Certificate", (
            Line("number", "number", s.number), Line("customer", "customer", s.customer),
            Line("date", "date of calibration", _day(s.date)), Line("issued", "date of issue", _day(s.issued)),
            Line("place", "place", s.place), Line("operator", "operator", s.operator),
            Line("authorised_by", "authorised by", s.authorised_by), Line("procedure", "procedure", s.procedure),
        )),
        Group("Robot", (
            Line("robot_make", "make", s.robot_make), Line("robot_type", "type", s.robot_type or c.robot.title or None),
            Line("robot_serial", "serial number", _text(s.robot_serial or c.robot.serial)),
            Line("robot_controller", "controller", s.robot_controller),
            Line("robot_software", "software", s.robot_software),
            Line("robot_mastered", "mastered", _day(s.robot_mastered)),
            Line("accuracy_option", "maker's accuracy option", s.accuracy_option),
        ), owned=True),
        Group("Instrument", (
            Line("instrument_type", "type", s.instrument_type),
            Line("instrument_serial", "serial number", _text(s.instrument_serial)),
            Line("instrument_certificate", "certificate", s.instrument_certificate),
            Line("instrument_due", "due", _day(s.instrument_due)), Line("target", "target", s.target),
        ), owned=True),
        Group("Conditions", (
            Line("temperature_C", "temperature", degrees), Line("warm_up", "warm-up", s.warm_up),
            Line("payload_kg", "payload", None if s.payload is None else f"{s.payload:g} kg"),
            Line("payload_centre", "payload centre", s.payload_centre), Line("tool", "tool", s.tool),
            Line("model", "model", " + ".join(c.words) or "nominal"),
            Line("markers", "markers", str(len(c.markers))), Line("range", "measured range", _range(c)),
        )),
    )  # fmt: skip


def _range(c: Calibration) -> str:
    """For what the result stands: how far from the first axis, and under which loads, readings were taken."""
    reach = np.linalg.norm(kinematics(c.nominal, c.residuals.q).position[:, :2], axis=1)
    load = float(np.linalg.norm(c.residuals.wrench[:, :3], axis=1).max())
    loads = f"loads up to {load:.4g} N" if load else "no applied load"
    return f"{len(np.unique(c.residuals.pose))} poses, reach {reach.min():.2f} to {reach.max():.2f} m, {loads}"


def _traceability(s: Stated) -> str:
    if s.traceability:
        return s.traceability
    return TRACEABLE if s.instrument_certificate and s.instrument_serial else NOT_TRACEABLE


def _unloaded(c: Calibration) -> tuple[str, ...]:
    """For what a certificate of deflections does not stand."""
    return () if c.placed else (UNLOADED,)


def _warned(validation: Validation | None, outcome: Outcome) -> tuple[str, ...]:
    """A cause that is not the robot is the reason of what is not decided, and said there."""
    if validation is None:
        return ()
    own = validation.verdict
    said = own.severity != "warning" or (validation.cause is not None and outcome != "PASS")
    return (*(() if said else (own.text,)), *(w.text for w in validation.warnings))


def _expired(s: Stated) -> tuple[str, ...]:
    if s.date is None or s.instrument_due is None or s.instrument_due >= s.date:
        return ()
    return (f"the instrument was due for calibration on {s.instrument_due}, before {s.date}",)


def _day(value: object) -> str | None:
    return None if value is None else str(value)


def _text(value: object) -> str | None:
    return str(value) if value else None

"""Entries as they follow from what a robot's history already holds, and from what people type about them.

Texts, days and times are checked before they are kept for ever.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from importlib.util import find_spec
from typing import Any

import numpy as np

from elastocal.calibration.accuracy import Validation
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.certificate import certificate_of
from elastocal.calibration.drift import tool_places
from elastocal.calibration.page import certificate_contents
from elastocal.calibration.states import gather
from elastocal.errors import InputError, MissingError
from elastocal.files.cell import Stated
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.store.entry import Calibrated, Checked, Entry, Kind, Parameters, Released, sha256
from elastocal.store.robot_history import RobotHistory

LONGEST = {"robot": 200, "name": 200, "who": 200, "reason": 2000}


def text(value: str | None, what: str, *, needed: bool = False) -> str | None:
    """As it was typed, without blanks around it."""
    given = (value or "").strip()
    if not given:
        if needed:
            raise MissingError(f"{what} is missing; it is kept with the entry for ever", parameter=what)
        return None
    if len(given) > LONGEST[what]:
        raise InputError(f"{what} has {len(given)} characters; {LONGEST[what]} are the most", code="too-long",
                         value=given, parameter=what)  # fmt: skip
    if not given.replace("\n", " " if what == "reason" else "\n").isprintable():
        raise InputError(f"{what} {given!r} holds characters that cannot be printed; leave them out",
                         code="characters", value=given, parameter=what)  # fmt: skip
    return given


def moment(value: str | date | datetime | None, now: datetime) -> str:
    """UTC, to the second; a day alone is its begin, a time without a zone is one of UTC."""
    if value is None:
        value = now
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InputError(f"{value!r} is no time; write 2026-11-30 or 2026-11-30T14:05", code="time", value=value,
                             parameter="time") from None  # fmt: skip
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    when = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if when > now + timedelta(days=1):
        raise InputError(f"{when:%Y-%m-%d %H:%M} lies in the future; check the time", code="future", value=str(when),
                         parameter="time")  # fmt: skip
    return f"{when:%Y-%m-%dT%H:%M:%SZ}"


def day(value: str | date | None, what: str) -> str | None:
    if value is None or isinstance(value, date):
        return None if value is None else value.isoformat()
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise InputError(f"{what}: {value!r} is no day; write 2027-11-30", code="day", value=value,
                         parameter=what) from None  # fmt: skip


POSES = 24
"""At which the tool is watched where nobody names others."""
CERTIFICATE = "certificate"
"""Files of a release: with .html, .json, and .pdf where the extra of that name is installed."""
MIDDLE = 0.8
"""Share of the joint ranges that they are spread over."""


def first_of(robot: str, calibration: Calibration, poses: object) -> tuple[str, str]:
    """Joints and check poses of a robot that the store does not know yet, as JSON."""
    model = calibration.robot
    at = spread_poses(model) if poses is None else np.asarray(poses, dtype=np.float64)
    if at.ndim != 2 or at.shape[1] != model.n or len(at) < 4 or not np.isfinite(at).all():
        raise InputError(f"{robot}: check poses have shape {at.shape}; give at least 4 rows of {model.n} joint values",
                         code="poses", parameter="poses")  # fmt: skip
    return json.dumps(model.joints), json.dumps(at.tolist())


def spread_poses(robot: Robot) -> Array:
    """Joint values (poses, n) that fill the middle of the joint ranges evenly.

    By powers of the root of x^(n+1) = x + 1: the same for one robot on every machine.
    """
    n, root = robot.n, 2.0
    for _ in range(60):
        root = (1 + root) ** (1 / (n + 1))
    share = (0.5 + np.arange(1, POSES + 1)[:, None] * root ** -np.arange(1.0, n + 1)) % 1.0
    wide = [np.pi if m.kind == "revolute" else robot.size for m in robot.motions]
    limits = np.array([m.limits or (-w, w) for m, w in zip(robot.motions, wide, strict=True)])
    middle, half = limits.mean(axis=1), MIDDLE * np.diff(limits, axis=1)[:, 0] / 2
    return np.asarray(middle + (2 * share - 1) * half)


def calibration_entry(
    history: RobotHistory, c: Calibration, file: str, temperature: float | None, supersedes: int | None, **head: Any
) -> Entry:
    """``file`` is the SHA-256 of the calibration's file."""
    if c.robot.joints != history.joints:
        raise InputError(
            f"{history.robot}: has joints {', '.join(history.joints)}, this calibration {', '.join(c.robot.joints)}; "
            "record it under another robot", code="other-robot",
        )  # fmt: skip
    if supersedes is not None:
        _replaceable(history, supersedes, "calibration")
    points, variance = tool_places(c, history.poses)
    rows = [c.parameters[n] for n in c.names]
    parameters = Parameters(
        c.names, tuple(r.unit for r in rows), tuple(float(r.value) for r in rows), tuple(float(r.sd) for r in rows)
    )
    own = Calibrated(
        file, c.words, c.leave_one_out, c.before, len(c.outliers), parameters,
        tuple((float(x), float(y), float(z)) for x, y, z in points), float(np.sqrt(variance.mean())),
    )  # fmt: skip
    read = c.reference_temperature if np.isfinite(c.reference_temperature) else None
    warm = read if temperature is None else temperature
    doubt = tuple(w for w in c.warnings if w.code == "optimistic")  # its leave-one-out error is no claim
    return new_entry(
        history, "calibration", supersedes=supersedes, temperature=warm, calibration=own, findings=doubt, **head
    )


def checked_number(history: RobotHistory, number: int | None) -> int:
    """Of the calibration to check: as asked for, else the released one, else the last."""
    if number is not None:
        if history.entry(number).calibration is None:
            raise InputError(f"{history.robot}: number {number} is a {history.entry(number).kind}, no calibration",
                             code="no-calibration", value=number)  # fmt: skip
        return number
    if history.release is not None:
        return history.release.of
    if not history.calibrations:
        raise InputError(f"{history.robot}: has no calibration to check; record one first", code="no-calibration")
    return history.calibrations[-1].number


def checked(calibration: Calibration, campaign: Campaign, of: int, *, refit: bool) -> Checked:
    result = calibration.validate(campaign, refit=refit)
    states = gather(calibration.robot, campaign, calibration.reference_temperature)
    load = np.zeros((len(states.q), 6)) if states.wrench is None else states.wrench
    mark = sha256(json.dumps(np.round(np.hstack([states.q, load]), 3).tolist()))
    largest = np.nanmax(np.where(np.isfinite(result.errors), result.errors, -np.inf), axis=1)
    return Checked(
        of, mark, result.after, result.before, result.coverage, result.stations_fitted,
        tuple(f"{i}" for i in range(1, len(largest) + 1)), tuple(float(v) for v in largest),
    )  # fmt: skip


def known_temperature(campaign: Campaign, stated: float | None) -> float | None:
    if stated is not None or campaign.temperature is None:
        return stated
    mean = float(np.nanmean(campaign.temperature))
    return mean if np.isfinite(mean) else None


def release_entry(
    history: RobotHistory, number: int | None, name: str, due: str | date | None, *, baseline: bool, **head: Any
) -> Entry:
    if number is None:
        if not history.calibrations:
            raise InputError(f"{history.robot}: has no calibration to release; record one first", code="no-calibration")
        number = history.calibrations[-1].number
    if history.entry(number) not in history.calibrations:
        why = "was superseded" if history.entry(number).calibration else f"is a {history.entry(number).kind}"
        valid = [e.number for e in history.calibrations]
        raise InputError(f"{history.robot}: number {number} {why}; release one of {', '.join(map(str, valid))}",
                         code="no-calibration", value=number, allowed=valid)  # fmt: skip
    if any(e.release is not None and e.release.name == name for e in history.entries):
        raise InputError(f"{history.robot}: a release {name!r} exists and is never overwritten; give another name",
                         code="name-taken", value=name, parameter="name")  # fmt: skip
    last = history.released
    own = Released(number, name, day(due, "due"), baseline)
    return new_entry(history, "release", supersedes=None if last is None else last.number, release=own, **head)


def issued(
    calibration: Calibration, stated: Stated, read: Validation | None, *, files: Mapping[str, str],
    head: Mapping[str, Any], name: str,
) -> dict[str, bytes]:  # fmt: skip
    """The certificate of a release by file name: authorised by who releases, under the name of the release."""
    own = {"number": name, "authorised_by": head["who"], "issued": date.fromisoformat(head["time"][:10])}
    complete = replace(stated, **{k: v for k, v in own.items() if getattr(stated, k) is None})
    made = certificate_of(calibration, read, complete, files)
    kinds = (".html", ".json", ".pdf") if find_spec("typst") else (".html", ".json")
    texts = {k: certificate_contents(calibration, made, k, read, complete.tolerance) for k in kinds}
    return {CERTIFICATE + k: t if isinstance(t, bytes) else t.encode() for k, t in texts.items()}


def withdrawal_entry(history: RobotHistory, number: int, **head: Any) -> Entry:
    entry = history.entry(number)
    if entry.kind == "withdrawal":
        text = f"{history.robot}: number {number} is a withdrawal, which stays; record again what it took out"
        raise InputError(text, code="kind", value=number)
    _replaceable(history, number, entry.kind)
    release = history.release
    if history.released is not None and release is not None and release.of == number:
        raise InputError(
            f"{history.robot}: number {number} is released as {release.name!r}; withdraw that release (number "
            f"{history.released.number}) or release another calibration first", code="released", value=number,
        )  # fmt: skip
    return new_entry(history, "withdrawal", supersedes=number, **head)


def _replaceable(history: RobotHistory, number: int, kind: str) -> None:
    own = history.entry(number).kind
    if own != kind:
        text = f"{history.robot}: number {number} is a {own}, not a {kind}"
        raise InputError(text, code="kind", value=number, parameter="supersedes")
    later = history.superseded_by(number)
    if later is not None:
        raise InputError(f"{history.robot}: number {number} was superseded already, by number {later.number}",
                         code="superseded", value=number, parameter="supersedes")  # fmt: skip


def new_entry(history: RobotHistory, kind: Kind, **values: Any) -> Entry:
    """The next entry of a history."""
    start: dict[str, Any] = {"supersedes": None, "temperature": None, "inputs": {}}
    return Entry(
        robot=history.robot, number=len(history.entries) + 1, kind=kind, previous=history.mark, **{**start, **values},
    )  # fmt: skip

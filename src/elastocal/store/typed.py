"""What people type about an entry: texts, days and times, checked before they are kept for ever."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from elastocal.errors import InputError, MissingError

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

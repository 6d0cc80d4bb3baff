"""What an accuracy leaves out: parameters of the robot file that nobody sought."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MOST = 6


def taken_as_exact(parameters: Iterable[tuple[str, float]], sought: Iterable[str]) -> tuple[str, ...]:
    """Names of the parameters (with values) that have one and were not sought."""
    known = set(sought)
    return tuple(name for name, value in parameters if value and name not in known)


def exact_note(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    shown = ", ".join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
    return (f"Taken as exact, because they were not sought: {shown}.",)

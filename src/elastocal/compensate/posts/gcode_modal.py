"""What G-code remembers from line to line, and which words can be followed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

PLANES = {17.0: 2, 18.0: 1, 19.0: 0}
"""The axis that arcs turn about."""
METRES = {20.0: 0.0254, 70.0: 0.0254, 700.0: 0.0254, 21.0: 1e-3, 71.0: 1e-3, 710.0: 1e-3}
SYSTEMS = {*range(54, 60), 59.1, 59.2, 59.3, 500, *range(505, 600)}
QUIET = {
    5.1,
    9,
    15,
    40,
    41,
    42,
    43,
    43.4,
    43.5,
    44,
    49,
    50,
    60,
    61,
    61.1,
    64,
    96,
    97,
    98,
    99,
    601,
    602,
    641,
    642,
    643,
    644,
    645,
}
SHIFTS = {16, 50.1, 51, 51.1, 52, 68, 68.2, 69, 92, 92.1, 92.2, 92.3}
CYCLES = {73, 74, 76, *range(81, 90)}
ELSEWHERE = {27: "", 28: "reference point", 29: "", 30: "reference point", 31: "probing", 53: "machine coordinates"}
CALLS = {65: "macro call", 66: "macro call", 67: "macro call"}


@dataclass(frozen=True)
class Modal:
    """``unit`` in m, ``feed`` in m/s."""

    motion: int | None = None
    axis: int = 2
    unit: float = 1e-3
    absolute: bool = True
    centres_absolute: bool = False
    base: str = "G54"
    tool: str = "T0"
    picked: str = "T0"
    per_minute: bool = True
    feed: float = np.nan
    cycle: bool = False


def with_code(modal: Modal, code: float, line: int) -> tuple[Modal, str]:
    """The state after a G word, and why the line cannot be followed ("": it can)."""
    if code in (0, 1, 2, 3):
        return replace(modal, motion=int(code), cycle=False), ""
    if code in PLANES:
        return replace(modal, axis=PLANES[code]), ""
    if code in METRES:
        return replace(modal, unit=METRES[code]), ""
    if code in (90, 91):
        return replace(modal, absolute=code == 90), ""
    if code in (90.1, 91.1):
        return replace(modal, centres_absolute=code == 90.1), ""
    if code in SYSTEMS:
        return replace(modal, base=f"G{code:g}"), ""
    if code in (93, 94, 95):
        return replace(modal, per_minute=code == 94, feed=np.nan), ""
    if code == 80:
        return replace(modal, cycle=False), ""
    if code in CYCLES:
        return replace(modal, cycle=True), ""
    if code in SHIFTS:
        return replace(modal, base=f"{modal.base.split()[0]} as changed by G{code:g} in line {line}"), "shift"
    if code in QUIET:
        return modal, ""
    named = ELSEWHERE.get(int(code)) or CALLS.get(int(code)) if code == int(code) else None
    return modal, f"G{code:g} ({named})" if named else f"G{code:g} is not followed"


def with_codes(modal: Modal, codes: Iterable[float], line: int) -> tuple[Modal, str]:
    reason = ""
    for code in codes:
        modal, problem = with_code(modal, code, line)
        reason = reason or problem
    return modal, reason

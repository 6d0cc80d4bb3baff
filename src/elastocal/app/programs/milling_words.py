"""--milling: a process in words, and its forces along a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.configurations import numbers
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.compensate.milling import Milling
    from elastocal.compensate.placed import Placed
    from elastocal.spatial.entries import Array, Bools

NEEDED = {
    "kc_MPa": ("specific_force", 1e6),
    "ap_mm": ("axial_depth", 1e-3),
    "ae_mm": ("radial_engagement", 1e-3),
    "D_mm": ("diameter", 1e-3),
    "teeth": ("teeth", 1.0),
    "spindle_rpm": ("spindle", 1 / 60),
}
OPTIONAL = {"m": ("exponent", 1.0), "radial": ("radial", 1.0), "axial": ("axial", 1.0)}
FEED = "feed_mm_min"


def milling_words(at: Placed, text: str, acting: Bools) -> Array:
    """Wrenches (S, 6) in robot axes of stations that are gone to at cutting feed, zero elsewhere."""
    import numpy as np

    from elastocal.compensate.milling import milling_wrenches

    process, stated = _process(text)
    stations, moves = at.stations, at.stations.program.moves
    cuts = acting & np.array([moves[m].motion != "joint" for m in stations.move])
    if not cuts.any():
        raise InputError("--milling: no target is gone to in a line or an arc, so nothing is cut")
    feed = np.array([moves[m].feed for m in stations.move])
    feed = np.where(np.isfinite(feed), feed, np.nan if stated is None else stated)
    open_ = cuts & ~np.isfinite(feed)
    if open_.any():
        raise InputError(f"{stations.name(int(np.argmax(open_)))}: its feed is not known; add {FEED}=... to --milling")
    # the third axis of a tool points away from the spindle, that of a direction i j k towards it
    sense = np.array([1.0 if k == "axis" else -1.0 for k in stations.kind])
    axis = sense[:, None] * at.rotation[:, :, 2]
    axis = np.where(np.isfinite(axis), axis, np.array([0.0, 0.0, 1.0]))
    return milling_wrenches(process, "", at.position, axis, np.where(cuts, feed, 0.0), cuts).wrench


def _process(text: str) -> tuple[Milling, float | None]:
    """The process, and the feed in m/s where it is stated."""
    from elastocal.compensate.milling import Milling

    words: dict[str, float] = {}
    for part in text.split(","):
        key, equals, value = (p.strip() for p in part.partition("="))
        if key not in (*NEEDED, *OPTIONAL, FEED) or not equals:
            known = ", ".join((*NEEDED, *OPTIONAL, FEED))
            raise InputError(f"--milling: {part.strip()!r} is not understood; give WORD=NUMBER with words {known}")
        words[key] = numbers(value, 1, f"--milling {part.strip()!r}", key)[0]
    lacking = [k for k in NEEDED if k not in words]
    if lacking:
        raise InputError(f"--milling: {lacking[0]} is missing; an example: kc_MPa=700,ap_mm=5,ae_mm=10,D_mm=20,teeth=2,"
                         "spindle_rpm=9000")  # fmt: skip
    named = {name: words[k] * factor for k, (name, factor) in {**NEEDED, **OPTIONAL}.items() if k in words}
    teeth = round(named.pop("teeth"))
    return Milling(teeth=teeth, **named), words[FEED] * 1e-3 / 60 if FEED in words else None

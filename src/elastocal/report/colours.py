"""One colour language for every figure, on screen, in the dark and on paper.

The colours of meaning are those of Okabe and Ito, which people with any of the usual colour deficiencies tell apart;
shape and dash say the same a second time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from elastocal.spatial.entries import Array

Role = Literal[
    "",
    "before",
    "after",
    "expected",
    "outlier",
    "tolerance",
    "file",
    "truth",
    "noise",
    "read",
    "load",
    "robot",
    "program",
    "floor",
]
"""What a curve or mark stands for; "" takes the next colour of the others."""
Colours = tuple[tuple[int, int, int], ...]
Paint = Callable[[str], str]
"""The colour of a name, as a drawing writes it."""

LIGHT = {
    "paper": "#ffffff", "ink": "#1d2733", "soft": "#55616e", "line": "#d7dde4", "tint": "#eef3f8", "accent": "#0b5394",
    "good": "#00704f", "bad": "#b3261e", "open": "#8a5a00", "warn": "#fff1d6",
    "before": "#d55e00", "after": "#0072b2", "expected": "#56b4e9", "outlier": "#c2478a", "tolerance": "#1d2733",
    "file": "#6b7683", "truth": "#008f68", "noise": "#b9c4cf", "read": "#3c4a54", "load": "#6a3d9a",
    "robot": "#3c4a54", "program": "#e69f00", "floor": "#8a97a6",
    "c0": "#6a3d9a", "c1": "#4d9221", "c2": "#8a6d00", "c3": "#5d4037", "c4": "#00594c", "c5": "#7d8b97",
    "c6": "#263238",
}  # fmt: skip
DARK = LIGHT | {
    "paper": "#14191f", "ink": "#e6ebf0", "soft": "#a5b1bd", "line": "#39434e", "tint": "#1f2730", "accent": "#7db7ec",
    "good": "#4ad0a2", "bad": "#ff8a80", "open": "#f0b94d", "warn": "#4a3a12",
    "before": "#f28c3c", "after": "#4aa8e0", "expected": "#2f78a8", "outlier": "#e08bbb", "tolerance": "#e6ebf0",
    "file": "#98a4b0", "truth": "#35c79a", "noise": "#4b5763", "read": "#c9d3dc", "load": "#b99be0",
    "robot": "#c9d3dc", "program": "#f0b94d", "floor": "#7c8894",
    "c0": "#b99be0", "c1": "#a6d96a", "c2": "#d8bd5c", "c3": "#b08968", "c4": "#66c2a5", "c5": "#93a1ad",
    "c6": "#e6ebf0",
}  # fmt: skip
OTHERS = 7
"""Colours of what has no role: none of them is near before or after."""
VIRIDIS = (
    (68, 1, 84), (72, 40, 120), (62, 74, 137), (49, 104, 142), (38, 130, 142), (31, 158, 137), (53, 183, 121),
    (109, 205, 89), (180, 222, 44), (253, 231, 37),
)  # fmt: skip
DIVERGING = (
    (5, 48, 97), (33, 102, 172), (67, 147, 195), (146, 197, 222), (209, 229, 240), (247, 247, 247), (253, 219, 199),
    (244, 165, 130), (214, 96, 77), (178, 24, 43), (103, 0, 31),
)  # fmt: skip
"""Scales of maps: of sizes, and of what has a sign."""


def on_page(name: str) -> str:
    """A variable of the page's style sheet, so that dark and print are a matter of the sheet."""
    return f"var(--{name})"


def printed(name: str) -> str:
    """A literal colour, for drawings that stand alone."""
    return LIGHT[name]


def of_role(role: Role, number: int) -> str:
    return role or f"c{number % OTHERS}"


def mixed(scale: Colours, shares: Array) -> NDArray[np.uint8]:
    """Colours (N, 3) of a scale, ``shares`` (N,) from 0 to 1."""
    import numpy as np

    place = np.clip(shares, 0.0, 1.0) * (len(scale) - 1)
    low = np.minimum(place.astype(np.int64), len(scale) - 2)
    colours, part = np.array(scale, dtype=np.float64), (place - low)[:, None]
    out: NDArray[np.uint8] = np.rint(colours[low] + part * (colours[low + 1] - colours[low])).astype(np.uint8)
    return out


def style_sheet() -> str:
    """The variables: light, dark where the reader's system is, light on paper."""
    light, dark = (";".join(f"--{k}:{v}" for k, v in names.items()) for names in (LIGHT, DARK))
    return (
        f":root{{color-scheme:light dark;{light}}}\n@media screen and (prefers-color-scheme: dark){{:root{{{dark}}}}}"
    )

"""Tables I and II of Hayat, Udai and Saha 2013 (iNaCoMM) as printed, and the matrices (4) and (9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.procedures.transmission.equations import EncoderSeries

MOTOR_DEG = (360, 720, 1080, 1440, 1800)
TABLE_1 = (
    ((16419, 32795, 49140, 65577, 81960), (2.89, 5.76, 8.64, 11.53, 14.41)),
    ((16330, 32723, 49132, 65537, 81889), (2.87, 5.75, 8.64, 11.52, 14.39)),
    ((16427, 32794, 49165, 65564, 81929), (4.15, 8.28, 12.42, 16.56, 20.69)),
    ((12280, 24612, 36874, 49208, 61481), (4.83, 9.69, 14.31, 19.37, 24.2)),
    ((12287, 24570, 36856, 49143, 61420), (8.53, 17.05, 25.57, 34.1, 42.62)),
    ((12283, 24541, 36840, 49133, 61419), (14.92, 29.81, 44.75, 59.68, 74.61)),
)
"""Encoder counts and joint angles in deg after each motor turn, joint by joint."""
TABLE_2 = (
    (10, 10, 10, 25410, 10433, 8232),
    (20, 10, 30, 50821, 13653, 24355),
    (30, 10, 20, 76231, 13274, 15782),
    (10, 20, 30, 25408, 28444, 25038),
    (40, 50, 60, 101641, 70542, 49734),
    (50, 40, 60, 127052, 55751, 49052),
    (60, 50, 40, 152460, 69784, 32587),
)
"""Joint angles 4 to 6 in deg, encoder counts 4 to 6."""
COUNTS_PER_TURN = (16385, 16390, 16386, 12300, 12283, 12284)
"""The denominators in (4)."""
STRUCTURE = {
    (1, 1): 124.92, (2, 2): 125.05, (3, 3): 86.98, (4, 4): 74.59, (5, 5): 42.00, (6, 6): 24.13,
    (5, 4): -1.02, (6, 4): -1.00, (6, 5): 1.00,
}  # fmt: skip
"""The entries of (9) that are not zero, by motor and joint."""
COUNTS = {
    (1, 1): 5.68, (2, 2): 5.68, (3, 3): 3.95, (4, 4): 2.54, (5, 5): 1.43, (6, 6): 0.82,
    (5, 4): -0.03, (6, 4): -0.03, (6, 5): 0.03,
}  # fmt: skip
"""The entries of (6), in 1000 counts per degree."""


def series() -> tuple[EncoderSeries, ...]:
    """Both tables; each joint of Table I moved alone."""
    from math import pi

    from elastocal.procedures.transmission.equations import AxisColumn, EncoderSeries

    def columns(letter: str, of: dict[int, tuple[float, ...]], factor: float) -> dict[str, AxisColumn]:
        return {f"A{i}": AxisColumn.of(f"{letter}_{i}", values, factor) for i, values in of.items()}

    alone = [
        EncoderSeries("I", (1, 2, 3, 4, 5), columns("epsilon", {i: counts}, 1.0),
                      columns("theta", {i: angles}, pi / 180), columns("phi", {i: MOTOR_DEG}, pi / 180))
        for i, (counts, angles) in enumerate(TABLE_1, start=1)
    ]  # fmt: skip
    by_column = [tuple(float(v) for v in column) for column in zip(*TABLE_2, strict=True)]
    angles, counts = (dict(zip((4, 5, 6), part, strict=True)) for part in (by_column[:3], by_column[3:]))
    wrist = EncoderSeries("II", tuple(range(1, 8)), columns("epsilon", counts, 1.0), columns("theta", angles, pi / 180))
    return (*alone, wrist)

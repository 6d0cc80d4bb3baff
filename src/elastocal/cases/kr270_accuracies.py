"""Printed accuracies of the KR-270 against those of virtual experiments: how many times as large, and what stays open.

A row with the tracker's noise alone must be better than print, since other errors acted as well.  A row with every
error that was thought of should have the printed size: where it has not, the cause is not known, and the row says so.
"""

from __future__ import annotations

from elastocal.cases.case import Figure, Why

TABLE_3 = {"k_c": 21.5, "s_0": 5.9, "k_2": 1.3, "k_3": 2.0, "k_4": 3.8, "k_5": 4.9, "k_6": 4.0}
"""Per cent: Table 3 of Klimchik et al. 2013 (MIM), and Table 1 of Klimchik et al. 2013 (IMECE)."""
EXPLAINED, UNEXPLAINED = ("k_c", "s_0", "k_2", "k_6"), ("k_3", "k_4", "k_5")
"""Those that the error budget gives in size at random poses, and those that it does not, as the case design finds."""
SIMILAR = 2.0
"""Factor within which two accuracies have the same size."""


def times(short: str, found: float) -> float:
    """How many times the printed accuracy is the one found here (%)."""
    return TABLE_3[short] / found


def alike(short: str, found: float) -> bool:
    return 1 / SIMILAR <= times(short, found) <= SIMILAR


def accuracy(name: str, short: str, found: float | None, note: str, place: str, all_errors: bool = False) -> Figure:
    """A row of the comparison; ``all_errors``: whether every error that was thought of is in it."""
    if found is None:
        return Figure(name, TABLE_3[short], None, "%", f"{note}; not among what was found", place, Why.VIRTUAL)
    still = all_errors and not alike(short, found)
    left = ", which these errors do not explain" if still else ""
    said = f"{note}; printed is {times(short, found):.2g} times as much{left}"
    return Figure(name, TABLE_3[short], found, "%", said, place, Why.OPEN if still else Why.VIRTUAL)

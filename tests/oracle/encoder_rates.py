"""How often planted errors are found, none is invented, zeros are the true ones and intervals hold the truth.

    PYTHONPATH=tests python -m oracle.encoder_rates 60

draws 60 sets of tables for each of 0, 1, 2 and 3 planted errors, and again with errors of any size.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields

import numpy as np
from scipy.stats import t as student

from elastocal.procedures.transmission import identify
from elastocal.procedures.transmission.outliers import ContradictionError
from oracle.encoders import machine, plant, series, tables


@dataclass(frozen=True)
class Rates:
    """Counts over some sets: those refused as contradictory (nothing else is counted of them), errors planted, found
    (its column among those named), found in the first column named, numbers named that are right, sets with such a
    number, sets with the true zeros, couplings that are none, entries of S within their 95 % intervals."""

    sets: int = 0
    refused: int = 0
    planted: int = 0
    found: int = 0
    exact: int = 0
    invented: int = 0
    sets_invented: int = 0
    patterns: int = 0
    couplings: int = 0
    inside: int = 0
    entries: int = 0

    def __add__(self, other):
        return Rates(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def names(bad):
    return {(bad.table, bad.row, c) for c in (bad.column, *(c for c, _ in bad.instead))}


def trial(seed, errors, any_size=False):
    """One set: rates, the fit and the true S; offsets are zero in even seeds, free in odd ones, and always tested."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    s, per_turn = machine(rng, n)
    logs = tables(rng, s, per_turn, offset=bool(seed % 2), rows=n + 6)
    planted = [(p.table, p.row, p.column) for p in plant(rng, logs, errors, any_size)]
    fit = identify(series(logs))
    invented = sum(not names(b) & set(planted) for b in fit.outliers)
    measured = np.nan_to_num(fit.robust.structure)
    half = student.ppf(0.975, fit.robust.structure_freedom) * fit.robust.structure_sd
    both = (measured != 0) & (s != 0)
    rates = Rates(
        1, 0, errors, sum(any(p in names(b) for b in fit.outliers) for p in planted),
        sum(p in {(b.table, b.row, b.column) for b in fit.outliers} for p in planted), invented, int(invented > 0),
        int(np.array_equal(measured != 0, s != 0)), int(np.sum((measured != 0) & (s == 0))),
        int(np.sum(np.abs(measured - s)[both] < half[both])),
        int(both.sum()),
    )  # fmt: skip
    return rates, fit, s


def main(sets):
    for errors, any_size in [(e, small) for small in (False, True) for e in range(4)]:
        total = Rates()
        for k in range(sets):
            try:
                total += trial(100_000 * errors + k, errors, any_size)[0]
            except ContradictionError:
                total += Rates(sets=1, refused=1)
        print(errors, "any size" if any_size else "large", total, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""Virtual encoder logs of random coupled drives, with planted errors; and the tables of Hayat et al. 2013 as CSV."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.procedures.transmission.equations import AxisColumn, EncoderSeries

DEG = np.pi / 180

SINGLE = """axis,motor_deg,counts,joint_deg
A1,360,16419,2.89
A1,720,32795,5.76
A1,1080,49140,8.64
A1,1440,65577,11.53
A1,1800,81960,14.41
A2,360,16330,2.87
A2,720,32723,5.75
A2,1080,49132,8.64
A2,1440,65537,11.52
A2,1800,81889,14.39
A3,360,16427,4.15
A3,720,32794,8.28
A3,1080,49165,12.42
A3,1440,65564,16.56
A3,1800,81929,20.69
A4,360,12280,4.83
A4,720,24612,9.69
A4,1080,36874,14.31
A4,1440,49208,19.37
A4,1800,61481,24.2
A5,360,12287,8.53
A5,720,24570,17.05
A5,1080,36856,25.57
A5,1440,49143,34.1
A5,1800,61420,42.62
A6,360,12283,14.92
A6,720,24541,29.81
A6,1080,36840,44.75
A6,1440,49133,59.68
A6,1800,61419,74.61
"""
WRIST = """A4_deg,A5_deg,A6_deg,A4_counts,A5_counts,A6_counts
10,10,10,25410,10433,8232
20,10,30,50821,13653,24355
30,10,20,76231,13274,15782
10,20,30,25408,28444,25038
40,50,60,101641,70542,49734
50,40,60,127052,55751,49052
60,50,40,152460,69784,32587
"""
"""Tables I and II, misprints and all."""


@dataclass
class Table:
    """One series before it is frozen: numbers as printed, by axis."""

    name: str
    rows: tuple[int, ...]
    counts: dict[str, np.ndarray]
    joints: dict[str, np.ndarray]
    motors: dict[str, np.ndarray]

    def columns(self):
        return {"epsilon": self.counts, "theta": self.joints, "phi": self.motors}


@dataclass(frozen=True)
class Planted:
    table: str
    row: int
    column: str


def machine(rng, n):
    """Structure matrix of n motors, about a third of the couplings there, and counts per turn."""
    s = np.diag(rng.uniform(20, 150, n) * rng.choice([-1, 1], n))
    beside = (rng.random((n, n)) < 0.35) & ~np.eye(n, dtype=bool)
    s = np.where(beside, rng.uniform(0.5, 3, (n, n)) * rng.choice([-1, 1], (n, n)), s)
    return s, rng.choice([4096, 8192, 10000, 12288, 16384], n)


def tables(rng, s, per_turn, offset, rows):
    """Table I: one joint at a time by whole motor turns, set by hand; table II: all joints together, in whole tens."""
    n = len(per_turn)
    axes = [f"J{i + 1}" for i in range(n)]
    start = rng.integers(-100_000, 100_000, (2, n)) if offset else np.zeros((2, n))
    out = []
    turns = np.arange(1, 6)
    for j, axis in enumerate(axes):
        phi = turns + rng.normal(0, 1e-3, 5)
        counts = np.round(per_turn[j] * phi + start[0, j])
        angle = np.round(360 * phi / s[j, j], 2)
        out.append(Table("I", (1, 2, 3, 4, 5), {axis: counts}, {axis: angle}, {axis: 360.0 * turns}))
    theta = 10.0 * rng.integers(-9, 10, (rows, n))
    counts = np.round(theta / 360 @ s.T * per_turn + start[1] + rng.normal(0, 0.3, (rows, n)))
    by_axis = [{a: x[:, i] for i, a in enumerate(axes)} for x in (counts, theta)]
    out.append(Table("II", tuple(range(1, rows + 1)), *by_axis, {}))
    return out


def plant(rng, found, count, any_size=False):
    """Errors of different rows, at most one in each series of table I: digits transposed, or steps of ten degrees.

    ``any_size``: neighbouring digits anywhere, below what the tests can see too.
    """
    out, used = [], set()
    while len(out) < count:
        k = int(rng.integers(len(found)))
        table = found[k]
        letter = str(rng.choice([name for name, c in table.columns().items() if c]))
        axis = str(rng.choice(sorted(table.columns()[letter])))
        row = int(rng.integers(len(table.rows)))
        key = k if table.name == "I" else (k, row)
        values = table.columns()[letter][axis]
        wrong = _wrong(rng, values[row], any_size)
        least = {"epsilon": 300 if table.name == "I" else 30, "theta": 0.1, "phi": 10}[letter]
        least = 1e-9 if any_size else least
        if key in used or abs(wrong - values[row]) < least:
            continue
        values[row] = wrong
        used.add(key)
        out.append(Planted(table.name, table.rows[row], f"{letter}_{axis}"))
    return out


def _wrong(rng, value, any_size=False):
    text = f"{value:.12g}"
    places = [i for i, c in enumerate(text) if c.isdigit()]
    if len(places) < 3:
        return value + 10 * float(rng.choice([-1, 1, 2]))
    first = int(rng.integers(0, len(places) - 1 if any_size else 2))
    i, j = places[first : first + 2]
    swapped = list(text)
    swapped[i], swapped[j] = text[j], text[i]
    return float("".join(swapped))


def series(found):
    units = {"epsilon": 1.0, "theta": DEG, "phi": DEG}
    out = []
    for t in found:
        made = [{a: AxisColumn.of(f"{x}_{a}", v, units[x]) for a, v in c.items()} for x, c in t.columns().items()]
        out.append(EncoderSeries(t.name, t.rows, *made))
    return tuple(out)

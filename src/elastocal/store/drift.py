"""Whether a robot drifts: charts of its parameters over calibrations, and of its tool's error on fixed check poses.

Charts are exponentially weighted moving averages with a stated rate of false alarms:

    E_k = (1 - w) E_(k-1) + w Z_k,   E_0 = 0;   Z_k independent and standard normal while nothing drifts        (1)
    s_k^2 = w / (2 - w) (1 - (1 - w)^(2 k));    alarm where abs(E_k) > L s_k                                    (2)

The average run length from E_k = u until an alarm satisfies, with h_k = L s_k,

    A_k(u) = 1 + 1/w int_(-h_(k+1))^(h_(k+1)) A_(k+1)(y) phi((y - (1 - w) u) / w - d) dy                        (3)

for a shift d of the Z_k (Crowder, Technometrics 29, 1987, for h constant).  s_k soon is constant: there (3) is one
linear system at Gauss-Legendre nodes, from which it is gone back to k = 0.

Z_k are recursive residuals: each value against the mean of those before it, which is unknown at first.  With known
standard deviations they are standard normal as they are,

    Z_k = (x_k - m_(k-1)) / sqrt(v_k + 1 / sum_(i<k) 1/v_i),   m_(k-1) weighted by 1/v_i                          (4)

and where the standard deviation is unknown too, by way of Student's distribution (Hawkins, The Statistician 36, 1987):

    T_k = sqrt((k - 1) / k) (x_k - m_(k-1)) / s_(k-1),   Z_k = Phi^-1(F_(k-2)(T_k)),   k >= 3                       (5)

Parameters are charted over calibrations of one model, with the standard deviations that the calibrations state; what
they know from one prior alone differs by less than that, so that false alarms are rarer than stated, not more frequent.
Errors on check poses are charted over checks of one calibration, with the spread that they show themselves.  With C
charts each has C times the run length, so that together they raise at most one false alarm in the run length stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property

import numpy as np

from elastocal.errors import RangeError, UnknownNameError
from elastocal.results import Finding, note, warning
from elastocal.spatial.entries import Array
from elastocal.store.entry import Entry
from elastocal.values import dataclass

WEIGHT = 0.2
"""w: shifts of one standard deviation are found soonest near it."""
_NODES = 40
_STEPS = 40
"""After which s_k counts as constant: (1 - w)^(2 k) is below 2e-8."""


def averages(z: Array) -> tuple[Array, Array]:
    """E_k and s_k of Z (K, charts) by (1) and (2); a nan leaves its chart where it was."""
    known = np.isfinite(z)
    share, new = np.where(known, WEIGHT, 0.0), np.where(known, WEIGHT * z, 0.0)
    kept, levels, level = 1 - share, np.empty(z.shape), np.zeros(z.shape[1])
    for k in range(len(z)):
        level = kept[k] * level + new[k]
        levels[k] = level
    spread = _spread(np.cumsum(known, axis=0), WEIGHT)
    return np.where(known, levels, np.nan), np.where(known, spread, np.nan)


def run_length(limit: float, shift: float = 0.0, weight: float = WEIGHT, *, constant: bool = False) -> float:
    """Average number of Z_k until an alarm, by (3); ``constant`` has the band as wide from the start as it ends."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    top = limit * float(_spread(np.array(np.inf), weight))

    def kernel(start: Array, h: float) -> Array:
        """Matrix that takes A at the nodes within +-h to the integral of (3) from ``start``."""
        at = (h * nodes[None, :] - (1 - weight) * start[:, None]) / weight - shift
        return np.asarray(h * weights * np.exp(-0.5 * at**2) / (np.sqrt(2 * np.pi) * weight))

    lengths = np.linalg.solve(np.eye(_NODES) - kernel(top * nodes, top), np.ones(_NODES))
    bands = [top] * _STEPS if constant else [limit * float(_spread(np.array(k), weight)) for k in range(1, _STEPS + 1)]
    ahead = top
    for h in reversed(bands):
        lengths = 1 + kernel(h * nodes, ahead) @ lengths
        ahead = h
    return float(1 + (kernel(np.zeros(1), ahead) @ lengths)[0])


@cache
def limit_of(length: float) -> float:
    """L for an average run length while nothing drifts."""
    if not 2 <= length <= 1e9:
        raise RangeError(f"run length {length:g}: give 2 to 1e9 records between false alarms",
                         value=length, parameter="run_length")  # fmt: skip
    low, high = 0.3, 8.0
    while high - low > 1e-6:  # the run length grows with the limit
        middle = (low + high) / 2
        low, high = (middle, high) if run_length(middle) < length else (low, middle)
    return high


def of_known_spread(values: Array, sd: Array) -> Array:
    """Z (K, charts) by (4); nan for the first value of every chart and where a value or its sd is nan."""
    good = np.isfinite(values) & np.isfinite(sd) & (sd > 0)
    precision = np.where(good, 1 / np.where(good, sd, 1.0) ** 2, 0.0)
    before = np.cumsum(precision, axis=0) - precision
    weighted = np.where(good, precision * np.where(good, values, 0.0), 0.0)
    total = np.cumsum(weighted, axis=0) - weighted
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (values - total / before) / np.sqrt(sd**2 + 1 / before)
    return np.where(good & (before > 0), z, np.nan)


def of_own_spread(values: Array) -> Array:
    """Z (K, 1) by (5) of values (K,); nan for the first two."""
    from scipy.special import ndtri, stdtr

    z = np.full((len(values), 1), np.nan)
    for n in range(2, len(values)):
        past = values[:n]
        sd = float(past.std(ddof=1))
        if sd > 0:
            t = np.sqrt(n / (n + 1)) * (values[n] - past.mean()) / sd
            z[n, 0] = -float(np.sign(t)) * float(ndtri(max(stdtr(n - 1, -abs(t)), 1e-300)))
    return z


def _spread(count: Array, weight: float) -> Array:
    """s_k of (2)."""
    return np.asarray(np.sqrt(weight / (2 - weight) * (1 - (1 - weight) ** (2 * count))))


RUN_LENGTH = 370.0
"""Records between two false alarms of a robot on average, as of limits of three standard deviations."""
CHECK = "check poses"
"""Name of the chart of the mean error on check poses."""


@dataclass(frozen=True, eq=False)
class Chart:
    """Values in time: entry ``numbers``, their standard deviations where stated, and their average over its band."""

    name: str
    unit: str
    numbers: tuple[int, ...]
    values: Array
    sd: Array
    average: Array
    band: Array

    @cached_property
    def share(self) -> Array:
        """The average over its band: 1 and more is outside."""
        return np.asarray(self.average / self.band)

    @property
    def outside(self) -> tuple[int, ...]:
        """Numbers of the entries at which the average leaves its band."""
        return tuple(self.numbers[i] for i in np.flatnonzero(np.abs(self.share) > 1))


@dataclass(frozen=True, eq=False)
class Drift:
    """``limit`` of every chart in standard deviations of its average, for one false alarm in ``run_length`` records."""

    charts: tuple[Chart, ...]
    run_length: float
    limit: float
    notes: tuple[Finding, ...] = ()

    def __getitem__(self, name: str) -> Chart:
        for chart in self.charts:
            if chart.name == name:
                return chart
        raise UnknownNameError("chart", name, [c.name for c in self.charts])

    def alarms(self, since: int = 0) -> tuple[Finding, ...]:
        """One for every chart that has left its band at an entry after number ``since``."""
        return tuple(_alarm(c, n, self) for c in self.charts if (n := [k for k in c.outside if k > since]))


def active(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Those that no later one supersedes, in the order of time."""
    gone = {e.supersedes for e in entries}
    return tuple(sorted((e for e in entries if e.number not in gone), key=lambda e: (e.time, e.number)))


def drift(entries: Sequence[Entry], run_length: float = RUN_LENGTH) -> Drift:
    """Of the entries of one robot."""
    kept = active(entries)
    calibrations = [e for e in kept if e.calibration is not None]
    checks = [e for e in kept if e.check is not None]
    used, notes = _of_one_model(_since_baseline(kept, calibrations))
    watched, more = _of_one_calibration(checks)
    parts = [p for p in (_parameters(used), _errors(watched)) if p is not None]
    count = sum(int(np.isfinite(p.z).any(axis=0).sum()) for p in parts)
    limit = limit_of(run_length * max(1, count))
    charts = tuple(c for p in parts for c in p.charts(limit))
    return Drift(charts, run_length, limit, (*notes, *more))


@dataclass(frozen=True, eq=False)
class _Columns:
    """Values (K, charts) with what is charted of them."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    numbers: tuple[int, ...]
    values: Array
    sd: Array
    z: Array

    def charts(self, limit: float) -> tuple[Chart, ...]:
        level, spread = averages(self.z)
        return tuple(
            Chart(n, u, self.numbers, self.values[:, j], self.sd[:, j], level[:, j], limit * spread[:, j])
            for j, (n, u) in enumerate(zip(self.names, self.units, strict=True))
        )


def _since_baseline(kept: Sequence[Entry], calibrations: list[Entry]) -> list[Entry]:
    """From the calibration on with which the last release has charts begin anew."""
    named = [e.release.of for e in kept if e.release is not None and e.release.baseline]
    start = next((e for e in calibrations if named and e.number == named[-1]), None)
    return calibrations if start is None else calibrations[calibrations.index(start) :]


def _of_one_model(calibrations: list[Entry]) -> tuple[list[Entry], tuple[Finding, ...]]:
    """Those with the model of the last one: other words give parameters another meaning."""
    if not calibrations:
        return [], ()
    words = calibrations[-1].calibration.words  # type: ignore[union-attr]
    same = [e for e in calibrations if e.calibration is not None and e.calibration.words == words]
    kept = {e.number for e in same}
    others = [e.number for e in calibrations if e.number not in kept]
    if not others:
        return same, ()
    text = (
        f"calibrations {_listed(others)} have another model than the last one ({' + '.join(words) or 'nominal'}); "
        "their parameters are not charted"
    )
    return same, (note("other-model", text, numbers=others),)


def _of_one_calibration(checks: list[Entry]) -> tuple[list[Entry], tuple[Finding, ...]]:
    """Those of the same poses against the same calibration as the last one."""
    if not checks:
        return [], ()
    last = checks[-1].check
    assert last is not None
    same = [e for e in checks if e.check is not None and (e.check.of, e.check.states) == (last.of, last.states)]
    kept = {e.number for e in same}
    other = [e.number for e in checks if e.check and e.check.of == last.of and e.number not in kept]
    if not other:
        return same, ()
    text = f"checks {_listed(other)} were read at other poses than the last one; they are not charted with it"
    return same, (note("other-poses", text, numbers=other),)


def _parameters(used: list[Entry]) -> _Columns | None:
    if len(used) < 2:
        return None
    last = used[-1].calibration
    assert last is not None
    names, rows = last.parameters.names, []
    for e in used:
        assert e.calibration is not None
        own = e.calibration.parameters
        if own.names == names:
            rows.append((own.values, own.sd))
        else:
            known = {n: (v, s) for n, v, s in zip(own.names, own.values, own.sd, strict=True)}
            rows.append(tuple(zip(*(known.get(n, (np.nan, np.nan)) for n in names), strict=True)))  # type: ignore[arg-type]
    if not names:
        return None
    values, sd = np.moveaxis(np.array(rows, dtype=np.float64), 1, 0)
    return _Columns(
        names, last.parameters.units, tuple(e.number for e in used), values, sd, of_known_spread(values, sd)
    )


def _errors(checks: list[Entry]) -> _Columns | None:
    if not checks:
        return None
    values = np.array([e.check.after.mean for e in checks if e.check is not None])
    unknown = np.full((len(values), 1), np.nan)
    numbers = tuple(e.number for e in checks)
    return _Columns((CHECK,), ("m",), numbers, values[:, None], unknown, of_own_spread(values))


def _alarm(chart: Chart, numbers: list[int], of: Drift) -> Finding:
    share = float(chart.share[chart.numbers.index(numbers[0])])
    what = "the mean error on check poses" if chart.name == CHECK else f"parameter {chart.name}"
    text = (
        f"{what}: its average left its band at number {numbers[0]} ({abs(share):.2g} times the limit, "
        f"{'up' if share > 0 else 'down'}wards; at most one false alarm in {of.run_length:g} records)"
    )
    data = {"chart": chart.name, "numbers": numbers, "share": abs(share), "run_length": of.run_length}
    return warning("drift", text, **data)


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:8]))
    return f"{shown} and {len(numbers) - 8} more" if len(numbers) > 8 else shown

"""Printed numbers that the others contradict: named one by one, then each tested exactly against the rest.

Forward: the cell with the largest F leaves with its equations, until none fails; where several outliers hide each
other in the noise level, a deviation above 5 robust standard deviations, or above 10 of the own blocks, counts as
well.  Then back and forth: whatever passes its test comes back, several cells of a row give way to the one that
explains as much, and of the others that fail the worst leaves.  A number is an outlier where its probability times
the number of cells is below ``level`` (Bonferroni): of good tables one in 1/level has a number named.

A slip is how the printed number may have come from the predicted one: digits transposed, a wrong digit, sign or point,
or another step of a column that goes in steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations
from math import gcd

import numpy as np

from elastocal.errors import ImplausibleError
from elastocal.procedures.transmission.cells import (
    CellIncidence,
    CellTests,
    PrintedCell,
    error_directions,
    incidence,
    tested,
)
from elastocal.procedures.transmission.equations import AxisColumn, System
from elastocal.procedures.transmission.fit import Pattern, SystemFit, fit_system
from elastocal.spatial.entries import Bools
from elastocal.values import dataclass

LEVEL, FAR, ALONE = 0.001, 5.0, 10.0
"""Level of the test; robust deviations, and deviations within the own blocks, that lead the search."""
AS_WELL, SEVERAL = 9.0, 25.0
"""Gain (squared standard deviations) that tells one column from another, and two outliers of a row from one."""
MOST, SMALL = 1 / 3, 24
"""Share of the rows that may hold outliers; rows of a table all of whose pairs are tried."""


class ContradictionError(ImplausibleError):
    """Too many rows contradict the others to say which are wrong."""


@dataclass(frozen=True)
class Outlier:
    """A printed number that the rest contradicts, in the unit it is printed in.

    ``slip`` says how it may have come about; ``instead`` are columns of the same row that may as well be wrong, with
    what the rest predicts for them.
    """

    table: str
    row: int
    row_word: str
    column: str
    axis: str
    printed: float
    predicted: float
    predicted_sd: float
    probability: float
    slip: str
    instead: tuple[tuple[str, float], ...]

    def text(self) -> str:
        message = (
            f"{self.table}, {self.row_word} {self.row}, column {self.column}: {self.printed:.10g} where the others "
        )
        message += f"predict {self.predicted:.{_decimals(self.predicted_sd)}f}"
        if self.slip:
            message += f" ({self.slip})"
        others = " or ".join(f"{c} ({v:.6g} predicted)" for c, v in self.instead)
        return message + (f"; it may as well be {others}" if others else "")


def _decimals(sd: float) -> int:
    return 3 if not np.isfinite(sd) or sd <= 0 else int(np.clip(1 - np.floor(np.log10(sd)), 0, 9))


@dataclass(frozen=True, eq=False)
class Screening:
    """The fit of what is kept, and the cells left out."""

    fit: SystemFit
    outliers: tuple[Outlier, ...]
    cells: frozenset[PrintedCell]


def screen(
    system: System, pattern: Pattern | None = None, start: frozenset[PrintedCell] = frozenset(), level: float = LEVEL
) -> Screening:
    """The outliers within a pattern of zeros, from those left out at the start."""
    of = incidence(system)
    out = set(of.numbers(start))
    fit = _fit(system, of, out, None, pattern)
    while (worst := _worst(tested(fit, of), of, out, level)) is not None:
        out.add(worst)
        _check_share(system, of, out)
        fit = _fit(system, of, out, fit, pattern)
    seen: list[frozenset[int]] = []
    while frozenset(out) not in seen:
        seen.append(frozenset(out))
        out = _next(tested(fit, of), of, out, level)
        _check_share(system, of, out)
        fit = _fit(system, of, out, fit, pattern)
    tests = tested(fit, of)
    named = sorted((_named(system, of, tests, i) for i in out), key=lambda b: (b.table, b.row, b.column))
    return Screening(fit, tuple(named), frozenset(map(of.printed, out)))


def hidden_rows(system: System, pattern: Pattern, level: float = LEVEL) -> frozenset[PrintedCell] | None:
    """Two rows that all others contradict, and no others: large errors of a small table hide each other in noise."""
    of = incidence(system)
    for pair in _pairs_of_rows(system):
        out = set(of.numbers(pair))
        tests = tested(_fit(system, of, out, None, pattern), of)
        wrong = {of.printed(i).row for i in out if tests.probability[i] * len(of) < level}
        if len(wrong) == 2 and _worst(tests, of, out, level) is None:
            return pair
    return None


def _pairs_of_rows(system: System) -> Iterator[frozenset[PrintedCell]]:
    """The counts of two rows of one table, of those that stay large enough and are small enough to try them all."""
    for k, one in enumerate(system.series):
        unknown = len(one.joints) + 1
        if 2 * unknown + 2 <= len(one.rows) <= SMALL:
            for pair in combinations(range(len(one.rows)), 2):
                yield frozenset(PrintedCell(k, row, "counts", axis) for row in pair for axis in one.counts)


def _worst(tests: CellTests, of: CellIncidence, out: set[int], level: float) -> int | None:
    far = (tests.probability * len(of) < level) | (tests.robust > FAR) | (tests.alone > ALONE**2)
    options = of.apart(np.flatnonzero(far).tolist(), out)
    return max(options, key=lambda i: (max(tests.statistic[i], tests.alone[i]), -i)) if options else None


def _next(tests: CellTests, of: CellIncidence, out: set[int], level: float) -> set[int]:
    """Those that still fail, each row by the fewest numbers that explain it, and the worst of the others that fail."""
    failed = {int(i) for i in np.flatnonzero(tests.probability * len(of) < level)}
    stay = {i for cell in out for i in _fewest(tests, out, of.in_row(cell))}
    fresh = of.apart(failed, out | stay)
    return (stay & failed) | ({max(fresh, key=lambda i: (tests.statistic[i], -i))} if fresh else set())


def _fewest(tests: CellTests, out: set[int], mates: tuple[int, ...]) -> set[int]:
    """One number of a row in place of several, where its error explains as much as theirs."""
    mine = out.intersection(mates)
    best = max(mates, key=lambda i: (np.nan_to_num(tests.gain[i]), -i))
    if tests.gain[best] >= sum(tests.gain[i] for i in mine) - SEVERAL * tests.gain[best] / tests.statistic[best]:
        return {best}
    return mine


def _fit(
    system: System, of: CellIncidence, out: set[int], last: SystemFit | None, pattern: Pattern | None
) -> SystemFit:
    near = last or fit_system(system, None, pattern)
    return fit_system(system, kept_without(system, of, frozenset(map(of.printed, out)), near), pattern, near)


def kept_without(system: System, of: CellIncidence, cells: frozenset[PrintedCell], fit: SystemFit) -> tuple[Bools, ...]:
    """The equations that none of these cells enters; a joint leaves those of motors that it does not move."""
    out = of.numbers(cells)
    d = error_directions(fit, of)
    sizes = np.concatenate([np.full(len(b.block.y), b.size) for b in fit.blocks])
    matters = (of.unknown < 0) | (np.abs(d) > 1e-6 * sizes[of.equation])
    kept = np.ones(len(sizes), dtype=bool)
    kept[of.equation[np.isin(of.cell, out) & matters]] = False
    ends = np.cumsum([len(b.y) for b in system.blocks])[:-1]
    return tuple(np.split(kept, ends))


def _check_share(system: System, of: CellIncidence, out: set[int]) -> None:
    total = sum(len(s.rows) for s in system.series)
    rows = {(c.series, c.row) for c in map(of.printed, out)}
    if len(rows) > MOST * total:
        raise ContradictionError(
            f"{_holders(system, [k for k, _ in rows])}: more than a third of the rows contradict the others; check "
            "units, the order of columns, and whether all counts belong to one zero",
            value=(len(rows), total),
        )


def _holders(system: System, series: list[int]) -> str:
    """The tables of these rows, the one with the largest share first."""
    held = Counter(system.series[k].table for k in series)
    size = {table: sum(len(s.rows) for s in system.series if s.table == table) for table in held}
    order = sorted(held, key=lambda table: -held[table] / size[table])
    return " and ".join(f"{table} ({held[table]} of {size[table]} rows)" for table in order)


def _named(system: System, of: CellIncidence, tests: CellTests, cell: int) -> Outlier:
    """The best explanation of the row among cells that cannot be told apart.

    One with digits transposed before one with another slip, and of two the one whose digits come nearer to what the
    others predict; without any slip the one tested.
    """
    c = of.printed(cell)
    lost = tests.gain[cell] - AS_WELL * tests.gain[cell] / tests.statistic[cell]
    rivals = [i for i in of.mates(cell) if tests.gain[i] > lost]
    stories = {i: _story(system, of.printed(i), tests, i) for i in {cell, *rivals}}
    best = min(
        stories, key=lambda i: (not is_transposition(stories[i][3]), not stories[i][3], stories[i][5], i != cell, i)
    )
    column, printed, predicted, words, sd, _ = stories[best]
    instead = tuple((stories[i][0].heading, stories[i][2]) for i in sorted(stories) if i != best)
    series = system.series[c.series]
    return Outlier(
        series.table, series.rows[c.row], series.row_word, column.heading, of.printed(best).axis, printed, predicted,
        sd, float(min(1.0, tests.probability[cell] * len(of))), words, instead,
    )  # fmt: skip


def _story(
    system: System, c: PrintedCell, tests: CellTests, i: int
) -> tuple[AxisColumn, float, float, str, float, float]:
    """Column, printed and predicted number, the slip, the prediction's sd, and how far off the slip is in such sds."""
    column = system.series[c.series].column(c.what, c.axis)
    sd = float(tests.sd[i] / column.factor)
    printed = float(column.as_printed(column.values)[c.row])
    predicted = float(column.as_printed(column.values - tests.delta[i])[c.row])
    words, away = slip(column.texts[c.row], predicted, sd)
    if not words:
        words, away = another_step(column.texts, c.row, predicted, sd)
    return column, printed, predicted, words, sd, away


NEAR = 3.0
"""How many standard deviations of the prediction (and half a unit of the last place) a slip may be off."""
STEPS, LEAST = 100.0, 3
"""How many standard deviations a step of a column must be to tell anything; the fewest other numbers that show it."""


def slip(printed: str, predicted: float, sd: float) -> tuple[str, float]:
    """The slip that turns the predicted number into the printed text, and how far it is off in sds of the prediction.

    The first kind that comes near enough, and of that the nearest; ("", 0.0) where none does.
    """
    near: dict[str, tuple[float, str]] = {}
    within = NEAR * sd + 0.5 * _unit(printed)
    for words, text in _slips(printed.strip()):
        try:
            meant = float(text)
        except ValueError:
            continue
        away = abs(meant - predicted)
        if meant != float(printed) and away <= within and (words not in near or away < near[words][0]):
            near[words] = away, text
    for words, (away, text) in near.items():
        return f"{words}: {printed.strip()} for {text}", away / max(sd, 1e-12)
    return "", 0.0


def another_step(printed: Sequence[str], row: int, predicted: float, sd: float) -> tuple[str, float]:
    """The multiple that the prediction comes near to, where all other numbers of a column are multiples of a step."""
    numbers = [Decimal(text.strip()) for i, text in enumerate(printed) if i != row and float(text)]
    unit = min(Decimal(1).scaleb(int(n.as_tuple().exponent)) for n in numbers) if numbers else Decimal(1)
    step = float(gcd(*(int(n / unit) for n in numbers)) * unit)
    meant = step * round(predicted / step) if step else predicted
    away = abs(meant - predicted)
    if step < STEPS * sd or away > NEAR * sd or len(numbers) < LEAST or meant == float(printed[row]):
        return "", 0.0
    return f"another step of {step:g}: {printed[row].strip()} for {meant:.10g}", away / max(sd, 1e-12)


def is_transposition(words: str) -> bool:
    return words.startswith("digits transposed")


def _unit(printed: str) -> float:
    _, _, decimals = printed.strip().partition(".")
    return float(10.0 ** -len(decimals))


def _with_zero(text: str) -> str:
    sign = "-" * text.startswith("-")
    return f"{sign}0{text.removeprefix('-')}"


def _slips(text: str) -> Iterator[tuple[str, str]]:
    places = [i for i, c in enumerate(text) if c.isdigit()]
    for whole in (text, _with_zero(text)):  # a zero that came to the front is not printed
        digits = [i for i, c in enumerate(whole) if c.isdigit()]
        for gap in range(1, len(digits)):
            for i, j in zip(digits, digits[gap:], strict=False):
                swapped = list(whole)
                swapped[i], swapped[j] = whole[j], whole[i]
                yield "digits transposed", "".join(swapped)
    yield "sign", text[1:] if text.startswith("-") else f"-{text}"
    for i in places:
        for digit in "0123456789":
            yield "one digit wrong", text[:i] + digit + text[i + 1 :]
    bare = text.replace(".", "")
    for i in range(len(bare) - 1, 0, -1):
        yield "decimal point", f"{bare[:i]}.{bare[i:]}"
    yield "digit missing", f"{bare}0"

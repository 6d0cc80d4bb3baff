"""Charts raise as few false alarms as they say, by published run lengths and by drawn records, and notice a drift."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array
from elastocal.store.drift import CHECK, averages, drift, limit_of, of_known_spread, of_own_spread, run_length
from elastocal.store.entry import Calibrated, Checked, Entry, Kind, Parameters, Released

ERROR = ErrorSummary(1e-4, 1e-4, 2e-4, 3e-4, 10)


@pytest.mark.parametrize(
    ("weight", "limit", "shifted"), [(0.4, 3.054, 14.3), (0.25, 2.998, 11.1), (0.2, 2.962, 10.5), (0.1, 2.814, 10.3)]
)
def test_run_lengths_are_those_of_the_literature(weight: float, limit: float, shifted: float) -> None:
    """Lucas and Saccucci, Technometrics 32 (1990): 500 in control, and after a shift of one standard deviation."""
    assert run_length(limit, 0.0, weight, constant=True) == pytest.approx(500, rel=2e-3)
    assert run_length(limit, 1.0, weight, constant=True) == pytest.approx(shifted, abs=0.06)


@pytest.mark.parametrize(("length", "shift"), [(40.0, 0.0), (40.0, 1.0), (150.0, 0.0)])
def test_drawn_run_lengths_agree(length: float, shift: float) -> None:
    limit = limit_of(length)
    z = np.random.default_rng(5).normal(shift, 1, (int(12 * length), 2500))
    first = _first(*averages(z), limit)
    expected = run_length(limit, shift)
    assert shift > 0 or expected == pytest.approx(length, rel=1e-4)
    assert first.mean() == pytest.approx(expected, abs=4 * first.std() / np.sqrt(len(first)))


@pytest.mark.parametrize("known", [True, False])
def test_recursive_residuals_are_independent_and_standard_normal(known: bool) -> None:
    """Of values with an unknown mean, and with standard deviations that differ or that are not known."""
    rng = np.random.default_rng(8)
    sd = rng.uniform(0.5, 3.0, (12, 1)) * np.ones(20000) if known else np.full((12, 20000), 2.0)
    values = 7 + sd * rng.normal(size=sd.shape)
    z = of_known_spread(values, sd)[1:] if known else np.hstack([of_own_spread(v) for v in values.T[:2500]])[2:]
    error = 1 / np.sqrt(z.shape[1])
    assert np.abs(z.mean(axis=1)).max() < 4 * error
    assert np.abs(z.var(axis=1) - 1).max() < 4 * np.sqrt(2) * error
    assert np.abs(np.corrcoef(z) - np.eye(len(z))).max() < 5 * error


def test_a_family_of_charts_keeps_the_stated_rate() -> None:
    """Five parameters charted together: on average at least the stated number of records until the first alarm."""
    rng, count, stated = np.random.default_rng(2), 500, 40.0
    sd = rng.uniform(1, 2, (400, 5 * count))
    z = of_known_spread(3 + sd * rng.normal(size=sd.shape), sd)[1:]
    firsts = _first(*averages(z), limit_of(stated * 5)).reshape(count, 5).min(axis=1)
    mean, spread = np.mean(firsts), np.std(firsts) / np.sqrt(count)
    assert mean > stated - 3 * spread
    assert mean < 1.25 * stated


def test_a_drifting_parameter_is_named_and_a_steady_one_is_not() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal([1e-6, 2e-6, 3e-6], 1e-7, (16, 3))
    values[8:, 1] += 3e-7
    found = drift(_calibrations(values))
    (alarm,) = found.alarms()
    assert alarm.data["chart"] == "b.k"
    assert 9 <= alarm.data["numbers"][0] <= 12
    assert found.limit == pytest.approx(limit_of(3 * 370.0))
    released = [*_calibrations(values), _release(17, 16, baseline=False)]
    assert drift(released).alarms(17) == ()


def test_charts_begin_anew_with_a_baseline_and_leave_out_what_is_superseded() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal([1e-6, 2e-6], 1e-7, (16, 2))
    values[8:, 1] += 9e-7
    entries = [*_calibrations(values), _release(17, 9, baseline=True)]
    found = drift(entries)
    assert found["b.k"].numbers == tuple(range(9, 17))
    assert found.alarms() == ()
    wrong = values.copy()
    wrong[5] += 5e-6
    assert drift(_calibrations(wrong)).alarms()[0].data["numbers"][0] == 6
    gone = [*_calibrations(wrong[:8]), _entry(9, "withdrawal", supersedes=6)]
    assert drift(gone).alarms() == ()
    assert 6 not in drift(gone)["a.k"].numbers


def test_another_model_is_not_charted_with_this_one() -> None:
    first, *entries = _calibrations(np.random.default_rng(1).normal(1e-6, 1e-7, (6, 1)))
    other = _entry(1, "calibration", calibration=_calibrated(np.array([9e-6]), ("geometry",)))
    found = drift([other, *entries])
    assert found["a.k"].numbers == tuple(range(2, 7))
    assert [(n.code, n.data["numbers"]) for n in found.notes] == [("other-model", [1])]
    assert drift([first, *entries]).notes == ()


def test_a_growing_error_on_check_poses_is_an_alarm() -> None:
    rng = np.random.default_rng(6)
    errors = 1e-4 + rng.normal(0, 5e-6, 14)
    calm = drift([_check(i + 1, e) for i, e in enumerate(errors)])
    assert calm.alarms() == ()
    errors[9:] += 4e-5
    (alarm,) = drift([_check(i + 1, e) for i, e in enumerate(errors)]).alarms()
    assert alarm.data["chart"] == CHECK
    assert alarm.data["numbers"][0] in (10, 11)


@pytest.mark.parametrize("length", [1.0, float("nan"), 1e12])
def test_a_rate_that_means_nothing_is_refused(length: float) -> None:
    with refused("range", length, parameter="run_length"):
        limit_of(length)


def _first(level: Array, spread: Array, limit: float) -> Array:
    out = np.abs(level) > limit * spread
    return np.where(out.any(axis=0), out.argmax(axis=0) + 1.0, len(level))


def _calibrated(values: Array, words: tuple[str, ...] = ("compliance",)) -> Calibrated:
    names = tuple(f"{'abcdefgh'[i]}.k" for i in range(len(values)))
    own = Parameters(names, ("rad/(N m)",) * len(names), tuple(values.tolist()), (1e-7,) * len(names))
    return Calibrated("0" * 64, words, ERROR, ERROR, 0, own, ((0.0, 0.0, 0.0),) * 4, 1e-4)


def _calibrations(values: Array) -> list[Entry]:
    return [_entry(i, "calibration", calibration=_calibrated(row)) for i, row in enumerate(values, 1)]


def _check(number: int, error: float) -> Entry:
    after = ErrorSummary(float(error), float(error), 2e-4, 3e-4, 10)
    return _entry(number, "check", check=Checked(1, "s", after, ERROR, 0.95, False, (), ()))


def _release(number: int, of: int, *, baseline: bool) -> Entry:
    return _entry(number, "release", release=Released(of, "n", None, baseline))


def _entry(number: int, kind: Kind, **parts: object) -> Entry:
    time = f"2020-{number:02d}-01T00:00:00Z" if number <= 12 else f"2021-{number - 12:02d}-01T00:00:00Z"
    values: dict[str, object] = {"supersedes": None, **parts}
    return Entry(robot="r", number=number, previous=None, kind=kind, time=time, recorded=time, who=None, reason=None,
                 temperature=None, inputs={}, versions={}, **values)  # type: ignore[arg-type]  # fmt: skip

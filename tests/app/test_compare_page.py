"""What a page says of campaigns that are compared, from readings that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import elastocal as ec
from elastocal.app.commands.compare import CompareResult, page
from elastocal.calibration.drift import Drift
from elastocal.report.blocks import Lines

MOVED = np.full((4, 1, 3), 1e-4)  # sqrt(3) * 0.1 mm everywhere


@pytest.mark.parametrize(
    ("sd", "word", "state", "band"),
    [(1e-5, "changed", "bad", 2 * 3**0.5 * 0.01), (2e-4, "no change shown", "good", 2 * 3**0.5 * 0.2)],
)
def test_noise_is_a_band_and_decides(sd: float, word: str, state: str, band: float) -> None:
    report = page(_result(sd))
    judged, shape, moved = report.tiles
    assert (judged.value, judged.state) == (word, state)
    assert (shape.value, moved.value) == ("0.087", "0.173")
    (lines,) = [b for b in report.sections[0].blocks if isinstance(b, Lines)]
    assert [s.role for s in lines.series] == ["noise", "read", "after"]
    assert lines.series[0].y == pytest.approx((band, band))
    assert all(0 < low < 0.087 for low in lines.series[0].low)  # a log axis has no zero


def test_without_known_noise_nothing_is_judged() -> None:
    report = page(_result(float("nan")))
    assert (report.tiles[0].value, report.tiles[0].state) == ("not judged", "open")
    (lines,) = [b for b in report.sections[0].blocks if isinstance(b, Lines)]
    assert "noise" not in [s.role for s in lines.series]


def _result(sd: float) -> CompareResult:
    drift = Drift(("first", "later"), tuple((i, i) for i in range(4)), MOVED, MOVED / 2, sd, tuple("abcd"))
    return CompareResult((Path("a.yaml"), Path("b.yaml")), ec.read_robot("scara-ruggeri"), (drift,))

"""Pictures of a compensated program: errors along it before and after, and how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.commands.compensate import CompensateResult
from elastocal.app.pages.compensate.tables import half_width
from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array


def error_lines(result: CompensateResult) -> Lines:
    import numpy as np

    ways = [("before", result.before), ("after", result.after)]
    if result.on_truth is not None:
        ways = [
            ("before, robot taken for true", result.on_truth[0]),
            ("after, robot taken for true", result.on_truth[1]),
        ]
    series = [_series(name, 1e3 * np.linalg.norm(r.position, axis=1)) for name, r in ways]
    bad = np.flatnonzero(~result.corrected)
    if len(bad):
        off = 1e3 * np.nan_to_num(np.linalg.norm(ways[-1][1].position[bad], axis=1))
        series.append(Series("not corrected", tuple(1.0 + bad), tuple(float(v) for v in off), points=True))
    return Lines(
        "errors", "Distance between loaded and desired tool", "target, in order of the program", "", "distance", "mm",
        tuple(series),
    )  # fmt: skip


def confidence_lines(result: CompensateResult) -> Lines:
    """What is expected to be left, beside what is left where a truth is given."""
    import numpy as np

    assert result.covariance is not None
    rms = 1e6 * np.sqrt(np.einsum("nii->n", result.covariance[:, :3, :3]))
    series = [_series("expected, rms", rms), _series("95 %, worst direction", 1e6 * half_width(result))]
    left, name = result.after, "left by the calibrated model itself"
    if result.on_truth is not None:
        left, name = result.on_truth[1], "left on the robot taken for true"
    series.append(_series(name, 1e6 * np.linalg.norm(left.position, axis=1)))
    return Lines(
        "confidence", "Expected rest after correction", "target, in order of the program", "", "distance", "um",
        tuple(series), ("From the covariance of the calibration and the model's own discrepancy.",),
    )  # fmt: skip


def _series(name: str, values: Array) -> Series:
    return Series(name, tuple(float(i) for i in range(1, len(values) + 1)), tuple(float(v) for v in values))

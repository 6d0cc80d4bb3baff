"""Tables of a compensated program: summary, targets, problem targets, lines left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.commands.compensate import CompensateResult
from elastocal.app.pages.columns import or_reason
from elastocal.report.blocks import Cell, Column, Table

if TYPE_CHECKING:
    from elastocal.compensate.verification import Residual
    from elastocal.spatial.entries import Array

_LOST = "no determined loaded state there"
_UNSURE = "no calibration: the accuracy is not known"


def summary_table(result: CompensateResult) -> Table:
    kinds: list[tuple[str, Residual]] = [("model, before", result.before), ("model, after", result.after)]
    if result.on_truth is not None:
        kinds += [("truth, before", result.on_truth[0]), ("truth, after", result.on_truth[1])]
    columns = (
        Column("what", "tool"),
        Column("count", "targets"),
        *(Column(f"{k}_um", w, "um", digits=4) for k, w in _FIGURES),
        *(Column(f"{k}_urad", w, "urad", digits=4, part=1) for k, w in _FIGURES),
    )
    rows = []
    for name, part in kinds:
        far, turned = part.distances(), part.angles()
        figures = [1e6 * v for s in (far, turned) for v in (s.mean, s.rms, s.largest, s.p95)]
        rows.append((name, far.count, *(or_reason(v, _LOST) for v in figures)))
    note = (
        "Distances and angles between the loaded and the desired tool, over all targets with a determined state; "
        "targets that are not corrected count as they are. After: the new program read again, with its digits rounded."
    )
    return Table("summary", "", columns, tuple(rows), (note,))


def share_table(result: CompensateResult) -> Table:
    """What the program is off by, before: by load, weight and geometry."""
    parts = result.shares
    rows = (
        ("load on the tool", parts.load),
        ("weight of the arm and what it carries, compensator", parts.weight),
        ("geometric errors and joint zeros", parts.geometry),
        ("all", parts.total),
    )
    columns = (
        Column("by", "off before by"),
        *(Column(f"{k}_um", w, "um", digits=4) for k, w in _SIZES),
        *(Column(f"{k}_urad", w, "urad", digits=4) for k, w in _SIZES),
        Column("corrected", "corrected"),
    )
    cells = []
    for i, (name, part) in enumerate(rows):
        far, turned = part.distances(), part.angles()
        figures = (0.0 if v < _ROUNDING else 1e6 * v for s in (far, turned) for v in (s.rms, s.largest))
        corrected = i == 0 or not result.request.taught
        cells.append((name, *(or_reason(v, _LOST) for v in figures), corrected))
    if result.request.taught:
        cells = cells[:-1]
    note = (
        "By the model, of the program as it was; the parts add up as vectors, not in size. Play counts, from its "
        "middle on, to the first force that takes it up: the weight; to the load only where that turns it over."
    )
    in_them = " Targets are taken as taught: weight and geometry are in them." if result.request.taught else ""
    return Table("shares", "What it is off by", columns, tuple(cells), (note + in_them,))


_ROUNDING = 1e-13
"""m and rad below which a part is not more than the rounding of the computation."""
_SIZES = (("rms", "rms"), ("max", "max"))
_FIGURES = (("mean", "mean"), ("rms", "rms"), ("max", "max"), ("p95", "95 %"))


def half_width(result: CompensateResult) -> Array:
    """Half of the 95 % interval along the worst direction, (S,) m."""
    from elastocal.uncertainty.prediction import quantile_95

    known_ = result.robot.known
    assert known_ is not None
    return quantile_95(known_.freedom) * semi_axes(result)[:, 0]


def semi_axes(result: CompensateResult) -> Array:
    """Semi-axes (S, 3) in m of the one-sigma error ellipsoid of the corrected tool, the longest first."""
    import numpy as np

    from elastocal.uncertainty.prediction import Prediction

    if result.covariance is None:
        return np.full((len(result.correction.status), 3), np.nan)
    return Prediction("", np.zeros((len(result.covariance), 6)), result.covariance).ellipsoid()[0]


def target_table(result: CompensateResult, most: int | None = None) -> Table:
    import numpy as np

    stations = result.job.at.stations
    truth = result.on_truth is not None
    columns = (
        Column("target", "target"),
        Column("before_mm", "off before", "mm", 4),
        Column("after_um", "after", "um", 2),
        Column("before_mrad", "turned before", "mrad", 4),
        Column("after_urad", "after", "urad", 2),
        *(Column(f"sd_{n}_um", f"{'ellipsoid ' * (n == 1)}{n}", "um", 1, "ellipsoid") for n in (1, 2, 3)),
        Column("interval_95_um", "95 % +-", "um", 1),
        Column("truth_before_mm", "truth before", "mm", 4, shown=truth),
        Column("truth_after_um", "truth after", "um", 1, shown=truth),
        Column("status", "status"),
        *(Column(f"shift_{c}_mm", f"{'told - stated ' * (c == 'x')}{c}", "mm", 4, "shift", part=1) for c in "xyz"),
        *(Column(f"turn_{c}_mrad", f"{'turned ' * (c == 'x')}{c}", "mrad", 4, "turn", part=1) for c in "xyz"),
        *(Column(f"{a}_{u}", a, u, 4, "command", part=1) for a, u in _axes(result)),
    )
    width = half_width(result) if result.covariance is not None else np.full(len(stations), np.nan)
    axes = semi_axes(result)
    command = result.job.at.model.controller.to_controller(result.correction.command) / _factors(result)
    count = len(stations) if most is None else min(most, len(stations))
    rows = tuple(_row(result, i, axes[i], float(width[i]), result.shift[i], command[i]) for i in range(count))
    notes = [] if count == len(stations) else [f"The first {count} of {len(stations)} targets; --csv writes all."]
    if result.covariance is not None:
        notes.append(
            "ellipsoid: semi-axes (one standard deviation) of where the corrected tool is expected; 95 % +-: half "
            "interval along the longest."
        )
    return Table("targets", "", columns, rows, tuple(notes))


def _row(result: CompensateResult, i: int, axes: Array, width: float, moved: Array, command: Array) -> tuple[Cell, ...]:
    from elastocal.compensate.targets import TargetStatus

    before, after = result.before, result.after
    status = TargetStatus(int(result.correction.status[i]))
    truth = [(_size(t.position[i]), _LOST) for t in result.on_truth] if result.on_truth else [(float("nan"), "")] * 2
    return (
        result.job.at.stations.name(i),
        or_reason(1e3 * _size(before.position[i]), _LOST), or_reason(1e6 * _size(after.position[i]), _LOST),
        or_reason(1e3 * _size(before.rotation[i]), _LOST), or_reason(1e6 * _size(after.rotation[i]), _LOST),
        *(or_reason(1e6 * float(a), _UNSURE) for a in axes), or_reason(1e6 * width, _UNSURE),
        or_reason(1e3 * truth[0][0], truth[0][1]), or_reason(1e6 * truth[1][0], truth[1][1]),
        status.name.lower(),
        *(or_reason(1e3 * float(v), status.text) for v in moved), *(or_reason(float(v), status.text) for v in command),
    )  # fmt: skip


def problem_table(result: CompensateResult) -> Table:
    """Targets that cannot be corrected, and why."""
    import numpy as np

    from elastocal.compensate.targets import TargetStatus

    columns = (
        Column("target", "target"), Column("off_mm", "stays off by", "mm", 4), Column("status", "status"),
        Column("reason", "why, and what to do", footnote=True),
    )  # fmt: skip
    rows = []
    for i in np.flatnonzero(~result.corrected):
        status = TargetStatus(int(result.correction.status[i]))
        off = or_reason(1e3 * _size(result.after.position[i]), "it has no determined loaded state")
        rows.append((result.job.at.stations.name(int(i)), off, status.name.lower(), status.text))
    return Table("problems", "", columns, tuple(rows))


def left_table(result: CompensateResult) -> Table:
    """Motion lines that stay as they are."""
    columns = (
        Column("file", "file"),
        Column("line", "line"),
        Column("text", "motion"),
        Column("reason", "why", footnote=True),
    )
    return Table("left", "", columns, tuple((s.file, s.line, s.text, s.reason) for s in result.left))


def _axes(result: CompensateResult) -> list[tuple[str, str]]:
    from elastocal.app.configurations import axes_of

    axes = axes_of(result.job.at.model)
    return list(zip(axes.names, axes.units, strict=True))


def _factors(result: CompensateResult) -> Array:
    from elastocal.app.configurations import axes_of

    return axes_of(result.job.at.model).factors


def _size(vector: Array) -> float:
    import numpy as np

    return float(np.linalg.norm(vector))

"""Figures 7 and 9 of Hayat, Udai and Saha 2013: joint angles and torques of the sweeps, and the validation motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    from elastocal.measure.joint_log import JointLog
    from elastocal.procedures.gravity.prediction import Validation
    from elastocal.spatial.entries import Array, Ints

DRAWN = 300
PAUSE = 1.0
"""Seconds without a sample that part two sweeps."""


def sweeps(log: JointLog, moved: dict[str, int]) -> tuple[Lines, Lines]:
    """Figure 7: angles and torques of the moved joints over time, sweep after sweep."""
    import numpy as np

    assert log.time is not None
    rows = np.unique(np.linspace(0, len(log.time) - 1, 3 * DRAWN).astype(int))
    note = ("Virtual log of the motions of Table III, each forth and back; as figure 7, which shows them one by one.",)
    angles = _over_time(log.time, np.degrees(log.q), rows, moved)
    torques = _over_time(log.time, log.torque, rows, moved)
    return (
        Lines("figure7_angles", "Sweeps of Table III: angles", "time", "s", "joint angle", "deg", angles, note),
        Lines("figure7_torques", "Sweeps of Table III: torques", "time", "s", "torque", "N m", torques, note),
    )


def _over_time(time: Array, values: Array, rows: Ints, moved: dict[str, int]) -> tuple[Series, ...]:
    """Curves interrupted by a nan where the log pauses."""
    out = []
    for joint, j in moved.items():
        x, y = list[float](), list[float]()
        for k, row in enumerate(rows):
            if k and time[row] - time[rows[k - 1]] > PAUSE:
                x.append(float(time[row]))
                y.append(float("nan"))
            x.append(float(time[row]))
            y.append(float(values[row, j]))
        out.append(Series(f"joint {joint[1]}", tuple(x), tuple(y)))
    return tuple(out)


def validation(judged: Validation, gravity: Array, moved: dict[str, int]) -> tuple[Lines, ...]:
    """Figure 9: torques of the virtual log and those of the expressions found; ``gravity`` as the log counts it."""
    import numpy as np

    out, time = [], judged.samples.log.time
    assert time is not None
    for joint, j in moved.items():
        rows = np.flatnonzero(np.isfinite(judged.error[:, j]))
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, DRAWN).astype(int))]
        x = tuple(float(t) for t in time[rows])
        kinds = {"log": judged.samples.torque, "gravity and friction": judged.prediction.reading, "gravity": gravity}
        series = tuple(
            Series(name, x, tuple(float(v) for v in values[rows, j]), points=name == "log")
            for name, values in kinds.items()
        )
        note = ("As figure 9; the log is virtual.",)
        title = f"Table V motion, joint {joint[1]}"
        out.append(Lines(f"figure9_{joint}", title, "time", "s", "torque", "N m", series, note))
    return tuple(out)

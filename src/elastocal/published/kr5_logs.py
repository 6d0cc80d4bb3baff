"""Virtual RSI logs of the KUKA KR5: the motions of Tables III and V of Hayat, Udai and Saha 2013 with the torques of
their eq. (15)-(17), friction and noise, as telegrams every 12 ms.

No log is published.  Friction and noise are assumptions of a usual size; speeds are slow enough for inertia not to
matter.  The zero of every torque is exact.  Their drawings are figures 7 and 9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    import numpy as np

    from elastocal.measure.joint_log import JointLog
    from elastocal.procedures.gravity.prediction import Validation
    from elastocal.spatial.entries import Array, Ints


CYCLE_MS = 12
SWEEPS = (
    (4, (90, -90, 90, 0, -90, 0), 90, 8.0),
    (2, (90, -90, 90, 0, 90, 0), 0, 6.0),
    (1, (90, 0, 90, 0, 0, 0), -90, 5.0),
)
"""Table III: column of the joint, initial position in deg, final value of the joint, mean speed in deg/s (assumed)."""
TABLE_5 = ((90, -45, 30, 0, -90, 0), (90, -90, 50, 0, 90, 0))
"""Initial and final position in deg."""
TABLE_5_SPEED = 6.0
"""Mean speed of joint 5 in deg/s (assumed)."""
COULOMB = (10.0, 12.0, 8.0, 3.0, 1.5, 1.0)
VISCOUS = (20.0, 30.0, 15.0, 3.0, 2.0, 1.0)
NOISE = (0.5, 0.5, 0.3, 0.1, 0.1, 0.1)
"""N m, N m s/rad and N m (standard deviation) of joints 1 to 6, assumed."""


def published_torques(q: Array) -> Array:
    """(N, 6) in N m by eq. (15)-(17) at joint values (N, 6) in rad; zero where nothing is published."""
    import numpy as np

    a = q[:, 1] + q[:, 2] + q[:, 4]
    out = np.zeros(q.shape)
    out[:, 4] = -11.47 * np.cos(a) + 4.90 * np.sin(a)
    out[:, 2] = -126.28 * np.cos(q[:, 1] + q[:, 2] - np.radians(44.85)) + out[:, 4]
    out[:, 1] = -375.70 * np.cos(q[:, 1]) + out[:, 2]
    return out


def sweep_log(rng: np.random.Generator) -> str:
    """Table III, each sweep forth and back, with a pause of the log between them."""
    import numpy as np

    ipoc, parts = 1_000_000, []
    for joint, start, end, speed in SWEEPS:
        final = np.array(start, dtype=np.float64)
        final[joint] = end
        forth = _path(np.array(start, dtype=np.float64), final, speed)
        parts.append(_telegrams(np.concatenate([forth, forth[::-1]]), ipoc, rng))
        ipoc += CYCLE_MS * (2 * len(forth) + 400)
    return "".join(parts)


def validation_log(rng: np.random.Generator) -> str:
    """Table V, all three joints at once."""
    import numpy as np

    first, last = (np.array(p, dtype=np.float64) for p in TABLE_5)
    return _telegrams(_path(first, last, TABLE_5_SPEED), 5_000_000, rng)


def _path(first: Array, last: Array, speed: float) -> Array:
    """(N, 6) in deg, from rest to rest; ``speed`` is the mean one of the joint that goes furthest."""
    import numpy as np

    count = int(np.max(np.abs(last - first)) / speed / (1e-3 * CYCLE_MS))
    share = (1 - np.cos(np.pi * np.linspace(0, 1, count))) / 2
    return np.asarray(first + share[:, None] * (last - first))


def _telegrams(degrees: Array, ipoc: int, rng: np.random.Generator) -> str:
    """One telegram per row; friction opposes the motion, so that the drives give it on top of the weight."""
    import numpy as np

    q = np.radians(degrees)
    velocity = np.gradient(q, 1e-3 * CYCLE_MS, axis=0)
    friction = np.array(COULOMB) * np.sign(velocity) + np.array(VISCOUS) * velocity
    torque = published_torques(q) + friction + np.array(NOISE) * rng.normal(size=q.shape)
    lines = []
    for row, (angles, torques) in enumerate(zip(degrees, torque, strict=True)):
        a, t = (" ".join(f'A{i}="{v:.4f}"' for i, v in enumerate(values, 1)) for values in (angles, torques))
        lines.append(f'<Rob Type="KUKA"><AIPos {a}/><GearTorque {t}/><IPOC>{ipoc + CYCLE_MS * row}</IPOC></Rob>\n')
    return "".join(lines)


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

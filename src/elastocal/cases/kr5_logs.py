"""Virtual RSI logs of the KUKA KR5: the motions of Tables III and V of Hayat, Udai and Saha 2013 with the torques of
their eq. (15)-(17), friction and noise, as telegrams every 12 ms.

No log is published.  Friction and noise are assumptions of a usual size; speeds are slow enough for inertia not to
matter.  The zero of every torque is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from elastocal.spatial.entries import Array

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

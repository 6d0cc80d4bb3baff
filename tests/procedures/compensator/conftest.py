"""Table 1 of 000, arcs with known truth, and the change of a fit by a change of each reading."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

TABLE_1 = """
 -0.01  -31.84  183.86 -872.10 -125.38 -813.50 -255.59
-30    -118.44  143.42 -872.30 -126.07 -813.33 -256.18
-60    -173.30   65.12 -872.50 -109.90 -825.09 -244.64
-90    -181.76  -30.14 -868.43  -78.20 -844.66 -219.04
-120   -141.45 -116.82 -858.90  -47.60 -859.43 -190.44
-145    -78.10 -165.47 -852.53  -33.68 -864.66 -176.01
"""


@pytest.fixture(scope="session")
def table_1():
    """q2 in rad and the points P1, P01, P02 in m."""
    rows = np.array([[float(v) for v in line.split()] for line in TABLE_1.strip().splitlines()])
    points = rows[:, 1:] / 1e3
    return SimpleNamespace(q=np.radians(rows[:, 0]), p1=points[:, :2], p01=points[:, 2:4], p02=points[:, 4:6])


@pytest.fixture(scope="session")
def pose():
    """A random place and orientation in space, (3,) and (3, 3)."""

    def draw(seed):
        rng = np.random.default_rng(seed)
        q, r = np.linalg.qr(rng.normal(size=(3, 3)))
        q = q * np.sign(np.diag(r))
        q[:, 2] *= np.linalg.det(q)
        return rng.normal(size=3), q

    return draw


@pytest.fixture(scope="session")
def influence():
    """Derivative (outputs, readings) of fit(data) by every number in a list of arrays, by central differences."""

    def differences(fit, data, h=1e-6):
        columns = []
        for which, array in enumerate(data):
            for at in np.ndindex(array.shape):
                pair = []
                for sign in (1, -1):
                    changed = [a.copy() for a in data]
                    changed[which][at] += sign * h
                    pair.append(np.asarray(fit(changed)))
                columns.append((pair[0] - pair[1]) / (2 * h))
        return np.array(columns).T

    return differences

"""The straightforward way to identify a planar arm by contact: one root find per contact inside a least-squares fit.

The plane equations of 002: unknown contact point and pressing force of every contact by ``scipy.optimize.root``, the
twelve parameters by ``scipy.optimize.least_squares`` with finite differences.  No code of elastocal is used.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares, root

NOMINAL = np.array([0, 0, 0, 0.33, 0, 0.33, 1e-5, 1e-5, 1e-5, 0, 0, 0])
ACTUAL = np.array([2.5e-3, -2.2e-3, -1.7e-3, 0.3302, 7e-4, 0.3298, 1.1e-5, 1.1e-5, 1.1e-5, 9.5e-5, 2.9e-4, 2.9e-4])
SCALES = np.array([1e-3] * 6 + [1e-6] * 3 + [1e-4] * 3)
DISCS = np.array([[-0.25, 0.30, 0.15], [0.20, 0.40, 0.05], [0.05, 0.25, 0.08]])


def tip(values: np.ndarray, q: np.ndarray, force: np.ndarray, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the loaded tip is, and the torques of the force about both joints."""
    x0, y0, t1, l1, t2, l2, p, k1, k2, g, g1, g2 = values
    a = q[0] + t1 + k1 * torque[0] + g1 * np.sign(torque[0])
    b = a + q[1] + t2 + k2 * torque[1] + g2 * np.sign(torque[1])
    elbow = np.array([x0 + l1 * np.cos(a), y0 + l1 * np.sin(a)])
    end = elbow + l2 * np.array([np.cos(b), np.sin(b)])
    size = np.hypot(*force)
    x = end + p * force + (g * force / size if size > 0 else 0.0)
    arm, fore = x - [x0, y0], x - elbow
    return x, np.array([arm[0] * force[1] - arm[1] * force[0], fore[0] * force[1] - fore[1] * force[0]])


def felt(values: np.ndarray, q: np.ndarray, disc: np.ndarray) -> np.ndarray:
    """Force on the robot in one contact; zero where the tip is clear of the disc."""
    free, _ = tip(values, q, np.zeros(2), np.zeros(2))
    away = free - disc[:2]
    depth = disc[2] - np.hypot(*away)
    if depth < 0:
        return np.zeros(2)
    angle = np.arctan2(away[1], away[0])

    def equations(u: np.ndarray) -> np.ndarray:
        normal = np.array([np.cos(u[0]), np.sin(u[0])])
        force = 40 * u[1] * normal
        x, torque = tip(values, q, force, 10 * u[2:])
        return np.concatenate([1e3 * (x - disc[:2] - disc[2] * normal), torque / 10 - u[2:]])

    arm = free - values[:2]
    push = np.array([np.cos(angle), np.sin(angle)])
    guess = 40 * np.array([arm[0] * push[1] - arm[1] * push[0], 0.0])
    found = root(equations, [angle, 1.0, guess[0] / 10, 0.1], tol=1e-12)
    force = 40 * found.x[1] * np.array([np.cos(found.x[0]), np.sin(found.x[0])])
    return force if found.x[1] > 0 else np.zeros(2)


def identify(q: np.ndarray, measured: np.ndarray, which: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The twelve values."""

    def left(x: np.ndarray) -> np.ndarray:
        values = x * SCALES
        rows = zip(q, measured, which, strict=True)
        return np.concatenate([m - felt(values, p, DISCS[i]) for p, m, i in rows])

    found = least_squares(left, start / SCALES, xtol=1e-12, ftol=1e-12, gtol=1e-12, max_nfev=60)
    return np.asarray(found.x * SCALES)

"""The equilibrium of six compliant joints as a person would write it in scalar numba: the hardest peer.

For arms whose frames are not turned before the flange and whose axes are coordinate axes, as those of the KR 270
are; Newton's steps with the symmetric part of the tangent, which is all of it but for a moment of the load.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np

from elastocal.model.robot import Robot


def solver(model: Robot, wrench: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """theta (N, 6) of joint values (N, 6)."""
    path = model.tree.path(model.tool)
    joints = [f for f in path if f.joint is not None]
    shift, at, turn = np.zeros((7, 3)), 0, np.eye(3)
    for f in path:
        shift[at] += turn @ f.pose.translation
        turn = turn @ f.pose.rotation
        at += f.joint is not None
        assert at == 6 or np.array_equal(turn, np.eye(3)), "only frames that are not turned, but for the flange"
    axes = np.array([f.joint.axis for f in joints])
    axis, sign = np.abs(axes).argmax(axis=1), axes.sum(axis=1)
    weights = {e.frame: (e.mass, *e.moment) for e in model.elements if e.kind == "link_mass"}
    mass = np.array([weights[f.name] for f in joints])
    k = np.array(
        [next(e.k for e in model.elements if e.kind == "joint_compliance" and e.joint == f.name) for f in joints]
    )
    g = float(model.gravity[2])
    return lambda q: _solve(q, shift, axis, sign, mass, k, g, wrench)


@numba.njit(error_model="numpy", fastmath=True)
def _solve(q, shift, axis, sign, mass, k, g, wrench):  # type: ignore[no-untyped-def]
    out = np.empty_like(q)
    a, p, s, load = np.empty((6, 3)), np.empty((6, 3)), np.empty((6, 3)), np.empty(6)
    d, r, theta = np.empty((6, 6)), np.empty(6), np.empty(6)
    turn = np.empty((3, 3))
    fx, fy, fz, mx, my, mz = wrench[0], wrench[1], wrench[2], wrench[3], wrench[4], wrench[5]
    for n in range(len(q)):
        theta[:] = 0.0
        before = 0.0
        for _ in range(20):
            turn[:] = 0.0
            turn[0, 0] = turn[1, 1] = turn[2, 2] = 1.0
            x, y, z = 0.0, 0.0, 0.0
            for j in range(6):
                u, v, w = shift[j, 0], shift[j, 1], shift[j, 2]
                x += turn[0, 0] * u + turn[0, 1] * v + turn[0, 2] * w
                y += turn[1, 0] * u + turn[1, 1] * v + turn[1, 2] * w
                z += turn[2, 0] * u + turn[2, 1] * v + turn[2, 2] * w
                i = axis[j]
                left, right = (i + 1) % 3, (i + 2) % 3
                angle = sign[j] * (q[n, j] + theta[j])
                c, t = np.cos(angle), np.sin(angle)
                for b in range(3):
                    a[j, b] = sign[j] * turn[b, i]
                    e, f = turn[b, left], turn[b, right]
                    turn[b, left], turn[b, right] = c * e + t * f, c * f - t * e
                p[j, 0], p[j, 1], p[j, 2] = x, y, z
                load[j] = mass[j, 0]
                for b in range(3):  # mass moment of the link
                    own = turn[b, 0] * mass[j, 1] + turn[b, 1] * mass[j, 2] + turn[b, 2] * mass[j, 3]
                    s[j, b] = mass[j, 0] * p[j, b] + own
            u, v, w = shift[6, 0], shift[6, 1], shift[6, 2]
            x += turn[0, 0] * u + turn[0, 1] * v + turn[0, 2] * w
            y += turn[1, 0] * u + turn[1, 1] * v + turn[1, 2] * w
            z += turn[2, 0] * u + turn[2, 1] * v + turn[2, 2] * w
            sx, sy, sz, mw = 0.0, 0.0, 0.0, 0.0
            for j in range(5, -1, -1):
                sx += s[j, 0]
                sy += s[j, 1]
                sz += s[j, 2]
                mw += load[j]
                ax, ay, az = a[j, 0], a[j, 1], a[j, 2]
                px, py, pz = p[j, 0], p[j, 1], p[j, 2]
                bx, by, bz = sx - mw * px, sy - mw * py, sz - mw * pz  # mass moment about the axis
                dx, dy, dz = x - px, y - py, z - pz
                force = ax * (by * g + dy * fz - dz * fy + mx) + ay * (-bx * g + dz * fx - dx * fz + my)
                force += az * (dx * fy - dy * fx + mz)
                r[j] = k[j] * force - theta[j]
                vx, vy, vz = ay * dz - az * dy, az * dx - ax * dz, ax * dy - ay * dx
                ux, uy = ay * bz - az * by, az * bx - ax * bz
                hx, hy, hz = vy * fz - vz * fy + uy * g, vz * fx - vx * fz - ux * g, vx * fy - vy * fx
                for i in range(j + 1):
                    d[i, j] = a[i, 0] * hx + a[i, 1] * hy + a[i, 2] * hz
            for i in range(6):  # I - k D, then elimination
                for j in range(i):
                    d[i, j] = d[j, i]
            for i in range(6):
                for j in range(6):
                    d[i, j] = (1.0 if i == j else 0.0) - k[i] * d[i, j]
            for i in range(6):
                for b in range(i + 1, 6):
                    f = d[b, i] / d[i, i]
                    for j in range(i + 1, 6):
                        d[b, j] -= f * d[i, j]
                    r[b] -= f * r[i]
            size = 0.0
            for i in range(5, -1, -1):
                for j in range(i + 1, 6):
                    r[i] -= d[i, j] * r[j]
                r[i] /= d[i, i]
                size = max(size, abs(r[i]))
            for i in range(6):
                theta[i] += r[i]
            if size * size <= 1e-12 * max(before, size):
                break
            before = size
        out[n] = theta
    return out

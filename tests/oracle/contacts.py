"""Contacts by other routes: constrained minimum of the energy, and the planar arm's own equations."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize, root

from oracle.mechanics import compliance, constants, gradient, load_energy, poses

TABLE_2 = (2.5e-3, -2.2e-3, -1.7e-3, 0.2e-3, 7e-4, -0.2e-3, 1.1e-5, 1.1e-5, 1.1e-5, 9.5e-5, 2.9e-4, 2.9e-4)
"""Actual values of 002 Table 2, the link lengths as errors of the nominal 0.33 m."""

DISCS = (((-0.25, 0.30), 0.15), ((0.20, 0.40), 0.05), ((0.05, 0.25), 0.08))


def ball(centre, radius):
    return lambda x: np.sqrt(np.sum((x - np.array(centre)) ** 2)) - radius


def bar(point, axis, radius):
    unit = np.array(axis) / np.linalg.norm(axis)

    def phi(x):
        arm = x - np.array(point)
        across = arm - unit * (unit @ arm)
        return np.sqrt(np.sum(across**2)) - radius

    return phi


def face(point, normal):
    unit = np.array(normal) / np.linalg.norm(normal)
    return lambda x: unit @ (x - np.array(point))


def plays(model):
    """Places of the half gaps among the degrees of freedom: [(indices, half gap)]."""
    order = [(d.frame, d.axis) for d in model.chain.dofs]
    out = []
    for e in model.elements:
        if e.kind == "joint_backlash" and e.gap:
            out.append(([order.index((e.joint, "joint"))], e.gap))
        elif e.kind == "gripper_backlash" and np.any(e.half_axes):
            out.append(([order.index((e.frame, a)) for a in "xyz"], e.half_axes))
    return out


def least_energy(model, q, frame, phi):
    """theta and tip where elastic energy and loads' potential are least, the tip not inside, gaps free to move.

    theta = c + B z + p: z'z/2 is the elastic energy with k = B B', p stays in the gaps and costs nothing.
    """
    k, c = compliance(model), constants(model)
    values, vectors = np.linalg.eigh(k)
    keep = values > 1e-14 * values.max()
    b = vectors[:, keep] * np.sqrt(values[keep])
    gaps = plays(model)
    spread = np.zeros((len(c), sum(len(at) for at, _ in gaps)))
    column, limits = 0, []
    for at, gap in gaps:
        for i, g in zip(at, np.broadcast_to(gap, len(at)), strict=True):
            spread[i, column] = g
            column += 1
        limits.append(slice(column - len(at), column))
    bend = np.concatenate([b, spread], axis=1)
    elastic, start = b.shape[1], np.zeros(bend.shape[1])

    def tip(y):
        return poses(model, q, c + bend @ y)[frame][:3, 3]

    def energy(y):
        return np.sum(y[:elastic] ** 2) / 2 + load_energy(model, q, c + bend @ y)

    inside = [
        {"type": "ineq", "fun": lambda y, s=s: 1 - np.sum(y[elastic:][s] ** 2), "jac": lambda y, s=s: _ball_slope(y, s)}
        for s in limits
    ]

    def _ball_slope(y, s):
        out = np.zeros(len(y))
        out[elastic:][s] = -2 * y[elastic:][s]
        return out

    scale = 1e3  # lengths in mm: both sides of the problem of order one
    surface = {
        "type": "ineq",
        "fun": lambda y: scale * np.real(phi(tip(y))),
        "jac": lambda y: scale * gradient(lambda z: phi(tip(z)), y),
    }
    found = minimize(
        energy, start, jac=lambda y: gradient(energy, y), constraints=[surface, *inside], method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 400},
    )  # fmt: skip
    return c + bend @ found.x, np.real(tip(found.x)), found


def planar_tip(values, q):
    """Tip of the rigid SCARA (002 eq. 5)."""
    x0, y0, t1, d1, t2, d2 = values[:6]
    a, b = q[0] + t1, q[0] + q[1] + t1 + t2
    l1, l2 = 0.33 + d1, 0.33 + d2
    return np.array([x0 + l1 * np.cos(a) + l2 * np.cos(b), y0 + l1 * np.sin(a) + l2 * np.sin(b)])


def planar_jacobian(values, q):
    """Its derivative: the first column holds both links."""
    _, _, t1, d1, t2, d2 = values[:6]
    a, b = q[0] + t1, q[0] + q[1] + t1 + t2
    l1, l2 = 0.33 + d1, 0.33 + d2
    second = np.array([-l2 * np.sin(b), l2 * np.cos(b)])
    return np.column_stack([np.array([-l1 * np.sin(a), l1 * np.cos(a)]) + second, second])


def planar_inverse(values, point):
    """Joint values of the rigid SCARA for a tip, elbow to the right."""
    x0, y0, t1, d1, t2, d2 = values[:6]
    l1, l2 = 0.33 + d1, 0.33 + d2
    x, y = point[0] - x0, point[1] - y0
    bend = np.arccos((x * x + y * y - l1 * l1 - l2 * l2) / (2 * l1 * l2))
    first = np.arctan2(y, x) - np.arctan2(l2 * np.sin(bend), l1 + l2 * np.cos(bend))
    return np.array([first - t1, bend - t2])


def planar_contact(values, q, centre, radius, start):
    """Angle on the disc and pressing force of one contact: 002 eq. (6), (7), (11) with both signs pushing back."""
    p, g = values[6:9], values[9:12]

    def equations(u):
        angle, size = u[0], u[1]
        n = np.array([np.cos(angle), np.sin(angle)])
        force = size * n
        links = u[2:]
        torque = planar_jacobian(values, links).T @ force
        bent = links - q - p[1:] * torque - g[1:] * np.sign(torque)
        tip = planar_tip(values, links) + p[0] * force + g[0] * n
        return np.concatenate([1e3 * (tip - np.array(centre) - radius * n), 1e3 * bent])

    found = root(equations, [*start, *q], tol=1e-14, options={"xtol": 1e-14})
    return found.x[0], found.x[1]

"""4x4 matrices multiplied along the tree, and virtual work by complex steps.

Nothing here calls the code under test for a result: only the data of a model (frames, elements, the order of
``model.chain.dofs``) is read.
"""

from __future__ import annotations

import numpy as np

AXES = ("x", "y", "z", "rx", "ry", "rz")
STEP = 1e-30
IDENTITY = np.eye(4)


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def axial(m):
    return np.array([m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]]) / 2


def turn(axis, angle):
    """Rodrigues' formula; the angle may be complex, or an array of angles."""
    k, angle = hat(np.asarray(axis, dtype=float) / np.linalg.norm(axis)), np.asarray(angle)[..., None, None]
    out = np.zeros((*angle.shape[:-2], 4, 4), dtype=np.result_type(angle, float))
    out[..., :3, :3] = IDENTITY[:3, :3] + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)
    out[..., 3, 3] = 1.0
    return out


def shift(axis, length):
    unit = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    out = np.zeros((*np.shape(length), 4, 4), dtype=np.result_type(length, float))
    out[...] = IDENTITY
    out[..., :3, 3] = np.asarray(length)[..., None] * unit
    return out


def joint_value(model, name, q):
    motion = model.tree.joint(name)
    if motion.follows is None:
        return q[model.joints.index(name)]
    return motion.ratio * q[model.joints.index(motion.follows)] + motion.offset


def poses(model, q, theta=None):
    """4x4 pose of every frame at joint values q (n,) and bends theta in the order of ``model.chain.dofs``.

    Where every bend is an array (m,), so is every pose that depends on one: (m, 4, 4).
    """
    bend = {(d.frame, d.axis): t for d, t in zip(model.chain.dofs, [] if theta is None else theta, strict=False)}

    def virtual(name):
        out = IDENTITY
        for i, axis in enumerate(AXES):
            value = bend.get((name, axis))
            if value is not None:
                out = out @ (turn if i >= 3 else shift)(IDENTITY[i % 3, :3], value)
        return out

    found = {"base": virtual("base")}
    for frame in model.tree.frames:
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = frame.pose.rotation, frame.pose.translation
        here = found[frame.parent] @ pose
        if frame.joint is not None:
            move = turn if frame.joint.kind == "revolute" else shift
            value = joint_value(model, frame.name, q) + bend.get((frame.name, "joint"), 0.0)
            here = here @ move(frame.joint.axis, value)
        found[frame.name] = here @ virtual(frame.name)
    return found


def spring_energy(spring, angle):
    """Energy of a compensator from the distance of its two ends, drawn as points in the plane of the joint."""
    alpha = np.arctan2(spring.a_y, spring.a_x)
    fixed_end = -np.array([spring.a_x, spring.a_y])
    direction = spring.phi0 + alpha - angle
    moving_end = spring.L * np.array([np.cos(direction), np.sin(direction)])
    apart = moving_end - fixed_end
    length = np.sqrt(apart[0] ** 2 + apart[1] ** 2)
    return (length - spring.s_0) ** 2 / (2 * spring.k_c)


def masses(model):
    """Frame, mass and mass moment of everything that weighs."""
    return [(e.frame, e.mass, np.array(e.moment)) for e in model.elements if e.kind in ("link_mass", "payload")]


def compensators(model):
    return [e for e in model.elements if e.kind == "gravity_compensator"]


def load_energy(model, q, theta, forces=()):
    """Potential of weights, springs and base-fixed forces [(frame, f)] at bends theta (may be complex)."""
    at = poses(model, q, theta)
    out = 0.0
    for frame, mass, moment in masses(model):
        out = out - model.gravity @ (mass * at[frame][:3, 3] + at[frame][:3, :3] @ moment)
    for spring in compensators(model):
        i = [(d.frame, d.axis) for d in model.chain.dofs].index((spring.joint, "joint"))
        out = out + spring_energy(spring, joint_value(model, spring.joint, q) + theta[i])
    for frame, force in forces:
        out = out - np.asarray(force) @ at[frame][:3, 3]
    return out


def gradient(function, theta):
    """Derivative of a scalar by complex steps: exact to rounding."""
    out = np.empty(len(theta))
    for i in range(len(theta)):
        moved = np.array(theta, dtype=complex)
        moved[i] += 1j * STEP
        out[i] = np.imag(function(moved)) / STEP
    return out


def twists(model, q, theta, frames):
    """Motion [v; w] of each frame's origin per unit of every degree of freedom, by complex steps: {frame: (6, n)}."""
    now, n = poses(model, q, theta), len(theta)
    at = poses(model, q, np.asarray(theta)[:, None] + 1j * STEP * np.eye(n))
    out = {}
    for f in frames:
        change = np.imag(np.broadcast_to(at[f], (n, 4, 4))) / STEP
        out[f] = np.concatenate([change[:, :3, 3].T, axial(change[:, :3, :3] @ np.real(now[f])[:3, :3].T)])
    return out


def generalised_forces(model, q, theta, wrenches=()):
    """Work of all loads per unit of every degree of freedom; wrenches are (frame, six, follows)."""
    theta = np.asarray(theta, dtype=float)
    now = poses(model, q, theta)
    standing = [(e.frame, (*e.force, *e.moment), e.follows) for e in model.elements if e.kind == "wrench"]
    wrenches = [*wrenches, *standing]
    move = twists(model, q, theta, {w[0] for w in wrenches} | {m[0] for m in masses(model)})
    out = np.zeros(len(theta))
    for frame, six, follows in wrenches:
        force, moment = np.asarray(six[:3], dtype=float), np.asarray(six[3:], dtype=float)
        if follows:
            force, moment = now[frame][:3, :3] @ force, now[frame][:3, :3] @ moment
        out += force @ move[frame][:3] + moment @ move[frame][3:]
    for frame, mass, moment in masses(model):
        arm = now[frame][:3, :3] @ moment
        out += mass * model.gravity @ move[frame][:3] + np.cross(arm, model.gravity) @ move[frame][3:]
    for spring in compensators(model):
        i = [(d.frame, d.axis) for d in model.chain.dofs].index((spring.joint, "joint"))
        value = joint_value(model, spring.joint, q)
        slope = np.imag(spring_energy(spring, value + theta[i] + 1j * STEP)) / STEP
        if spring.mode == "stiffness_only":
            slope -= np.imag(spring_energy(spring, value + 1j * STEP)) / STEP
        out[i] -= slope
    return out


def compliance(model):
    """k over all degrees of freedom, put together from the elements' own numbers."""
    order = [(d.frame, d.axis) for d in model.chain.dofs]
    k = np.zeros((len(order), len(order)))
    for e in model.elements:
        if e.kind == "joint_compliance":
            i = order.index((e.joint, "joint"))
            k[i, i] += e.k
        elif e.kind in ("link_compliance", "foundation_compliance"):
            at = [order.index((e.frame, a)) for a in AXES]
            k[np.ix_(at, at)] += np.array(e.matrix)
        elif e.kind == "motor_compliance":
            at = [order.index((j, "joint")) for j in e.joints]
            s = np.array(e.structure)
            # motor torques t_m = S^-T t, motor twists k_m t_m, joint twists S^-1 of them
            for column, unit in enumerate(np.eye(len(at))):
                shafts = np.linalg.solve(s.T, unit)
                k[at, at[column]] += np.linalg.solve(s, np.array(e.k) * shafts)
    return k


def constants(model):
    """Geometric errors and joint offsets over all degrees of freedom."""
    order = [(d.frame, d.axis) for d in model.chain.dofs]
    out = np.zeros(len(order))
    for e in model.elements:
        if e.kind == "joint_offset":
            out[order.index((e.joint, "joint"))] += e.offset
        elif e.kind == "frame_error":
            for axis in AXES:
                if getattr(e, axis) is not None:
                    out[order.index((e.frame, axis))] += getattr(e, axis)
    return out

"""DH tables against explicit products of 4x4 matrices."""

from __future__ import annotations

import numpy as np
from oracle.mechanics import shift, turn
from oracle.refusals import refused

from elastocal.model.frames import DHRow, FrameTree, dh_frames
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot

X, Y, Z = np.eye(3)
ROWS = [
    {"name": "a", "a": 0.3, "d": 0.4, "alpha": 0.5, "theta": 0.2},
    {"name": "b", "a": -0.2, "d": 0.1, "alpha": -1.1, "theta": -0.7, "type": "prismatic"},
    {"name": "c", "a": 0.25, "d": -0.3, "alpha": np.pi / 2, "theta": 1.3},
]
Q = np.array([0.6, 0.15, -0.9])


def robot(rows, convention):
    frames = dh_frames([DHRow(**r) for r in rows], convention)
    return Robot("dh", FrameTree(frames), frames[-1].name)


def moved(row, q):
    """Angle and shift along z of a row with its joint value."""
    turns = row.get("type", "revolute") == "revolute"
    return row["theta"] + (q if turns else 0.0), row.get("d", 0.0) + (0.0 if turns else q)


def assert_ends_at(model, expected):
    got = kinematics(model, [Q])
    np.testing.assert_allclose(got.position[0], expected[:3, 3], rtol=0, atol=1e-14)
    np.testing.assert_allclose(got.rotation[0], expected[:3, :3], rtol=0, atol=1e-14)


def test_standard_rows_are_rz_tz_tx_rx():
    expected = np.eye(4)
    for row, q in zip(ROWS, Q, strict=True):
        angle, d = moved(row, q)
        expected = expected @ turn(Z, angle) @ shift(Z, d) @ shift(X, row["a"]) @ turn(X, row["alpha"])
    assert_ends_at(robot(ROWS, "standard"), expected)


def test_modified_rows_are_rx_tx_rz_tz():
    expected = np.eye(4)
    for row, q in zip(ROWS, Q, strict=True):
        angle, d = moved(row, q)
        expected = expected @ turn(X, row["alpha"]) @ shift(X, row["a"]) @ turn(Z, angle) @ shift(Z, d)
    assert_ends_at(robot(ROWS, "modified"), expected)


def test_hayati_rows_are_rz_tx_rx_ry():
    rows = [{**r, "d": 0.0, "beta": b, "type": "revolute"} for r, b in zip(ROWS, (0.1, -0.2, 0.3), strict=True)]
    expected = np.eye(4)
    for row, q in zip(rows, Q, strict=True):
        expected = (
            expected @ turn(Z, row["theta"] + q) @ shift(X, row["a"]) @ turn(X, row["alpha"]) @ turn(Y, row["beta"])
        )
    assert_ends_at(robot(rows, "hayati"), expected)


def test_a_row_with_beta_is_hayati_inside_a_standard_table():
    rows = [ROWS[0], {**ROWS[1], "type": "revolute", "d": 0.0, "beta": 0.3}, ROWS[2]]
    expected = np.eye(4)
    for row, q in zip(rows, Q, strict=True):
        expected = (
            expected @ turn(Z, row["theta"] + q) @ shift(Z, row["d"]) @ shift(X, row["a"]) @ turn(X, row["alpha"])
        )
        expected = expected @ turn(Y, row.get("beta", 0.0))
    assert_ends_at(robot(rows, "standard"), expected)


def test_hayati_rows_refuse_d_and_modified_rows_refuse_beta():
    with refused("unsupported", ("a", 0.4)):
        dh_frames([DHRow(**ROWS[0])], "hayati")
    with refused("conflict", "a"):
        dh_frames([DHRow(**ROWS[0], beta=0.1)], "modified")

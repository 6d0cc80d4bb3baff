"""Targets between two targets."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.programs import about, encoded
from oracle.refusals import refused

from elastocal.compensation.posts.gcode import Gcode
from elastocal.compensation.posts.krl import Krl
from elastocal.compensation.stations import between, chord_shares, chords


def krl(code: str):
    return Krl().read(encoded({"a.src": f"DEF a()\n{code}\nEND"}))


def test_a_line_is_straight_and_turns_about_one_axis():
    program = krl("LIN {X 0,Y 0,Z 0,A 10,B 0,C 0}\nLIN {X 100,Y 200,Z -40,A 70,B 0,C 0}")
    points = between(program, 1, np.array([0.25, 0.75]))
    np.testing.assert_allclose(points.positions, [[0.025, 0.05, -0.01], [0.075, 0.15, -0.03]], atol=1e-15)
    np.testing.assert_allclose(points.rotations, [about("z", 25), about("z", 55)], atol=1e-14)


def test_a_helix_rises_evenly():
    program = Gcode().read({"a.nc": b"G21 G90 G1 X10 Y0 Z0\nG3 X0 Y10 Z6 I-10 J0"})
    points = between(program, 1, np.array([1 / 3, 2 / 3]))
    half, long = 0.005, 0.01 * np.sqrt(0.75)
    np.testing.assert_allclose(points.positions, [[long, half, 0.002], [half, long, 0.004]], atol=1e-12)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-4, 1e-5, 3e-7])
def test_chords_are_few_and_stay_within_the_tolerance(tolerance):
    program = Gcode().read({"a.nc": b"G21 G90 G1 X50 Y0 Z0\nG3 X0 Y50 I-50 J0"})
    count = len(chord_shares(program, 1, tolerance)) + 1
    sag = [0.05 * (1 - np.cos(np.pi / 4 / n)) for n in (count, count - 1) if n]
    assert sag[0] <= tolerance * 1.000001
    assert count == 1 or sag[1] > tolerance


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("PTP {A1 0,A2 0,A3 0,A4 0,A5 0,A6 0}\nLIN {X 1,Y 0,Z 0,A 0,B 0,C 0}", "another-start"),
        ("LIN {X 1,Y 0,Z 0,A 0,B 0,C 0}\nPTP {X 2,Y 0,Z 0,A 0,B 0,C 0}", "no-known-start"),
        ("LIN {X 1,Y 0,Z 0,A 0,B 0,C 0}\n$BASE=BASE_DATA[2]\nLIN {X 2,Y 0,Z 0,A 0,B 0,C 0}", "another-start"),
    ],
)
def test_what_is_no_line_in_one_frame_is_refused(code, why):
    program = krl(code)
    with refused(why):
        between(program, 1, np.array([0.5]))


def test_a_tolerance_must_be_positive():
    with refused("range", 0.0):
        chords(krl(""), 0.0)

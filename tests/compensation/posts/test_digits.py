"""Numbers as text and angles nearest to old ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.draws import draws
from oracle.programs import about

from elastocal.compensation.posts.digits import new_text, number_text, numbers_text, own_decimals
from elastocal.compensation.posts.poses import controller_angles, euler_near, quaternion_near
from elastocal.compensation.posts.text import Edits, opened, shown


@pytest.mark.parametrize(
    ("old", "value", "new"),
    [
        ("10", 10.12344, "10.1234"),
        ("10.", 10.12346, "10.1235"),
        ("10.000000", 10.12344, "10.123440"),
        ("+10.5", 11.0, "+11.0000"),
        ("+10.5", -11.0, "-11.0000"),
        ("0.1", -0.00001, "0.0000"),
        ("1.5E+1", 16.0, "16.0000"),
        (".5", 0.25, "0.2500"),
    ],
)
def test_new_numbers_keep_decimals_or_get_more(old, value, new):
    assert number_text(old, value, 4) == new
    decimals = np.maximum(own_decimals(np.frombuffer(old.encode(), np.uint8), np.array([[0, len(old)]])), 4)
    assert numbers_text(np.array([value]), decimals) == [new.lstrip("+")]


def test_a_number_that_would_round_to_the_old_one_stays():
    assert new_text("10.5", 10.5, 10.50004, 4) is None
    assert new_text("10.5", 10.5, 10.50006, 4) == "10.5001"
    assert new_text("10.500000", 10.5, 10.500006, 4) == "10.500006"
    assert new_text("10", 10.0, 10.00004, 4) is None
    assert new_text("", np.nan, 10.0, 4) == "10.0000"


def test_edits_keep_their_order_at_one_place():
    assert Edits([(1, 2, "X"), (1, 1, "new "), (3, 3, "!"), (3, 3, "?")]).applied("abc") == "anew Xc!?"
    with pytest.raises(AssertionError, match="overlap"):
        Edits([(0, 2, "x"), (1, 3, "y")]).applied("abc")


def test_lines_are_counted_by_line_ends_only():
    text = opened("a", "a\x0b\x0c\x1c\u2028b\r\nc\rd\ne".encode())
    assert [text.text[s] for s in text.starts] == ["a", "c", "d", "e"]
    assert [text.line(i) for i in text.starts] == [1, 2, 3, 4]
    assert shown("Fr\xe4sen \xdc") == shown("Fr\xc3\xa4sen \xc3\x9c") == "Fräsen Ü"


angles = st.floats(-400, 400)
AXES = {"X": "x", "Y": "y", "Z": "z"}


@pytest.mark.parametrize("sequence", ["ZYX", "XYZ", "ZYZ", "ZXZ", "YXZ"])
@settings(max_examples=draws(60, 1000))
@given(old=st.tuples(angles, st.one_of(angles, st.sampled_from([0.0, 90.0, -90.0, 180.0])), angles), turn=angles)
def test_angles_are_the_rotation_and_near_the_old_ones(sequence, old, turn):
    def matrix(values):
        return np.linalg.multi_dot([about(AXES[s], v) for s, v in zip(sequence, values, strict=True)])

    start = np.radians([old])
    same = euler_near(matrix(old)[None], sequence, start)
    np.testing.assert_allclose(matrix(np.degrees(same[0])), matrix(old), atol=2e-7)  # SciPy locks within 1e-7
    locked = abs((np.cos if len(set(sequence)) == 3 else np.sin)(start[0, 1])) < 1e-3
    np.testing.assert_allclose(same if not locked else same[0, 2], start if not locked else start[0, 2], atol=1e-5)
    goal = about("x", turn / 1e3) @ matrix(old)
    found = euler_near(goal[None], sequence, start)
    np.testing.assert_allclose(matrix(np.degrees(found[0])), goal, atol=2e-7)
    if not locked:
        assert np.abs(found - start).max() < np.pi + 1e-9


near_half = st.one_of(st.floats(-180, 180), st.floats(179.999, 180.0), st.floats(-180, -179.999))


@pytest.mark.parametrize("sequence", ["ZYX", "XYZ"])
@settings(max_examples=draws(60, 1000))
@given(old=st.tuples(near_half, st.floats(-89, 89), near_half), turn=st.floats(-0.01, 0.01))
def test_angles_of_controllers_stay_within_half_a_turn(sequence, old, turn):
    def matrix(values):
        return np.linalg.multi_dot([about(AXES[s], v) for s, v in zip(sequence, values, strict=True)])

    goal = about("z", turn) @ about("x", turn) @ matrix(old)
    found = np.degrees(controller_angles(goal[None], sequence, np.radians([old])))[0]
    np.testing.assert_allclose(matrix(found), goal, atol=3e-7)
    for decimals in (3, 5, 8):
        shown = [float(f"{v:.{decimals}f}") for v in found]
        assert all(-180 < v <= 180 for v in shown) or decimals == 3  # fewer decimals than are ever written
    far = np.radians([[old[0] + 720, *old[1:]]])
    assert abs(np.degrees(controller_angles(goal[None], sequence, far)[0, 0]) - old[0] - 720) < 1


def test_quaternions_keep_the_sign_of_the_old_one():
    q = quaternion_near(np.array([about("z", 350.0), about("z", 350.0)]), np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]]))
    np.testing.assert_allclose(q[0], [np.cos(np.radians(5)), 0, 0, -np.sin(np.radians(5))], atol=1e-15)
    np.testing.assert_allclose(q[1], -q[0])

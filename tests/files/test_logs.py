"""Logs of controllers: every format gives the same joint values and torques, and whatever is left out is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.errors import InputError
from elastocal.files.log import telegrams
from elastocal.files.log.read import log_format, read_log
from elastocal.files.log.telegrams import LARGEST, TelegramError, TelegramOrder, answer, check_sender, parse_telegram
from elastocal.files.robot.read import read_robot

KR5 = read_robot("kuka-kr5")
COUPLED = """\
format: elastocal-robot/1
name: coupled
source: written for a test
joints:
  - {name: J1, type: revolute, axis: [0, 1, 0]}
  - {name: J2, type: revolute, xyz_mm: [500, 0, 0], axis: [0, 1, 0]}
  - {name: E, type: prismatic, axis: [1, 0, 0]}
  - {name: tip, xyz_mm: [500, 0, 0]}
controller:
  axes: [A1, A2, E1]
  sign: {A2: -1}
  zero_deg: {A1: 10}
  couplings: [{joint: J2, axis: A1, ratio: 0.5}]
elements:
  - {kind: link_mass, frame: J2, mass_kg: 2, com_mm: [100, 0, 0]}
"""
AXES = np.array([[10.0, 20, 100], [11.0, 18, 110], [13.0, 15, 130], [14.0, 14, 120], [15.0, 14, 100], [16.0, 12, 90]])
"""deg, deg, mm"""
TORQUES = np.array([[5.0, -3, 7], [6.0, -2, 8], [7.0, -1, 9], [6.5, 0, 8], [6.0, 1, 7], [5.5, 2, 6]])
Q = np.column_stack(
    [
        np.radians(AXES[:, 0] - 10),
        -np.radians(AXES[:, 1]) + 0.5 * np.radians(AXES[:, 0] - 10),
        1e-3 * AXES[:, 2],
    ]
)
"""By hand: J1 = A1 - 10 deg, J2 = -A2 + (A1 - 10 deg) / 2, E = E1."""
TAU = np.column_stack([TORQUES[:, 0] + 0.5 * TORQUES[:, 1], -TORQUES[:, 1], TORQUES[:, 2]])
"""From equal work: A1 = J1 + J2 / 2, A2 = -J2, so J2 = -A2 and J1 = A1 + A2 / 2."""


@pytest.fixture
def coupled(tmp_path):
    path = tmp_path / "coupled.yaml"
    path.write_text(COUPLED, encoding="utf-8")
    return read_robot(path)


def rob(ipoc, axes, torques=None, more=""):
    """A telegram of two axes and a slide."""
    load = "" if torques is None else '<GearTorque A1="{}" A2="{}" E1="{}"/>'.format(*torques)
    return (
        f'<Rob Type="KUKA"><AIPos A1="{axes[0]}" A2="{axes[1]}" A3="1"/><EIPos E1="{axes[2]}"/>{load}{more}'
        f'<Delay D="0"/><IPOC>{ipoc}</IPOC></Rob>'
    )


def six(ipoc, a2=-90.0):
    return f'<Rob Type="KUKA"><AIPos A1="0" A2="{a2}" A3="90" A4="0" A5="0" A6="0"/><IPOC>{ipoc}</IPOC></Rob>'


def lines(start=1000, step=12):
    return [rob(start + step * i, a, t) for i, (a, t) in enumerate(zip(AXES, TORQUES, strict=True))]


def write(tmp_path: Path, text: str, name="log.xml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("step", [4, 12])
@pytest.mark.parametrize("joint", ["\n", "", "\r\n\r\n"])
def test_rsi_angles_and_torques_go_through_the_transmission(tmp_path, coupled, step, joint):
    log = read_log(write(tmp_path, joint.join(lines(step=step))), coupled)
    np.testing.assert_allclose(log.q, Q, atol=1e-15)
    np.testing.assert_allclose(log.torque, TAU, atol=1e-13)
    np.testing.assert_allclose(log.time, 1e-3 * step * np.arange(6))
    assert log.current is None
    assert log.notes == (f"{tmp_path / 'log.xml'} is read as KUKA RSI telegrams.",)


def test_rsi_in_one_element_spread_over_lines_with_task_data(tmp_path, coupled):
    spread = [t.replace("><", ">\n  <").replace('"KUKA">', '"KUKA"><Dat TaskType="b">') for t in lines()]
    spread = [t.replace("</Rob>", "</Dat></Rob>") for t in spread]
    text = '<?xml version="1.0"?>\n<log>\n' + "\n".join(spread) + "\n</log>\n"
    log = read_log(write(tmp_path, text), coupled)
    np.testing.assert_allclose(log.q, Q, atol=1e-15)
    assert len(log.notes) == 1
    assert log.lines[0] == 3
    assert log.lines[1] == 3 + spread[0].count("\n") + 1


def test_a_log_in_pieces_is_the_same_log(tmp_path, coupled, monkeypatch):
    path = write(tmp_path, "<!-- a comment -->\n" + "\n".join(lines()))
    whole = read_log(path, coupled)
    assert len(whole.notes) == 1
    for size in (1, 7, 300):
        monkeypatch.setattr(telegrams, "PIECE", size)
        again = read_log(path, coupled)
        assert np.array_equal(again.q, whole.q)
        assert np.array_equal(again.lines, whole.lines)
        assert again.notes == whole.notes


@pytest.mark.parametrize("cut", [5, 60, 120, -1])
def test_a_last_telegram_that_is_cut_off_is_named(tmp_path, coupled, cut):
    text = "\n".join(lines())
    last = text.rindex("<Rob")
    end = len(text) + cut if cut < 0 else last + cut
    log = read_log(write(tmp_path, text[:end]), coupled)
    np.testing.assert_allclose(log.q, Q[:5], atol=1e-15)
    assert log.notes[1:] == ("1 piece left out, cut off: line 6.",)


def test_cut_spoilt_doubled_and_reordered_telegrams_in_the_middle(tmp_path, coupled):
    t = lines()
    text = [
        t[0], t[1], t[1], t[2][:80], t[3], t[2], "14:02 started", "<!-- malformed: no IPOC: AAAA -->",
        t[4].replace("</IPOC>", "</IPOCK>"), t[5], rob(1072, ["nan", 1, 2]), rob(1084, [1, 2, 3]),
    ]  # fmt: skip
    log = read_log(write(tmp_path, "\n".join(text)), coupled)
    np.testing.assert_allclose(log.q[:5], Q[[0, 1, 2, 3, 5]], atol=1e-15)
    np.testing.assert_allclose(log.time, 1e-3 * np.array([0, 12, 24, 36, 60, 84]))
    assert log.lines.tolist() == [1, 2, 6, 5, 10, 12]
    assert log.notes[1:] == (
        "1 telegrams came out of order; they are sorted by IPOC.",
        "2 telegrams are missing between those logged, by their IPOC.",
        "1 piece left out, doubled: line 3.",
        "1 piece left out, cut off: line 4.",
        "1 piece left out, no telegram but other text: line 7.",
        "1 piece left out, set aside by the recorder as malformed: line 8.",
        "1 piece left out, malformed: line 9.",
        "1 piece left out, without a finite value of every axis in AIPos: line 11.",
    )
    assert np.isnan(log.torque[5]).all()


def test_pauses_keep_their_time_and_a_counter_that_runs_back_is_said(tmp_path):
    text = "\n".join(six(n) for n in (1000, 1012, 1024, 901024, 901036, 5000, 5012))
    log = read_log(write(tmp_path, text), KR5)
    np.testing.assert_allclose(log.time, [0, 0.012, 0.024, 900.024, 900.036, 901.036, 901.048])
    assert "pauses or starts anew 2 times (first in line 4)" in log.notes[1]
    assert "runs back 1 times; time goes on there after 1000 ms" in log.notes[2]
    assert not any("missing" in n for n in log.notes)


def test_currents_and_unknown_torques_are_told_apart(tmp_path, coupled):
    more = '<MACur A1="1.5" A2="-2.5"/><MECur E1="0.5"/><MotorTorque A1="3" A2="1"/>'
    text = "\n".join(rob(1000 + 4 * i, a, None, more) for i, a in enumerate(AXES))
    log = read_log(write(tmp_path, text), coupled)
    np.testing.assert_array_equal(log.current, np.tile([1.5, -2.5, 0.5], (6, 1)))
    assert np.isnan(log.torque).all()
    assert log.notes[1:] == (
        "The telegrams hold no torques (GearTorque, AxisTorque, Torque).",
        "Not used: MotorTorque, whose meaning is not known.",
    )


def test_a_counter_of_cycles_is_no_clock(tmp_path):
    log = read_log(write(tmp_path, "\n".join(six(n) for n in range(5, 25))), KR5)
    assert log.time is None
    assert "steps of 1, not of 4 or 12 ms" in log.notes[1]


def test_telegrams_without_the_robots_axes_are_refused(tmp_path, coupled):
    has = ("A1", "A2", "A3", "A4", "A5", "A6")
    with refused("no-axis", "E1", file="log.xml", line=1, allowed=has):
        read_log(write(tmp_path, six(4)), coupled)
    with refused("no-telegram", file="log.xml"):
        read_log(write(tmp_path, "<Robot/>\n<Rob>"), KR5)


BOMB = b'<!DOCTYPE Rob [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]><Rob A="&b;"><IPOC>1</IPOC></Rob>'


@pytest.mark.parametrize(
    ("data", "code", "value"),
    [
        (b"", "not-xml", None),
        (b"<Rob><IPOC>1</IPOC>", "not-xml", None),
        (b"<Rob><IPOC>1</IPOC></Rob><Rob/>", "not-xml", None),
        (BOMB, "not-plain", None),
        (BOMB.decode().encode("utf-16"), "not-plain", None),
        (b'<Rob A="&b;"><IPOC>1</IPOC></Rob>', "not-xml", None),
        (b"<Sen><IPOC>1</IPOC></Sen>", "no-telegram", "Sen"),
        (b"<Rob/>", "counter", ()),
        (b"<Rob><IPOC/></Rob>", "counter", (None,)),
        (b"<Rob><IPOC>1_0</IPOC></Rob>", "counter", ("1_0",)),
        (b"<Rob><IPOC>-4</IPOC></Rob>", "counter", ("-4",)),
        (b"<Rob><IPOC>99999999999999999999</IPOC></Rob>", "counter", ("99999999999999999999",)),
        ("<Rob><IPOC>\u0661\u0662</IPOC></Rob>".encode(), "counter", ("\u0661\u0662",)),
        (b"<Rob><IPOC>1</IPOC><IPOC>2</IPOC></Rob>", "counter", ("1", "2")),
        (b"<Rob><IPOC>1</IPOC>" + b" " * LARGEST + b"</Rob>", "too-large", LARGEST + 25),
    ],
)
def test_what_is_no_telegram(data, code, value):
    with refused(code, value) as caught:
        parse_telegram(data)
    assert isinstance(caught.value, TelegramError)


def test_an_answer_is_the_telegrams_own_counter_and_nothing_else():
    telegram = parse_telegram(b'<Rob Type="KUKA"><Delay D="3"/><Dat><IPOC> 0000000042 </IPOC></Dat></Rob>')
    assert (telegram.ipoc, telegram.delayed) == (42, 3)
    assert answer(telegram, "ImFree") == b'<Sen Type="ImFree"><IPOC>0000000042</IPOC></Sen>'


@pytest.mark.parametrize("word", ["", 'a"/><RKorr X="1', "a b", "x" * 33, "é"])
def test_nothing_else_gets_into_an_answer(word):
    with pytest.raises(InputError) as caught:
        check_sender(word)
    assert (caught.value.parameter, caught.value.value) == ("sen_type", word)


def test_order_by_counters():
    order = TelegramOrder()
    places = [order.add(n) for n in (100, 104, 112, 108, 104, 116, 140, 120, 900_000, 900_004, 96, 100)]
    assert places == [
        "first", "next", "next", "late", "double", "next", "next", "late", "restart", "next", "restart", "next",
    ]  # fmt: skip
    assert (order.step, order.lost, order.reordered, order.doubled, order.restarts) == (4, 4, 2, 1, 2)


def test_a_telegram_from_before_the_first_widens_the_stretch():
    order = TelegramOrder()
    for n in (104, 100, 108, 116):
        order.add(n)
    assert (order.reordered, order.lost) == (1, 1)


def test_the_cycle_is_known_where_most_telegrams_are_lost_and_one_counter_is_spoilt():
    order = TelegramOrder()
    kept = np.random.default_rng(0).random(400) < 0.4
    for n in 12 * np.flatnonzero(kept):
        order.add(int(n))
        if n == 12 * np.flatnonzero(kept)[100]:
            order.add(int(n) + 1)
    assert order.step == 12


@pytest.mark.parametrize("seed", range(5))
def test_order_counts_what_was_planted(seed):
    rng = np.random.default_rng(seed)
    sent = 12 * np.arange(2000) + 7
    keep = rng.random(2000) > 0.1
    keep[[0, -1]] = True
    stream = sent[keep]
    place = np.arange(len(stream)) + np.where(rng.random(len(stream)) < 0.05, 2.5, 0.0)
    place[-1] = 1e9
    stream = stream[np.argsort(place, kind="stable")]
    twice = np.flatnonzero(rng.random(len(stream)) < 0.03)
    order = TelegramOrder()
    for n in np.insert(stream, twice, stream[twice]):
        order.add(int(n))
    assert order.lost == 2000 - np.sum(keep)
    assert order.doubled == len(twice)
    assert order.reordered == np.sum(stream < np.maximum.accumulate(stream))


def csv_of(separator, decimal):
    head = ["time_ms", "A1_deg", "A2_rad", "E1_mm", "A1_torque_Nm", "A2_torque_kNm", "E1_torque_N", "A1_current_A",
            "A2_current_A", "E1_current_A", "A1_deg_per_s", "A2_rad_per_s", "E1_mm_per_s", "mode"]  # fmt: skip
    out = [separator.join(head)]
    for i, (a, t) in enumerate(zip(AXES, TORQUES, strict=True)):
        cells = [20 * i + 500, a[0], np.radians(a[1]), a[2], t[0], t[1] / 1e3, t[2], 1.25, 2, 3, 1.5, -0.25, 10, 7]
        out.append(separator.join(repr(float(c)).replace(".", decimal) for c in cells))
    return "\n".join(out) + "\n"


@pytest.mark.parametrize(("separator", "decimal"), [(",", "."), (";", ","), ("\t", ","), (";", ".")])
def test_csv_with_units_in_its_header(tmp_path, coupled, separator, decimal):
    log = read_log(write(tmp_path, csv_of(separator, decimal), "log.csv"), coupled)
    np.testing.assert_allclose(log.q, Q, atol=1e-15)
    np.testing.assert_allclose(log.torque, TAU, atol=1e-13)
    np.testing.assert_allclose(log.time, 0.02 * np.arange(6))
    speed = [np.radians(1.5), 0.25 + 0.5 * np.radians(1.5), 0.01]
    np.testing.assert_allclose(log.velocity, np.tile(speed, (6, 1)))
    np.testing.assert_allclose(log.current, np.tile([1.25, 2, 3], (6, 1)))
    assert log.notes == (f"{tmp_path / 'log.csv'} is read as CSV.", "Columns not used: mode.")
    assert log.place(0).endswith("log.csv, line 2")


def test_csv_without_time_and_with_empty_torques(tmp_path, coupled):
    text = "A1_deg,A2_deg,E1_mm,A1_torque_Nm,A2_torque_Nm\n10,0,0,4,\n20,0,0,,3\n"
    log = read_log(write(tmp_path, text, "log.csv"), coupled)
    assert log.time is None
    np.testing.assert_array_equal(np.isnan(log.torque), [[True, True, True], [True, False, True]])
    assert log.torque[1, 1] == -3


def test_the_bare_header_of_identification_programs(tmp_path, coupled):
    text = "q_0,q_1,q_2,tau_0,tau_1,tau_2,tau_ext_0\n0.1,0.2,0.3,1,2,3,9\n0.2,0.2,0.3,4,5,6,9\n"
    log = read_log(write(tmp_path, text, "log.csv"), coupled)
    np.testing.assert_array_equal(log.q, [[0.1, 0.2, 0.3], [0.2, 0.2, 0.3]])
    np.testing.assert_array_equal(log.torque, [[1, 2, 3], [4, 5, 6]])
    assert "tau_ext_0" in log.notes[1]
    assert "names no units" in log.notes[2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A1_deg,A2_deg\n1,2\n", "no column for axis E1 of coupled; add E1_mm"),
        ("A1_deg,A2_deg,E1_mm,A2_torque_nM\n1,2,3,4\n", "unit 'nM' does not fit A2_torque"),
        ("A1_deg,A2_deg,E1_mm,A2_torque\n1,2,3,4\n", "'A2_torque' has no unit"),
        ("A1_deg,A2_deg,E1_deg\n1,2,3\n", "unit 'deg' does not fit E1"),
        ("time,A1_deg,A2_deg,E1_mm\n1,2,3,4\n", "'time' has no unit"),
        ("A1_deg,A2_deg,E1_mm\n1,2,x\n", "line 2, column E1_mm: 'x' is not a number"),
        ("A1_deg,A2_deg,E1_mm\n1,1_0,3\n", "line 2, column A2_deg: '1_0' is not a number"),
        ("A1_deg,A2_deg,E1_mm\n1,inf,3\n", "'inf' is not finite"),
        ("A1_deg,A2_deg,E1_mm\n1,,3\n", "line 2, column A2_deg: is empty"),
        ("time_s,A1_deg,A2_deg,E1_mm\n,1,2,3\n", "column time_s: is empty"),
        ("time_s,A1_deg,A2_deg,E1_mm\n1,1,2,3\n0,1,2,3\n", "line 3: the time is -1 s after 0 s"),
        ("A1_deg,A2_deg,E1_mm,A1_current_A\n1,2,3,4\n", "the like column of axis 2 is not"),
        ("A1_deg,A2_deg,E1_mm\n", "has a header and no rows"),
        ("q_0,q_1\n1,2\n", "2 columns q_... for the 3 joints"),
        ("q_0,q_1,q_2,q_3\n1,2,3,4\n", "4 columns q_... for the 3 joints"),
        ("  \n", "is empty"),
        ("actual_q_0 actual_q_1\n1 2\n", "2 columns actual_q_... for the 3 axes"),
        ("actual_q_0 actual_q_1 actual_q_2\n", "no whole row"),
        ("actual_q_0 actual_q_1 actual_q_2\n1 2 3\n1 2\n1 2 3\n", "line 3: 2 cells for 3 columns"),
        ("actual_q_0 actual_q_1 actual_q_2\n1 2 3\n1 2 None\n", "line 3, column actual_q_2: 'None' is no number"),
        ("actual_q_0 actual_q_1 actual_q_2 actual_qd_0\n1 2 3 4\n", "column actual_qd_1 is missing"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table_is_said_with_its_place(tmp_path, coupled, text, said):
    with pytest.raises(InputError) as error:
        read_log(write(tmp_path, text, "log.csv"), coupled)
    assert said in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "log.csv"))


def rtde(torque_field, rows=4):
    head = [
        "timestamp",
        *(f"{f}_{i}" for f in ("actual_q", "actual_qd", "actual_current", torque_field) for i in range(6)),
    ]
    body = [[100 + 0.002 * k, *(0.1 * k + np.arange(24))] for k in range(rows)]
    return "\n".join([" ".join(head), *(" ".join(repr(float(v)) for v in row) for row in body)]) + "\n"


@pytest.mark.parametrize("field", ["actual_current_as_torque", "target_moment"])
def test_rtde_record(tmp_path, field):
    log = read_log(write(tmp_path, rtde(field), "robot_data.csv"), KR5)
    step = 0.1 * np.arange(4)[:, None]
    np.testing.assert_allclose(log.q, step + np.arange(6))
    np.testing.assert_allclose(log.velocity, step + np.arange(6, 12))
    np.testing.assert_allclose(log.current, step + np.arange(12, 18))
    np.testing.assert_allclose(log.torque, step + np.arange(18, 24))
    np.testing.assert_allclose(log.time, 0.002 * np.arange(4), atol=1e-12)
    assert "UR RTDE record" in log.notes[0]
    assert ("not what was measured" in " ".join(log.notes)) == (field == "target_moment")


def test_rtde_record_that_is_cut_off(tmp_path):
    text = rtde("target_moment")
    log = read_log(write(tmp_path, text[: text.rindex(" ")], "robot_data.csv"), KR5)
    assert log.count == 3
    assert log.notes[1] == "The last line (5) is left out: it is cut off after 24 of 25 cells."


def test_the_measured_torque_is_preferred(tmp_path):
    head, *rows = rtde("actual_current_as_torque").splitlines()
    names = " ".join(f"target_moment_{i}" for i in range(6))
    text = "\n".join([f"{head} {names}", *(f"{r} 9 9 9 9 9 9" for r in rows)])
    log = read_log(write(tmp_path, text, "robot_data.csv"), KR5)
    assert log.torque[0].tolist() == [18, 19, 20, 21, 22, 23]


def test_a_format_is_told_by_content_and_not_by_name(tmp_path):
    assert log_format(write(tmp_path, six(4), "a.csv")) == "KUKA RSI telegrams"
    assert log_format(write(tmp_path, rtde("target_moment"), "b.xml")).startswith("UR RTDE")
    assert log_format(write(tmp_path, "A1_deg\n1\n", "c.xml")) == "CSV"
    with refused("no-file", file="none.csv"):
        log_format(tmp_path / "none.csv")
    with refused("no-file", file=tmp_path.name):
        log_format(tmp_path)

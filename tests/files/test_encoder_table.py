"""Tables of counts: both forms, units, decimal commas, and every complaint with its place."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.encoders import SINGLE, WRIST
from oracle.refusals import refused

from elastocal.errors import InputError
from elastocal.files.tables.encoders import read_encoder_tables


def read(tmp_path, *texts):
    paths = []
    for k, text in enumerate(texts):
        paths.append(tmp_path / f"t{k + 1}.csv")
        paths[-1].write_text(text, encoding="utf-8")
    return read_encoder_tables(paths)


def test_one_joint_at_a_time(tmp_path):
    found = read(tmp_path, SINGLE)
    assert [tuple(s.counts) for s in found.series] == [(f"A{i}",) for i in range(1, 7)]
    fourth = found.series[3]
    assert (fourth.table, fourth.rows, fourth.row_word) == ("t1.csv", (17, 18, 19, 20, 21), "line")
    assert fourth.motors["A4"].values[1] == pytest.approx(4 * np.pi)
    assert fourth.joints["A4"].values[4] == pytest.approx(np.radians(24.2))
    assert fourth.joints["A4"].texts[2] == "14.31"
    assert found.kinds["A6"] == "revolute"


def test_joints_together_with_decimal_commas(tmp_path):
    found = read(tmp_path, "A_deg;B_mm;A_counts;B_counts;A_motor_turns\n1,5;20;300;400;2\n2,5;30,5;500;600;3,5\n")
    (one,) = found.series
    np.testing.assert_allclose(one.joints["A"].values, np.radians([1.5, 2.5]))
    np.testing.assert_allclose(one.joints["B"].values, [0.02, 0.0305])
    np.testing.assert_allclose(one.motors["A"].values, 2 * np.pi * np.array([2, 3.5]))
    assert one.joints["A"].texts == ("1.5", "2.5")
    assert found.kinds == {"A": "revolute", "B": "prismatic"}


def test_motor_angles_may_be_missing_for_an_axis(tmp_path):
    found = read(tmp_path, "axis,motor_turns,counts,joint_rad\nA,1,10,0.1\nA,2,20,0.2\nB,,7,0.3\nB,,9,0.4\n")
    assert [set(s.motors) for s in found.series] == [{"A"}, set()]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["A_deg,A_count\n1,2\n"], "t1.csv, line 1: column 'A_count' is not understood"),
        (["A_deg,B_deg\n1,2\n"], "there is no column of counts; add one such as A1_counts"),
        (["A_counts,B_motor_deg\n1,2\n"], "motor B has angles and no counts; add a column B_counts"),
        (["A_counts,A_deg,A_rad\n1,2,3\n"], "column 'A_rad' gives the joint of A a second time"),
        (["A_counts,A_deg\n1,\n"], "line 2, column A_deg: is empty"),
        (["A_counts,A_deg\n1,x\n"], "line 2, column A_deg: 'x' is not a number"),
        (["A_counts,A_deg\n"], "a header and no rows"),
        (["axis,counts,angle_deg\nA,1,2\n"], "there is no column 'angle_deg'"),
        (["axis,joint_deg\nA,1\n"], "there is no column for counts"),
        (["axis,counts,joint_deg\n,1,2\n"], "line 2, column axis: is empty"),
        (["axis,counts,motor_deg,joint_deg\nA,1,2,3\nA,1,,3\n"], "line 3, column motor_deg: is empty"),
        (["axis,counts,counts\nA,1,2\n"], "gives counts a second time"),
        ([WRIST, WRIST.replace("A4_deg", "A4_mm")], "t2.csv, line 1: A4 has a unit of a length here"),
    ],
)
def test_complaints_name_the_place(tmp_path, texts, said):
    with pytest.raises(InputError) as error:
        read(tmp_path, *texts)
    assert said in str(error.value)


def test_a_table_is_read_once(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(WRIST)
    with refused("table-twice"):
        read_encoder_tables([path, path])

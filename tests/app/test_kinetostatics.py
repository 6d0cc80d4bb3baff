"""The command kinetostatics: both ways, typed and from tables, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

HEAD = "J1_deg,J2_deg,torque_J1_Nm,torque_J2_Nm\n"


def states(ran):
    assert ran.code == 0, ran.err
    return ran.data["states"]


def test_a_lever_by_hand(run, arm):
    """2 m arm about +y, axis A = 10 deg - q: 100 N along -z at the tip turns it by 200 N m k."""
    row = states(run("kinetostatics", arm, "--at", "10", "--torque", "200", "--json"))[0]
    # the axis runs against the joint: the drive's +200 N m is -200 N m on the joint, which the load balances by +200
    assert row["fz_N"] == pytest.approx(-100.0, rel=1e-3)
    assert row["z_mm"] == pytest.approx(-2000 * np.sin(200e-6), rel=1e-6)
    assert row["fx_N"] is None  # one drive tells one component


def test_there_and_back(run, tmp_path):
    target = tmp_path / "targets.csv"
    target.write_text("x_mm,y_mm,z_mm,fx_N,fy_N,fz_N\n200,350,0,-30,10,0\n-100,420,0,15,25,0\n")
    there = states(run("kinetostatics", "scara-ruggeri", "--table", target, "--near", "10,90", "--json"))
    assert [r["status"] for r in there] == ["reached", "reached"]
    drives = tmp_path / "drives.csv"
    lines = [f"{r['J1_deg']},{r['J2_deg']},{r['torque_J1_Nm']},{r['torque_J2_Nm']}" for r in there]
    drives.write_text(HEAD + "\n".join(lines) + "\n")
    back = states(run("kinetostatics", "scara-ruggeri", "--table", drives, "--json"))
    np.testing.assert_allclose([[r["x_mm"], r["y_mm"]] for r in back], [[200, 350], [-100, 420]], atol=1e-5)
    np.testing.assert_allclose([[r["fx_N"], r["fy_N"]] for r in back], [[-30, 10], [15, 25]], rtol=1e-6)
    assert [r["fz_N"] for r in back] == [None, None]


def test_without_a_start_many_are_tried(run):
    row = states(run("kinetostatics", "scara-ruggeri", "--position", "200,350,0", "--force", "-30,10,0", "--json"))[0]
    assert row["status"] == "reached"
    assert abs(row["J2_deg"]) == pytest.approx(104.69, abs=0.01)
    pose = ("--position", "1200,300,900", "--rpy", "0,90,0", "--force", "0,0,500")
    six = states(run("kinetostatics", "fanuc-m710ic50", *pose, "--json"))[0]
    assert six["status"] == "reached"
    assert six["pitch_deg"] == pytest.approx(90)


def test_a_report_and_a_table_are_written(run, tmp_path):
    html, csv = tmp_path / "k.html", tmp_path / "k.csv"
    pushed = ("--position", "200,350,0", "--force", "-30,10,0", "--near", "0,90")
    ran = run("kinetostatics", "scara-ruggeri", *pushed, "--report", html, "--csv", csv)
    assert "1 of 1 states reached" in ran.out
    assert "torque_J1_Nm" in csv.read_text()
    assert "<table" in html.read_text()


def test_out_of_reach_is_said_with_what_is_left(run):
    ran = run("kinetostatics", "scara-ruggeri", "--position", "900,0,0", "--force", "-30,10,0", "--json")
    row = states(ran)[0]
    assert row["status"] == "out of reach"
    assert row["left_um"] == pytest.approx(240_000, rel=0.05)
    assert row["torque_J1_Nm"] is None


def test_where_nothing_is_reached_the_verdict_begins_with_it(run):
    """Exit code 0, as where no configuration of deflect converges: the states are the answer."""
    done = run("kinetostatics", "scara-ruggeri", "--position", "900,0,0", "--force", "-30,10,0")
    assert done.code == 0
    assert "NO STATE REACHED, of 1." in done.out
    assert "1 of 1: out of reach." in done.out


def test_a_height_that_a_planar_arm_has_not_is_said(run):
    done = run("kinetostatics", "scara-ruggeri", "--position", "200,350,20", "--force", "-30,10,0", "--json")
    row = states(done)[0]
    assert row["status"] == "off the plane"
    assert row["left_um"] == pytest.approx(20_000, rel=1e-6)
    told = run("kinetostatics", "scara-ruggeri", "--position", "200,350,20", "--force", "-30,10,0").out
    assert "no start helps" in " ".join(told.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--at", "0,90"), "give --at and --torque"),
        (("--at", "0,90", "--torque", "1"), "--torque '1': 2 numbers are needed"),
        (("--at", "0,170", "--torque", "1,1"), "axis J2 = 170 deg is beyond its limits"),
        (("--position", "1,2", "--force", "1,2,3"), "--position '1,2': 3 numbers are needed"),
        (("--position", "1,2,3", "--force", "1,2,3", "--frame", "griper"), "did you mean 'gripper'"),
    ],
)
def test_what_is_refused(run, words, said):
    ran = run("kinetostatics", "scara-ruggeri", *words)
    assert ran.code == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD, "has a header and no rows"),
        ("J1_deg,J2_deg,torque_J1_Nm\n0,90,1\n", "no column for torque_J2"),
        ("J1_deg,J2_deg,torque_J1_N,torque_J2_Nm\n0,90,1,1\n", "unit 'N' does not fit torque_J1"),
        ("x_mm,y_mm,z_mm,fx_N,fy_N\n0,90,1,1,1\n", "no column for fz"),
        ("x_mm,y_mm,z_mm,fx_N,fy_N,fz_N,roll_deg\n0,90,1,1,1,1,1\n", "no column for pitch"),
        (HEAD + "0,90,one,1\n", "line 2, column torque_J1_Nm: 'one' is not a number"),
    ],
)
def test_tables_that_cannot_be_read(run, tmp_path, text, said):
    file = tmp_path / "states.csv"
    file.write_text(text)
    ran = run("kinetostatics", "scara-ruggeri", "--table", file)
    assert ran.code == 2
    assert said in ran.err


def test_a_table_and_typed_values_do_not_mix(run, tmp_path):
    file = tmp_path / "states.csv"
    file.write_text(HEAD + "0,90,1,1\n")
    ran = run("kinetostatics", "scara-ruggeri", "--table", file, "--at", "0,90")
    assert ran.code == 2
    assert "--table gives the states already" in ran.err

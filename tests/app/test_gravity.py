"""The command from a log to the weight of an arm: every output, every option, every wrong input."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.logs import joined, logged, sweep, waves

from elastocal.files.robot.read import read_robot
from elastocal.files.robot.write import robot_text
from elastocal.model.statics.holding import holding_torque

KR5 = read_robot("kuka-kr5")
MIDDLE = np.radians([0, -80, 80, 0, 20, 0])
TRUTH = KR5.with_parameters({"A3.mx": 3.2, "A5.mx": 1.5, "A5.mz": -0.3})


def csv_text(log, time=True, torque=True):
    names = [f"A{i}" for i in range(1, 7)]
    head = (["time_s"] if time else []) + [f"{a}_deg" for a in names] + [f"{a}_torque_Nm" for a in names] * torque
    lines = [",".join(head)]
    for i in range(log.count):
        row = ([log.time[i]] if time else []) + list(np.degrees(log.q[i])) + (list(log.torque[i]) if torque else [])
        lines.append(",".join(f"{v:.6f}" for v in row))
    return "\n".join(lines) + "\n"


def moving(model=TRUTH, count=1500, seed=0, sense=1, start=4, **more):
    q, v = waves(6, count, seed=start, size=0.6, rate=0.12)
    return logged(model, q + MIDDLE, v, noise=0.2, seed=seed, sense=sense, **{"coulomb": 2.0, "viscous": 3.0, **more})


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "moving.csv"
    path.write_text(csv_text(moving(sense=-1)))
    return path


def test_everything_in_json(written, run):
    done = run("gravity", written, "kuka-kr5", "--at", "0,-60,90,0,30,0", "--json")
    assert done.code == 0, done.err
    data = done.data
    assert data["inputs"]["sense_sign"] == -1
    held = {r["joint"]: r for r in data["validation"]}
    assert held["A3"]["rms"] < 0.3 < 2 < held["A3"]["file_rms"]
    masses = {r["parameter"]: r for r in data["masses"]}
    assert masses["A5.mx"]["value"] == pytest.approx(1.5, abs=0.2)
    assert masses["A5.mx"]["file"] == pytest.approx(11.47 / 9.81, abs=1e-5)
    assert masses["A1.m"]["group"] == "G2"
    assert masses["A1.m"]["informed_percent"] == pytest.approx(0, abs=1e-6)
    assert masses["A5.mx"]["informed_percent"] > 50
    assert any(c["combination"].startswith("A2.mx + 0.6 A3.m") for c in data["combinations"])
    friction = {(r["joint"], r["term"]): r for r in data["friction"]}
    assert friction["A2", "coulomb"]["value"] == pytest.approx(2, abs=0.3)
    q = np.radians([[0, -60, 90, 0, 30, 0]])
    for row, truth in zip(data["holding"], holding_torque(TRUTH, q)[0], strict=True):
        assert row["torque"] == pytest.approx(truth, abs=4 * row["sd"] + 0.05)
    expressions = {r["joint"]: r for r in data["expressions"]}
    assert expressions["A5"]["cosine"] == pytest.approx(-1.5 * 9.81, abs=0.5)
    assert expressions["A3"]["phase_text"].startswith("tau_A3 = -1")
    assert data["torque_A2"]["x"] == {"name": "time", "unit": "s"}
    names = [s["name"] for s in data["torque_A2"]["series"]]
    assert names[:5] == ["95 % interval", "read", "read, validation set", "predicted", "extrapolated"]
    assert "is read as CSV" in done.err


def test_text_report_and_robot_file(written, run, tmp_path):
    page, out = tmp_path / "gravity.html", tmp_path / "found.yaml"
    done = run("gravity", written, "kuka-kr5", "--report", page, "--out", out)
    assert done.code == 0, done.err
    assert "The log holds the torque of the load" in done.out
    assert "Torque of A2" not in done.out
    assert "Torque of A2" in page.read_text()
    found = read_robot(out)
    q = np.radians([[20, -70, 60, 10, 40, 0]])
    np.testing.assert_allclose(holding_torque(found, q)[0, 1:5], holding_torque(TRUTH, q)[0, 1:5], atol=1.5)
    assert "elastocal gravity from moving.csv" in out.read_text()
    again = run("gravity", written, out, "--json")
    assert again.code == 0
    held = {r["joint"]: r for r in again.data["validation"]}
    assert held["A3"]["file_rms"] < 0.3


def test_sweeps_go_the_documents_way_too(run, tmp_path):
    parts = (
        ([90, -90, 90, 0, -90, 0], 4, 90, 0.28),
        ([90, -90, 90, 0, 90, 0], 2, 0, 0.2),
        ([90, 0, 90, 0, 0, 0], 1, -90, 0.18),
    )
    logs = [logged(KR5, *sweep(np.radians(b), j, np.radians(e), s), coulomb=2.0, noise=0.1) for b, j, e, s in parts]
    path = tmp_path / "sweeps.csv"
    path.write_text(csv_text(joined(*logs)))
    done = run("gravity", path, "kuka-kr5", "--no-prior", "--hold-out", "0", "--friction", "coulomb", "--json")
    assert done.code == 0, done.err
    data = done.data
    t5, t3, t2 = data["recursion"]
    assert (t5["joint"], t3["joint"], t2["joint"]) == ("A5", "A3", "A2")
    assert t2["cosine"] == pytest.approx(-375.70, abs=0.3)
    assert t3["amplitude"] == pytest.approx(-126.28, abs=0.3)
    assert [t["coulomb"] for t in (t5, t3, t2)] == pytest.approx([2, 2, 2], abs=0.1)
    assert "validation" not in data
    assert "Never moved: A1, A4, A6" in " ".join(data["verdict"])
    masses = {r["parameter"]: r for r in data["masses"]}
    assert masses["A1.m"]["concise"] == "fixed"
    assert "unobservable, no reading depends on it" in masses["A1.m"]["reason"]
    unknown = {(r["joint"], r["term"]): r for r in data["friction"]}["A1", "coulomb"]
    assert unknown["value"] is None
    assert unknown["reason"].startswith("it never moves")
    assert any("how well unseen poses are predicted is not known" in n for n in data["notes"])


def test_payload_of_a_second_log(written, run, tmp_path):
    second, out = tmp_path / "loaded.csv", tmp_path / "loaded.yaml"
    loaded = TRUTH.with_parameters({"flange.payload_m": 6.0, "flange.payload_mx": 0.9})
    second.write_text(csv_text(moving(loaded, seed=5, sense=-1, start=6)))
    done = run("gravity", written, "kuka-kr5", "--payload-log", second, "--out", out, "--json")
    assert done.code == 0, done.err
    payload = {r["what"]: r for r in done.data["payload"]}
    assert abs(payload["mass"]["value"] - 6) < 4 * payload["mass"]["sd"]
    assert payload["mass"]["sd"] < 1
    assert abs(payload["centre x"]["value"] - 150) < 4 * payload["centre x"]["sd"]
    assert "payload of the second log weighs" in " ".join(done.data["verdict"])
    assert read_robot(out).parameters.values[KR5.parameters.index("flange.payload_m")] == pytest.approx(
        payload["mass"]["value"]
    )


def test_an_arm_on_the_ceiling(run, tmp_path):
    from dataclasses import replace

    path = tmp_path / "ceiling.csv"
    path.write_text(csv_text(moving(replace(KR5, gravity=np.array([0, 0, 9.81])))))
    done = run("gravity", path, "kuka-kr5", "--mounting", "find", "--torques", "drive", "--json")
    assert done.code == 0, done.err
    said = " ".join(done.data["verdict"])
    assert "179." in said or "180.0" in said
    assert [float(g) for g in done.data["inputs"]["gravity_m_s2"].split(",")] == pytest.approx([0, 0, 9.81], abs=0.1)
    refused = run("gravity", path, "kuka-kr5", "--mounting", "find")
    assert refused.code == 2
    assert "add --torques drive or load" in refused.err
    against = run("gravity", path, "kuka-kr5", "--torques", "drive", "--json")
    assert "AGAINST WHICH" in " ".join(against.data["verdict"])


def test_doubts_come_with_the_verdict(run, tmp_path):
    """Inertia, a wrong unit of torque, a log without a sweep."""
    fast = moving(count=800)
    q, v = waves(6, 500, seed=4, size=0.6, rate=2.0)
    mixed = joined(fast, logged(TRUTH, q + MIDDLE, v))
    path = tmp_path / "log.csv"
    path.write_text(csv_text(mixed))
    said = " ".join(run("gravity", path, "kuka-kr5", "--inertia", "leave-out", "--json").data["verdict"])
    assert "INERTIA: 5" in said
    assert run("gravity", path, "kuka-kr5", "--json").data["inputs"]["inertia"] == "modelled"
    small = moving(count=800)
    path.write_text(csv_text(logged(TRUTH, small.q, small.velocity, torque=1000 * holding_torque(TRUTH, small.q))))
    assert "THE TORQUES ARE 1" in " ".join(run("gravity", path, "kuka-kr5", "--json").data["verdict"])
    q, v = waves(6, 600, seed=4, size=0.1, rate=0.4)
    path.write_text(csv_text(logged(TRUTH, q + MIDDLE, v, noise=0.1)))
    assert "NO JOINT MOVES BY MORE THAN 20 deg" in " ".join(run("gravity", path, "kuka-kr5", "--json").data["verdict"])


def test_a_robot_without_masses_gets_them(written, run, tmp_path):
    bare = tmp_path / "bare.yaml"
    bare.write_text(robot_text(KR5.without("link_mass", "payload")))
    refused = run("gravity", written, bare)
    assert refused.code == 2
    assert "no weight is known" in refused.err
    done = run("gravity", written, bare, "--torques", "load", "--json")
    assert done.code == 0, done.err
    assert any("has no link masses" in n for n in done.data["notes"])
    held = {r["joint"]: r for r in done.data["validation"]}
    assert held["A3"]["rms"] < 2 < 20 < held["A3"]["file_rms"]


def test_without_time_directions_come_from_the_order_of_rows(run, tmp_path):
    path = tmp_path / "untimed.csv"
    path.write_text(csv_text(moving(coulomb=0.0, viscous=0.0), time=False))
    done = run("gravity", path, "kuka-kr5", "--json")
    assert done.code == 0, done.err
    of = {(r["joint"], r["term"]): r for r in done.data["friction"]}
    assert of["A2", "coulomb"]["value"] is None
    assert "viscous friction is not told from it: at the speed of the log both are" in of["A2", "coulomb"]["reason"]
    assert abs(float(of["A2", "coulomb"]["reason"].split("both are ")[1].split(" +-")[0])) < 1
    assert done.data["torque_A2"]["x"]["name"] == "sample"
    assert any("rows are taken as evenly spaced" in n for n in done.data["notes"])
    assert "friction" not in run("gravity", path, "kuka-kr5", "--friction", "none", "--json").data
    refused = run("gravity", path, "kuka-kr5", "--friction", "viscous")
    assert refused.code == 2
    assert "has no time, so no speed" in refused.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--torques", "motor"], "--torques"),
        (["--friction", "stribeck"], "no term of friction 'stribeck'"),
        (["--mounting", "roof"], "no mounting 'roof'"),
        (["--hold-out", "1.5"], "--hold-out 1.5: give a share"),
        (["--prior", "-1"], "must be positive"),
        (["--out", "x.txt"], "must end in .yaml"),
        (["--payload-frame", "tool"], "add --payload-log"),
        (["--at", "0,0"], "6 numbers are needed"),
        (["--at", "0,100,0,0,0,0"], "beyond its limits"),
        (["--payload-log", "nowhere.csv"], "nowhere.csv: no such file"),
    ],
)
def test_words_that_mean_nothing_are_refused(written, run, words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("gravity", written, "kuka-kr5", *words)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_logs_that_cannot_be_used_are_refused(run, tmp_path):
    path = tmp_path / "log.csv"
    log = moving(count=600)

    def refused(text):
        path.write_text(text)
        done = run("gravity", path, "kuka-kr5")
        assert done.code == 2
        return done.err

    assert "no torque was logged" in refused(csv_text(log, torque=False))
    swapped = csv_text(log).replace("A2_torque_Nm,A3_torque_Nm", "A3_torque_Nm,A2_torque_Nm")
    assert "A2 and A3 follow what is expected of the other" in refused(swapped)
    degrees = ",".join(f"q_{i}" for i in range(6)) + "," + ",".join(f"tau_{i}" for i in range(6)) + "\n"
    rows = [",".join(f"{v:.5f}" for v in (*np.degrees(a), *t)) for a, t in zip(log.q, log.torque, strict=True)]
    assert "looks like deg read as rad" in refused(degrees + "\n".join(rows) + "\n")
    assert "too short for velocities" in refused("\n".join(csv_text(log).splitlines()[:4]) + "\n")

"""A real log: a KUKA LBR Med 7 with its URDF, through the command as a user would run it.

1647 rows of joint values and torques in order, without time.  Joint torque sensors of this arm read the load.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from elastocal.app.cli.main import main
from elastocal.files.robot.read import read_robot

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "kuka-med7"
LOG, ROBOT = FOLDER / "measurements.csv", FOLDER / "med7_nomesh.urdf"
pytestmark = pytest.mark.skipif(not LOG.exists(), reason="../shared/data/kuka-med7 is not beside the repository")


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    """What ``elastocal gravity --json`` prints, and the robot file that it writes."""
    import contextlib
    import io

    out = tmp_path_factory.mktemp("med7") / "med7.yaml"
    said = io.StringIO()
    words = ["elastocal", "gravity", str(LOG), str(ROBOT), "--out", str(out), "--json"]
    before, sys.argv = sys.argv, words
    try:
        with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
            main()
    finally:
        sys.argv = before
    return json.loads(said.getvalue()), out


def test_the_sign_is_found(answer):
    data, _ = answer
    assert data["inputs"]["sense_sign"] == -1
    assert "torque of the load" in data["verdict"][0]
    agreement = {row["joint"]: row["agreement"] for row in data["noise"]}
    assert agreement["A2"] < -0.99
    assert agreement["A4"] < -0.98


def test_poses_not_seen_are_never_predicted_worse_than_by_the_urdf(answer):
    """Fitted on the first 70 %; the last 30 % are one block, so that no neighbour of theirs was seen."""
    data, _ = answer
    held = {row["joint"]: row for row in data["validation"]}
    assert held["A2"]["readings"] > 0.97 * 0.3 * 1647
    for joint, own, file in (("A2", 1.01, 4.63), ("A4", 0.59, 1.98)):
        assert held[joint]["rms"] <= 0.5 * held[joint]["file_rms"]
        assert held[joint]["rms"] == pytest.approx(own, abs=0.15)
        assert held[joint]["file_rms"] == pytest.approx(file, abs=0.15)
    urdf_alone = {"A1": 0.571, "A2": 7.05, "A3": 0.309, "A4": 2.85, "A5": 0.228, "A6": 0.435, "A7": 0.249}
    for joint, row in held.items():
        assert row["rms"] <= row["file_rms"] + 1e-9
        assert row["rms"] <= urdf_alone[joint]
        assert row["inside_percent"] >= 90


def test_extrapolation_is_told_by_leverage(answer):
    data, _ = answer
    held = {row["joint"]: row for row in data["validation"]}
    assert held["A1"]["extrapolated"] == 0  # nothing weighs on a level axis, wherever the arm stands
    for joint in ("A2", "A3", "A4", "A6"):
        assert 50 < held[joint]["extrapolated"] < 494
        assert held[joint]["leverage"] > 1
    assert "are extrapolated" in data["verdict"][1]
    assert "leverage" in data["verdict"][1]
    assert any("extrapolated" in [s["name"] for s in data[f"torque_{j}"]["series"]] for j in ("A3", "A5", "A7"))


def test_neighbouring_samples_count_for_what_they_are_worth(answer):
    data, _ = answer
    shares = {row["joint"]: row["effective"] / row["readings"] for row in data["noise"]}
    assert all(shares[j] < 0.1 for j in ("A1", "A3", "A5", "A7"))
    assert all(shares[j] < 0.6 for j in ("A2", "A4", "A6"))  # inertia, which made neighbours alike, is modelled
    assert "no time" in " ".join(data["notes"])


def test_the_robot_file_has_the_masses_found(answer):
    data, out = answer
    written = read_robot(out).parameters
    masses = {row["parameter"]: row["value"] for row in data["masses"]}
    for name in ("link_4.m", "link_6.mz", "link_2.mx"):
        assert written.values[written.index(name)] == pytest.approx(masses[name], rel=1e-12)
    assert masses["link_6.m"] > 3
    assert "elastocal gravity from measurements.csv" in out.read_text()

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


def test_poses_not_seen_are_predicted_twice_as_well_as_by_the_urdf(answer):
    """Fitted on the first 70 %; the last 30 % are one block, so that no neighbour of theirs was seen."""
    data, _ = answer
    held = {row["joint"]: row for row in data["held_out"]}
    assert held["A2"]["readings"] == round(0.3 * 1647)
    for joint, own, file in (("A2", 2.3, 7.0), ("A4", 1.0, 2.8)):
        assert held[joint]["rms"] <= 0.5 * held[joint]["file_rms"]
        assert held[joint]["rms"] == pytest.approx(own, abs=0.1)
        assert held[joint]["file_rms"] == pytest.approx(file, abs=0.1)
        assert held[joint]["inside_percent"] > 85
    assert all(row["rms"] <= 1.2 * row["file_rms"] for row in held.values())


def test_extrapolation_is_flagged_by_its_accuracy(answer):
    data, _ = answer
    extrapolated = {row["joint"]: row["extrapolated"] for row in data["held_out"]}
    assert sum(extrapolated.values()) > 50
    assert all(count < 494 for count in extrapolated.values())
    assert "are extrapolated" in data["verdict"][1]
    assert any("extrapolated" in [s["name"] for s in data[f"torque_{j}"]["series"]] for j in ("A3", "A5", "A7"))


def test_poses_outside_those_fitted_are_counted_for_every_torque_that_they_change(answer):
    """A2 leaves its range of the first 70 % in the rest, by the log itself; the torques of A2 and A4 depend on it."""
    import numpy as np

    data, _ = answer
    q = np.genfromtxt(LOG, delimiter=",", skip_header=1)[:, 1]
    first, last = q[: round(0.7 * 1647)], q[round(0.7 * 1647) :]
    alone = np.sum((last < first.min() - 0.01) | (last > first.max() + 0.01))
    outside = {row["joint"]: row["outside"] for row in data["held_out"]}
    assert alone > 250
    assert alone <= outside["A2"] <= 494
    assert alone <= outside["A4"] <= 494
    assert "lie outside the poses seen" in data["verdict"][1]


def test_neighbouring_samples_count_for_what_they_are_worth(answer):
    data, _ = answer
    assert all(row["effective"] < 0.05 * row["readings"] for row in data["noise"])
    assert "no time" in " ".join(data["notes"])


def test_the_robot_file_has_the_masses_found(answer):
    data, out = answer
    written = read_robot(out).parameters
    masses = {row["parameter"]: row["value"] for row in data["masses"]}
    for name in ("link_4.m", "link_6.mz", "link_2.mx"):
        assert written.values[written.index(name)] == pytest.approx(masses[name], rel=1e-12)
    assert masses["link_4.m"] > 4.2
    assert "elastocal gravity from measurements.csv" in out.read_text()

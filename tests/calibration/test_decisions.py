"""Readings excluded or kept by hand, each with a reason, in the campaign file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle.refusals import refused

import elastocal as ec
from elastocal.files.campaign.priors import Decision, decided_rows, place_of
from elastocal.files.located import parse_yaml

HEAD = "format: elastocal-campaign/1\nname: trial\nrobot: cylindrical\ntable: readings.csv\nmeasurement: deflection\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve poses of which the third is off by 1 mm."""
    out = tmp_path_factory.mktemp("trial")
    robot = ec.read_robot("cylindrical")
    rng = np.random.default_rng(3)
    q = np.column_stack([rng.uniform(0.1, 0.9, 12), rng.uniform(-1.5, 1.5, 12), rng.uniform(0.4, 0.9, 12)])
    force = np.zeros((12, 6))
    force[np.arange(12), np.arange(12) % 3] = 900.0
    moved = robot.with_parameters({"q2.k": 7e-7}).deflection(q, force).translation + rng.normal(0, 1e-5, (12, 3))
    moved[2, 0] += 1e-3
    rows = [
        f"{1e3 * a:.6f},{np.degrees(b):.6f},{1e3 * c:.6f},{w[0]:g},{w[1]:g},{w[2]:g},{d[0]:.9f},{d[1]:.9f},{d[2]:.9f}"
        for (a, b, c), w, d in zip(q, force, moved, strict=True)
    ]
    head = "q1_mm,q2_deg,q3_mm,fx_N,fy_N,fz_N,dx_m,dy_m,dz_m"
    (out / "readings.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return out


def calibrated(folder: Path, more: str = "") -> ec.Calibration:
    (folder / "campaign.yaml").write_text(HEAD + more, encoding="utf-8")
    return ec.calibrate(*ec.read_campaign(folder / "campaign.yaml"))


def test_a_reading_is_left_out_by_the_test_by_hand_or_not_at_all(folder: Path) -> None:
    by_test = calibrated(folder)
    assert [(o.place.partition(" (")[0], o.axis) for o in by_test.outliers] == [("readings.csv line 4", "x")]
    by_hand = calibrated(folder, "exclude:\n  - {reading: readings.csv line 4, reason: touched}\n")
    assert by_hand.outliers == ()
    assert by_hand.leave_one_out.count == by_test.leave_one_out.count - 1
    kept = calibrated(folder, "keep:\n  - {reading: readings.csv line 4, reason: measured twice}\n")
    assert kept.outliers == ()
    assert kept.leave_one_out.max > 5 * by_test.leave_one_out.max  # 1 mm off, and it counts


@pytest.mark.parametrize(
    ("more", "code", "value", "line", "column"),
    [
        (
            "exclude: [{reading: readings.csv line 99, reason: x}]\n",
            "unknown-reading",
            "readings.csv line 99",
            6,
            "exclude[1]",
        ),
        ("exclude: [{reading: readings.csv line 4}]\n", "missing", {"reading": "readings.csv line 4"}, 6, "exclude[1]"),
        (
            "keep: [{reading: readings.csv line 4, reason: ''}]\n",
            "missing",
            {"reading": "readings.csv line 4", "reason": ""},
            6,
            "keep[1]",
        ),
        (
            "exclude: [{reading: readings.csv line 4, reason: a}]\nkeep: [{reading: readings.csv line 4, reason: b}]\n",
            "conflict",
            [{"reading": "readings.csv line 4", "reason": "b"}],
            7,
            "keep",
        ),
    ],
)
def test_a_decision_without_reading_or_reason_is_refused(
    folder: Path, more: str, code: str, value: Any, line: int, column: str
) -> None:
    with refused(code, value, line=line, column=column):
        calibrated(folder, more)


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("readings.csv line 4 (P2)", "readings.csv line 4"),
        ("readings (1).csv line 4", "readings (1).csv line 4"),
        ("readings (1).csv line 4 (P2 (again))", "readings (1).csv line 4"),
        ("both.txt line 113 less line 18 (P03_SMR1_1)", "both.txt line 113 less line 18"),
        ("a (1).csv line 3 less b (2).csv line 8 (P1)", "a (1).csv line 3 less b (2).csv line 8"),
    ],
)
def test_a_place_ends_with_its_line(word: str, place: str) -> None:
    assert place_of(word) == place


def test_a_place_of_two_readings_is_refused() -> None:
    located = parse_yaml("keep: [{reading: a.csv line 2, reason: x}]\n", "campaign.yaml")
    entry = {"reading": "a.csv line 2", "reason": "x"}
    with refused("duplicate", entry, file="campaign.yaml", line=1, column="keep[1]"):
        decided_rows(located, "keep", [Decision("a.csv line 2", "x")], ["a.csv line 2 (P1)", "a.csv line 2 (P2)"])

"""Poses beyond the joint ranges that were measured are said, wherever a calibration is used."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from virtual import Truth, campaign, joint_values, read_positions, shipped, true_robot

import elastocal as ec
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.certificate import certificate_of
from elastocal.calibration.run import calibrate
from elastocal.calibration.span import LEAST, MARGIN, Span
from elastocal.calibration.store import document_text, read_validation

KR270 = shipped("kuka-kr270")


@pytest.fixture(scope="module")
def alike() -> tuple[Truth, Calibration, np.ndarray]:
    """30 poses within 6 degrees of one."""
    rng = np.random.default_rng(8)
    truth = true_robot(KR270, rng, ("geometry",))
    q = 0.5 + joint_values(KR270, 30, rng, span=0.11)
    return truth, calibrate(KR270, campaign(q, KR270, position=read_positions(truth, q, rng)), ["geometry"]), q


def test_a_pose_counts_as_beyond_from_a_share_of_the_width_on() -> None:
    robot = ec.read_robot("cylindrical")  # two axes slide, one turns
    measured = np.array([[0.2, -1.0, 0.4], [0.8, 1.0, 0.41]])
    span = Span.of(robot, measured)
    edge = np.array([0.8 + 0.6 * MARGIN, 1.0 + 2 * MARGIN, 0.41 + LEAST])
    assert not span.outside((edge - 1e-9)[None]).any()
    np.testing.assert_allclose(span.outside((edge + 1e-9)[None])[0], edge - measured[1], atol=1e-6)
    assert not span.outside(((edge - 1e-9) * [1, 0, 1] + [0, 2 * np.pi - 1, 0])[None]).any()  # a turn further
    assert str(span) == "q1 200..800, q3 400..410 mm; q2 -57.3..57.3 deg"


def test_poses_nearly_alike_are_a_warning_and_limit_the_claim(alike: tuple[Truth, Calibration, np.ndarray]) -> None:
    _, cal, q = alike
    (found,) = [w for w in cal.warnings if w.code == "narrow-range"]
    assert found.data["axes"] == list(KR270.controller.axes)
    np.testing.assert_allclose(found.data["width"], np.ptp(KR270.controller.to_controller(q), axis=0))
    assert cal.verdict.code == "improved"
    assert "in the narrow range of its poses" in cal.verdict.text


def test_predictions_beyond_the_measured_range_say_so(alike: tuple[Truth, Calibration, np.ndarray]) -> None:
    _, cal, q = alike
    shown = KR270.controller.to_controller(np.array([q[0], q[0] + np.array([1.0, 0, 0, 0, 0, 0])]))
    (found,) = cal.predict(shown).warnings
    assert (found.code, found.data["poses"], list(found.data["outside"])) == ("extrapolated", [1], ["A1"])
    values = KR270.controller.to_controller(q)[:, 0]
    beyond = max(shown[1, 0] - values.max(), values.min() - shown[1, 0])
    assert found.data["outside"]["A1"] == pytest.approx(beyond)
    assert cal.predict(shown[:1]).warnings == ()


def test_a_validation_and_its_certificate_name_the_range(
    alike: tuple[Truth, Calibration, np.ndarray], tmp_path: Path
) -> None:
    """Elsewhere the errors are larger; the certificate stands for what was validated, from a file too."""
    truth, cal, _ = alike
    rng = np.random.default_rng(9)
    near, far = 0.5 + joint_values(KR270, 10, rng, span=0.11), joint_values(KR270, 10, rng)
    both = np.concatenate([near, far])
    seen = cal.validate(campaign(both, KR270, position=read_positions(truth, both, rng)))
    path = tmp_path / "c.json"
    path.write_text(document_text(cal, seen), encoding="utf-8")
    again = read_validation(path)
    assert again is not None
    for validation in (seen, again):
        (found,) = [w for w in validation.warnings if w.code == "extrapolated"]
        assert len(found.data["poses"]) == 10
        assert found.data["mean"] > 3 * found.data["mean_within"]
    own = cal.validate(campaign(near, KR270, position=read_positions(truth, near, rng)))
    assert [w.code for w in own.warnings] == ["narrow-range"]
    page = certificate_of(cal, own)
    shown = KR270.controller.to_controller(near)
    assert own.span is not None
    np.testing.assert_allclose(own.span, np.column_stack([shown.min(axis=0), shown.max(axis=0)]), atol=1e-12)
    assert list(page.data()["ranges"]) == ["measured range", "validated range"]
    assert page.data()["ranges"]["validated range"].endswith("10 poses")
    assert json.dumps(page.data())
    assert any("nearly alike" in w for w in page.warnings)


def test_targets_beyond_the_measured_range_are_named(alike: tuple[Truth, Calibration, np.ndarray]) -> None:
    _, cal, q = alike
    frames = "$BASE={X 1750,Y -80,Z 800,A 0,B 0,C 0}\n$TOOL={X 0,Y 100,Z 200,A 0,B 0,C 0}\n"
    moves = "PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}\nLIN {X 0,Y 0,Z 0,A 0,B 0,C 180}\n"
    program = ec.read_program(f"DEF p()\n{frames}{moves}END\n", "krl")
    (found,) = [w for w in ec.compensate(cal, program).warnings if w.code == "extrapolated"]
    assert {"A2", "A3"} <= set(found.data["outside"])
    wide = replace(cal, seen=replace(cal.seen, q=np.concatenate([q - 3, q + 3])))
    assert "extrapolated" not in [w.code for w in ec.compensate(wide, program).warnings]


def test_a_verdict_by_few_poses_says_so() -> None:
    rng = np.random.default_rng(2)
    truth = true_robot(KR270, rng, ("geometry",), markers=3, size=3.0)
    q = joint_values(KR270, 12, rng)
    cal = calibrate(KR270, campaign(q, KR270, position=read_positions(truth, q, rng)), ["geometry"])
    assert cal.verdict.code == "improved"
    assert "12 poses are few" in cal.verdict.text

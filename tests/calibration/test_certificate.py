"""The decision by its rule and by simulation, the certificate in every rendering, PDF/A by an independent library."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from calibration.virtual import campaign, joint_values, random_arm, read_positions, true_robot

import elastocal as ec
from elastocal.calibration.accuracy import Validation
from elastocal.calibration.certificate import certificate_of, expected_errors
from elastocal.calibration.decision import UPPER_BOUND, bounds, decide, uncertainty
from elastocal.calibration.page import calibration_page
from elastocal.errors import InputError
from elastocal.files.cell import Stated, stated_of
from elastocal.solve.summary import ErrorSummary

FULL = {
    "number": "2026-0042", "customer": "Works & Sons <GmbH>", "place": "Hall 3, cell 12", "operator": "A. Engineer",
    "authorised_by": "B. Chief", "date": "2026-11-16", "issued": "2026-11-17", "robot_make": "KUKA",
    "robot_type": "KR 270", "robot_serial": 123456, "robot_controller": "KR C4", "robot_software": "KSS 8.6",
    "robot_mastered": "2026-11-10", "accuracy_option": "$ABS_ACCUR = FALSE", "instrument_type": "laser tracker AT960",
    "instrument_serial": "750123", "instrument_certificate": "D-K-2026-081", "instrument_due": "2027-03-01",
    "target": "SMR 1.5 in", "temperature_C": 21.5, "warm_up": "2 h program", "payload": 120.0,
    "payload_centre": "0, 0, 210 mm", "tool": "spindle HSK63", "procedure": "QP-17",
}  # fmt: skip


def judged(errors: np.ndarray, reading: float, expected: float = 1e-5) -> Validation:
    """A validation with these distances (states, markers) in m."""
    after, before = ErrorSummary.of(errors), ErrorSummary.of(10 * errors)
    like = np.ones_like(errors)
    return Validation(
        before, after, 0.95, 9 * after.mean, after.mean, errors, False, 10 * errors,
        tuple(f"line {i}" for i in range(len(errors))), tuple(f"m{j}" for j in range(errors.shape[1])),
        expected * like, reading * like, measured_to=reading,
    )  # fmt: skip


ERRORS = np.linspace(1e-5, 1e-4, 20).reshape(10, 2)


CHI2_10 = 3.940299
"""The 5 % quantile of chi-squared of 10 degrees of freedom, from a table."""
UPPER = 1e-4 + np.hypot(2e-5, 2 * np.sqrt(np.mean(ERRORS[:, 1] ** 2)) * np.sqrt(10 / CHI2_10) - 1e-4)
"""95 % of the poses are within this: twice the RMS of the worst of every pose by what 10 poses leave open, and U."""


@pytest.mark.parametrize(
    ("tolerance", "outcome"),
    [(1.01 * UPPER, "PASS"), (0.99 * UPPER, "NOT DECIDED"), (8.1e-5, "NOT DECIDED"), (7.9e-5, "FAIL")],
)
def test_the_guard_band_lies_on_both_sides_of_the_tolerance(tolerance: float, outcome: str) -> None:
    """The largest error is 0.1 mm and U = 2 * 0.01 mm."""
    made = decide(judged(ERRORS, 1e-5), tolerance)
    assert (made.outcome, made.value) == (outcome, pytest.approx(1e-4))
    assert made.uncertainty == pytest.approx(2e-5)
    assert (made.lower, made.upper) == (pytest.approx(8e-5), pytest.approx(UPPER, rel=1e-6))
    assert "guard band" in made.rule


def test_states_of_one_pose_count_as_one() -> None:
    """Twenty readings of one pose say as much of the working range as one."""
    again = replace(judged(ERRORS[:1].repeat(20, axis=0), 1e-6), pose=(0,) * 20)
    made = decide(again, 1.0)
    assert (made.outcome, made.poses, made.enough) == ("NOT DECIDED", 1, 5)
    assert decide(judged(ERRORS[:1].repeat(20, axis=0), 1e-6), 1.0).outcome == "PASS"


def test_nothing_is_decided_without_tolerance_or_validation() -> None:
    assert decide(judged(ERRORS, 1e-5), None).outcome == "NOT DECIDED"
    assert "no tolerance" in decide(judged(ERRORS, 1e-5), None).reason
    assert "no validation poses" in decide(None, 1e-3).reason
    one = judged(ERRORS[:1, :1], 1e-5)
    assert decide(one, 1e-3, "rms").outcome == "NOT DECIDED"  # one point shows no spread


def test_what_the_model_leaves_out_is_no_uncertainty_of_the_measurement() -> None:
    """Residuals of 0.1 mm: the largest error of 0.1 mm fails 0.05 mm by an instrument of 0.01 mm.  Where nothing is
    known of the instrument the reason comes first."""
    rough = judged(ERRORS, 1e-4)
    open_ = decide(rough, 5e-5)
    assert (open_.outcome, open_.basis, open_.uncertainty) == ("NOT DECIDED", "estimated", pytest.approx(2e-4))
    assert open_.reason.startswith("no noise is stated")
    for basis in ("stated", "repeats"):
        known = decide(replace(rough, measured_to=1e-5, noise_basis=basis), 5e-5)
        assert (known.outcome, known.basis, known.uncertainty) == ("FAIL", basis, pytest.approx(2e-5))
    assert decide(rough, 1e-3).outcome == "PASS"  # an upper bound decides what it decides


@pytest.fixture(scope="module")
def misfit() -> tuple[ec.Robot, np.ndarray, np.ndarray, np.ndarray]:
    """An arm whose gears run untrue by 0.3 mrad, which the model of the tests leaves out; noise 0.02 mm, pairs of
    readings."""
    rng = np.random.default_rng(5)
    robot = random_arm(2)
    truth = true_robot(robot, rng, ("geometry",))
    q, other = np.repeat(joint_values(robot, 30, rng), 2, axis=0), joint_values(robot, 12, rng)
    x, y = (truth.points(a + 3e-4 * np.sin(3 * a)) + 2e-5 * rng.normal(size=(len(a), 1, 3)) for a in (q, other))
    return robot, q, x, np.concatenate([other, y[:, 0]], axis=1)


def test_an_error_is_measured_as_well_as_the_instrument_is_stated_or_repeats(
    misfit: tuple[ec.Robot, np.ndarray, np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    """Whatever the model leaves out; six numbers of the station and three of the marker share the noise of the
    coordinates that they are fitted to."""
    robot, q, x, new = misfit
    check = campaign(new[:, :6], robot, position=new[:, 6:])
    every = campaign(q, robot, position=x)
    once, stated = every.take(np.arange(0, 60, 2)), campaign(q[::2], robot, position=x[::2], noise=2e-5)
    sizes = {}
    for basis, data in (("estimated", once), ("repeats", every), ("stated", stated)):
        cal = ec.calibrate(robot, data, ["geometry"])
        seen = ec.read_calibration(cal.save(tmp_path / f"{basis}.json")).validate(check)
        assert seen.noise_basis == basis
        sizes[basis] = seen.measured_to
        assert certificate_of(cal, seen).data()["uncertainty_basis"] == basis
    assert sizes["stated"] == pytest.approx(2e-5 * np.sqrt(1 + 9 / 90))
    assert sizes["repeats"] == pytest.approx(2e-5 * np.sqrt(1 + 9 / 90), rel=0.25)  # 90 degrees of freedom
    assert sizes["estimated"] > 3 * sizes["stated"]
    own = replace(check, noise=5e-5)  # the instrument of the check is another one
    assert cal.validate(own).measured_to == pytest.approx(5e-5 * np.sqrt(1 + 9 / 90))
    anew = cal.validate(own, refit=True)
    assert anew.measured_to == pytest.approx(5e-5 * np.sqrt(1 + 6 / 36 + 3 / 90))


@pytest.mark.parametrize("poses", [5, 10, 20, 40, 100])
@pytest.mark.parametrize("axes", [1, 3])
@pytest.mark.parametrize("statistic", ["mean", "rms", "max", "p95"])
def test_a_robot_at_its_tolerance_passes_seldom(statistic: str, axes: int, poses: int) -> None:
    """True errors drawn anew along some axes, with the statistic of their distribution at the tolerance (of the largest
    error: with 5 % of all poses beyond it) and a good instrument."""
    rng = np.random.default_rng([7, poses])
    size, noise, passed, tries = 1e-4, 1e-6, 0, 400
    exact = {
        1: {"mean": np.sqrt(2 / np.pi), "rms": 1.0, "p95": 1.959964, "max": 1.959964},
        3: {"mean": np.sqrt(8 / np.pi), "rms": np.sqrt(3), "p95": np.sqrt(7.814728), "max": np.sqrt(7.814728)},
    }
    for _ in range(tries):
        true = size * rng.normal(size=(poses, axes))
        read = np.linalg.norm(true + noise * rng.normal(size=true.shape), axis=1)[:, None]
        passed += decide(judged(read, noise), size * exact[axes][statistic], statistic).outcome == "PASS"  # type: ignore[arg-type]
    assert passed <= 0.05 * tries + 2 * np.sqrt(0.05 * 0.95 * tries)


def test_the_poses_that_would_be_enough_are_named() -> None:
    """As many as pass by errors like these."""
    few = judged(np.linspace(1e-5, 1e-4, 12)[:, None], 1e-6)
    made = decide(few, 1.5e-4, "p95")
    assert (made.outcome, made.poses) == ("NOT DECIDED", 12)
    assert made.enough is not None
    assert 12 < made.enough < 59
    rms = np.sqrt(np.mean(few.errors**2))
    alike = np.full((made.enough, 1), rms)
    assert decide(judged(alike, 1e-6), 1.5e-4, "p95").outcome == "PASS"
    assert decide(judged(alike[1:], 1e-6), 1.5e-4, "p95").outcome == "NOT DECIDED"
    assert decide(few, 1.01e-4).enough is None  # the largest error and U are beyond it: no number of poses passes
    assert decide(judged(np.full((4, 1), 1e-5), 1e-6), 1.0).enough == 5


def test_from_59_poses_on_no_distribution_is_assumed() -> None:
    """One pose of 59 far off: the largest error is the bound; of 93 the percentile leaves it out."""
    worst = np.append(np.full(58, 1e-5), 1e-3)
    assert bounds(worst, 1e-3, "max") == (1e-3, 1e-3)
    assert bounds(worst, 1e-5, "p95")[1] == 1e-3
    assert bounds(np.append(np.full(92, 1e-5), 1e-3), 1e-5, "p95")[1] == 1e-5


def test_expected_accuracy_is_twice_the_predicted_rms(calibrated: tuple[ec.Calibration, Validation]) -> None:
    """At validation points; without them at the measured poses, where ``predict`` says the same."""
    c, _ = calibrated
    assert expected_errors(c, judged(ERRORS, 1e-5, 3e-5))[0] == pytest.approx(6e-5)
    ahead = c.predict(c.residuals.q) if c.residuals.wrench is None else c.predict(c.residuals.q, c.residuals.wrench)
    sd = ahead.half_width / 1.959963984540054
    assert expected_errors(c, None)[0] == pytest.approx(2 * np.sqrt(np.mean(np.sum(sd**2, axis=-1))), rel=0.05)


def test_the_error_to_expect_compares_with_the_rms_error(calibrated: tuple[ec.Calibration, Validation]) -> None:
    """With sd 0.03 mm of a place and 0.01 mm of every coordinate of a reading; and of an arm that is as modelled."""
    cal, seen = calibrated
    assert expected_errors(cal, judged(ERRORS, 1e-5, 3e-5))[1] == pytest.approx(np.sqrt(9 + 3) * 1e-5)
    for validation, error in ((seen, seen.after.rms), (None, cal.leave_one_out.rms)):
        size = expected_errors(cal, validation)[1]
        assert error == pytest.approx(size, rel=0.35)
        tile = next(t for t in calibration_page(cal, validation).tiles if t.name == "expected")
        assert (tile.value, tile.unit) == (f"{1e3 * size:.3f}", "mm")
        assert f"{1e3 * expected_errors(cal, validation)[0]:.3f} mm, k = 2" in tile.note


def test_deflections_alone_let_expect_no_accuracy_of_places(tmp_path: Path) -> None:
    robot, rng = ec.read_robot("cylindrical"), np.random.default_rng(3)
    q = np.column_stack([rng.uniform(0.1, 0.9, 12), rng.uniform(-1.5, 1.5, 12), rng.uniform(0.4, 0.9, 12)])
    force = np.zeros((12, 6))
    force[np.arange(12), np.arange(12) % 3] = 900.0
    moved = robot.deflection(q, force).translation + rng.normal(0, 1e-5, (12, 3))
    made = ec.calibrate(robot, ec.Campaign(q=q, deflection=moved, wrench=force, length="m", angle="rad"))
    assert expected_errors(made, None) is None
    assert "not known" in certificate_of(made).html()
    assert "deflections: by validation poses only" in made.report(tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_certificate_of_deflections_says_what_it_stands_for() -> None:
    robot, rng = ec.read_robot("cylindrical"), np.random.default_rng(3)
    truth = robot.with_parameters({"q1.k": 1.6e-7})
    q = np.column_stack([rng.uniform(0.1, 0.9, 24), rng.uniform(-1.5, 1.5, 24), rng.uniform(0.4, 0.9, 24)])
    force = np.zeros((24, 6))
    force[np.arange(24), np.arange(24) % 3] = 900.0
    moved = truth.deflection(q, force).translation + rng.normal(0, 2e-6, (24, 3))
    first, check = (
        ec.Campaign(q=q[part], deflection=moved[part], wrench=force[part], length="m", angle="rad")
        for part in (slice(0, 14), slice(14, 24))
    )
    made = ec.calibrate(robot, first, ["compliance"])
    page = certificate_of(made, made.validate(check))
    assert page.measurand == "Error of predicted deflections"
    assert page.warnings[0].startswith("deflections under load were read")
    assert page.expected is not None
    sd = made.predict(q[14:], wrench=force[14:]).deflection_half_width / 1.96
    assert page.expected == pytest.approx(2 * np.sqrt(np.mean(np.sum(sd**2, axis=-1))), rel=0.3)
    assert f"{1e3 * page.expected:.3f} mm" in page.html()


@pytest.fixture(scope="module")
def calibrated() -> tuple[ec.Calibration, Validation]:
    rng = np.random.default_rng(5)
    robot = random_arm(2)
    truth = true_robot(robot, rng, ("geometry",))
    q, other = joint_values(robot, 30, rng), joint_values(robot, 12, rng)
    made = ec.calibrate(robot, campaign(q, robot, position=read_positions(truth, q, rng)), ["geometry"])
    return made, made.validate(campaign(other, robot, position=read_positions(truth, other, rng)))


def test_a_full_certificate_states_everything(calibrated: tuple[ec.Calibration, Validation], tmp_path: Path) -> None:
    cal, checked = calibrated
    made = certificate_of(cal, checked, stated_of({**FULL, "tolerance": 1e-3}))
    assert made.outcome == "PASS"
    assert made.missing == ()
    page = made.html()
    for words in (
        "PASS",
        "2026-0042",
        "Works &amp; Sons &lt;GmbH&gt;",
        "21.5",
        "k = 2",
        "traceable",
        "End of certificate",
    ):
        assert words in page
    data = made.data()
    assert data["errors_m"][1]["max"] == checked.after.max
    assert json.dumps(data)
    path = cal.report(tmp_path / "r.html", checked, tolerance=1e-3, **FULL)
    assert "2026-0042" in path.read_text(encoding="utf-8")


def test_what_is_missing_is_said(calibrated: tuple[ec.Calibration, Validation]) -> None:
    made = certificate_of(calibrated[0])
    assert made.outcome == "NOT DECIDED"
    assert {"operator", "payload_kg", "instrument_certificate"} <= {key for _, key in made.unstated}
    assert made.html().count("not stated") >= len(made.missing)
    assert "leave-one-out" in made.basis
    assert made.traceability.startswith("not stated")


def test_an_instrument_past_its_date_is_a_warning(calibrated: tuple[ec.Calibration, Validation]) -> None:
    made = certificate_of(*calibrated, stated_of({**FULL, "instrument_due": "2026-11-01"}))
    assert any("due for calibration" in w for w in made.warnings)


@pytest.mark.parametrize(
    ("field", "value"), [("tolerance", -1.0), ("date", "yesterday"), ("temperature_C", "warm"), ("serial", 1)]
)
def test_a_wrong_field_is_refused(field: str, value: object) -> None:
    with pytest.raises(InputError):
        stated_of({field: value})


def test_the_pdf_is_one_page_of_pdf_a_3b_with_the_result(
    calibrated: tuple[ec.Calibration, Validation], tmp_path: Path
) -> None:
    pikepdf = pytest.importorskip("pikepdf")
    cal, checked = calibrated
    first = cal.certificate(tmp_path / "c.pdf", checked, tolerance=1e-3, **FULL)
    second = cal.certificate(tmp_path / "d.pdf", checked, tolerance=1e-3, **FULL)
    assert first.read_bytes() == second.read_bytes()
    with pikepdf.open(first) as pdf:
        assert len(pdf.pages) == 1
        assert pdf.open_metadata().pdfa_status == "3B"
        assert pdf.Root.AF[0].AFRelationship == "/Source"
        assert "/OutputIntents" in pdf.Root
        attached = json.loads(pdf.attachments["elastocal-result.json"].get_file().read_bytes())
        fonts = [f for page in pdf.pages for f in page.Resources.Font.values()]
        assert all("/FontFile" in str(f.DescendantFonts[0].FontDescriptor.keys()) for f in fonts)
    assert attached["certificate"]["outcome"] == "PASS"
    assert attached["calibration"]["names"] == list(cal.names)


def test_the_worst_certificate_still_fits_one_page(calibrated: tuple[ec.Calibration, Validation]) -> None:
    pikepdf = pytest.importorskip("pikepdf")
    from io import BytesIO

    from elastocal.calibration.figures import validation_lines
    from elastocal.report.certificate import as_pdf

    cal, checked = calibrated
    made = certificate_of(
        cal, checked, stated_of({**FULL, "procedure": "QP-17, revision 4 of the works standard, " * 2})
    )
    long = (
        "95 % intervals hold 71 % of the coordinates read; they are too narrow here and this sentence goes on for long"
    )
    made = replace(
        made,
        reason=f"{UPPER_BOUND}; {made.reason}",
        warnings=(long,) * 9,
        files={f"campaign/part-{i}/readings.csv": "ab" * 32 for i in range(9)},
    )
    with pikepdf.open(BytesIO(as_pdf(made, {}, validation_lines(checked, 1e-3)))) as pdf:
        assert len(pdf.pages) == 1


def test_uncertainty_is_that_of_the_measurement() -> None:
    assert uncertainty(judged(ERRORS, 1e-5)) == pytest.approx(2e-5)
    assert Stated().missing[0] == "tolerance_mm"


def test_readings_are_told_as_to_validate() -> None:
    """A bare table needs the same words in both commands."""
    from inspect import signature

    from elastocal.app.commands.certificate import certificate
    from elastocal.app.commands.validate import validate

    assert set(signature(validate).parameters) - {"measured"} <= set(signature(certificate).parameters)


def test_angles_are_not_certified_as_lengths(tmp_path: Path) -> None:
    """Of orientations alone errors are angles; the report says so, the certificate is refused."""
    rng = np.random.default_rng(5)
    robot = ec.read_robot("kuka-kr270")
    q = joint_values(robot, 14, rng)
    turn = robot.nominal.kinematics(q).rotation
    read = ec.Campaign(q=robot.controller.to_controller(q), orientation=turn, length="m", angle="rad")
    made = ec.calibrate(robot, read, ["geometry"])
    with pytest.raises(InputError) as refused:
        made.certificate(tmp_path / "c.html", tolerance=1e-3)
    assert refused.value.code == "unsupported"
    text = made.report(tmp_path / "r.html", tolerance=1e-3).read_text(encoding="utf-8")
    assert "Orientations alone were read" in text
    assert "End of certificate" not in text

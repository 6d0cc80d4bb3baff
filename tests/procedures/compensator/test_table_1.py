"""Table 1 of 000 against Table 2 and against the values recomputed from it (mm)."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.procedures.compensator.arcs import angle_gain
from elastocal.procedures.compensator.concentric import fit_concentric
from elastocal.procedures.compensator.geometry import compensator_geometry
from elastocal.procedures.compensator.known_angles import fit_known_angles
from elastocal.procedures.compensator.robust import outliers_of_arcs, outliers_of_body, robust_known_angles
from elastocal.procedures.compensator.variants import compare_variants


def mm(value):
    return 1e3 * np.asarray(value)


def test_arc_of_p1(table_1):
    arc = fit_known_angles(table_1.p1, table_1.q)
    assert mm(arc.radius) == pytest.approx(184.7195, abs=5e-5)
    assert mm(arc.radius_sd) == pytest.approx(0.0305, abs=5e-5)
    np.testing.assert_allclose(mm(arc.centre), [0.160, 1.841], atol=5e-4)
    assert mm(arc.residual_sd) == pytest.approx(0.0563, abs=5e-5)
    assert mm(arc.estimate.rms) == pytest.approx(0.0459, abs=5e-5)
    assert arc.sense == -1
    assert mm(arc.other_sd) == pytest.approx(81.62, abs=0.01)
    assert "against the angle" in arc.sentences()[0]
    assert arc.paper_radius_sd / arc.radius_sd == pytest.approx(np.sqrt(1 / 6 / 0.2938306), rel=1e-6)


def test_arcs_of_the_markers(table_1):
    arcs = fit_concentric([table_1.p01, table_1.p02])
    np.testing.assert_allclose(mm(arcs.centre), [-685.833, -117.571], atol=5e-4)
    np.testing.assert_allclose(mm(arcs.radii), [186.667, 188.289], atol=6e-4)
    np.testing.assert_allclose(mm(np.sqrt(np.diag(arcs.centre_covariance))), [0.703, 0.322], atol=5e-4)
    assert mm(arcs.residual_sd) == pytest.approx(0.190, abs=5e-4)


def test_geometry_of_the_compensator(table_1):
    arc = fit_known_angles(table_1.p1, table_1.q)
    found = compensator_geometry(arc, fit_concentric([table_1.p01, table_1.p02]))
    assert mm(found.a_x) == pytest.approx(685.993, abs=5e-4)
    assert mm(found.a_y) == pytest.approx(119.412, abs=5e-4)
    assert mm(found.sd["a_x"]) == pytest.approx(0.704, abs=5e-4)
    assert mm(found.sd["a_y"]) == pytest.approx(0.323, abs=5e-4)
    np.testing.assert_allclose(mm(found.lengths), [720.1, 624.5, 544.1, 511.6, 544.4, 609.6], atol=0.05)
    assert np.degrees(found.phi0) == pytest.approx(90.081, abs=5e-4)
    assert np.degrees(found.phi0_by_length) == pytest.approx(90.070, abs=5e-4)
    assert np.degrees(found.sd["phi0"]) == pytest.approx(0.026, abs=5e-4)
    assert mm(found.s_rms) == pytest.approx(0.0376, abs=5e-5)
    assert mm(found.s_rms_by_length) == pytest.approx(0.0242, abs=5e-5)
    assert mm(found.printed_error) == pytest.approx(235.3, abs=0.05)


def test_more_that_is_known_of_the_body(table_1):
    """sd of a_x 0.70, 0.59, 0.37; the last model leaves nearly twice the residuals and is rejected."""
    models = compare_variants([table_1.p01, table_1.p02], table_1.p1)
    sizes = [mm(m.centre_sd).tolist() for m in models.models]
    np.testing.assert_allclose(sizes, [[0.703, 0.322], [0.586, 0.253], [0.365, 0.411]], atol=5e-4)
    np.testing.assert_allclose([mm(m.fit.residual_sd) for m in models.models], [0.190, 0.159, 0.295], atol=5e-4)
    np.testing.assert_allclose(mm(models.models[1].fit.centre), [-685.844, -117.580], atol=5e-4)
    common, pointing = (m.test for m in models.models[1:])
    assert (common.added, common.freedom, pointing.added, pointing.freedom) == (5, 8, 5, 13)
    assert common.statistic == pytest.approx(0.216, abs=5e-4)
    assert pointing.statistic == pytest.approx(9.785, abs=5e-4)
    assert not common.rejected
    assert pointing.rejected
    common, pointing = models.models[1:]
    assert (common.name, common.test.rejected, pointing.test.rejected) == ("common rotation", False, True)
    assert "one axis for all markers (F = 4.1 on 2 and 6" in models.sentences()[0]
    assert "agree" in models.sentences()[2]
    assert "reject" in models.sentences()[3]
    arc = fit_known_angles(table_1.p1, table_1.q)
    assert mm(compensator_geometry(arc, common.fit).sd["a_x"]) == pytest.approx(0.587, abs=5e-4)


def test_what_the_angles_add(table_1):
    gain = angle_gain(table_1.p1, table_1.q)
    assert gain.radius == pytest.approx(1.96, abs=0.005)
    assert gain.centre == pytest.approx(2.09, abs=0.005)
    np.testing.assert_allclose(mm([gain.algebraic.radii[0], gain.geometric.radii[0]]), 184.80, atol=0.01)


def test_no_point_of_the_table_is_named(table_1):
    markers = [table_1.p01, table_1.p02]
    found = robust_known_angles(table_1.p1, table_1.q)
    assert found.outliers == outliers_of_arcs(markers) == outliers_of_body(markers) == ()
    assert found.fit is found.all_points


def test_a_transposed_digit_in_the_table_is_named(table_1):
    """65.12 written as 56.12."""
    p1 = table_1.p1.copy()
    p1[2, 1] = 56.12e-3
    found = robust_known_angles(p1, table_1.q)
    (bad,) = found.outliers
    assert (bad.marker, bad.pose, bad.component) == (0, 2, "y")
    assert mm(bad.predicted[1]) == pytest.approx(65.12, abs=0.1)
    assert mm(found.fit.radius) == pytest.approx(184.72, abs=0.05)
    assert abs(mm(found.all_points.radius) - 184.72) > 0.3
    assert mm(bad.value[1]) == pytest.approx(56.12, abs=1e-9)


def test_an_error_of_30_mm_in_the_table_does_not_take_the_other_marker_along(table_1):
    """Both markers of the pose are let go first; the good one comes back by its radius."""
    p01 = table_1.p01.copy()
    p01[2, 1] -= 0.03
    (bad,) = outliers_of_body([p01, table_1.p02])
    assert (bad.marker, bad.pose, bad.component, bad.instead) == (0, 2, "y", ())
    assert mm(bad.predicted[1]) == pytest.approx(-109.90, abs=0.7)

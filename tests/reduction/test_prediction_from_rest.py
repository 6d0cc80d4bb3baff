"""Predictions of an arm that floats in its backlash without the load: slopes by difference, and none where it rests."""

from __future__ import annotations

import numpy as np
from oracle.scara import NAMES, actual

from elastocal.measure.markers import Deflection
from elastocal.measure.setup import Setup
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker
from elastocal.reduction.prediction import IdentifiedModel, predict, predict_from_rest

Q = np.radians([[20.0, 100.0], [-35.0, 60.0]])
LOAD = AppliedWrenches("gripper", np.array([[30.0, 0, 0, 0, 0, 0], [10.0, -25.0, 0, 0, 0, 0]]))


def test_slopes_from_the_middle_of_the_plays_are_differences():
    kind = Deflection(Setup(Q, LOAD, (Marker("gripper", "pose"),)), centred=True)
    model = actual()
    slopes = kind.derivative(model, NAMES)
    for i, name in enumerate(NAMES):
        at = model.parameters.rows[model.parameters.index(name)].value
        step = 1e-7
        up, down = (kind.predict(model.with_parameters({name: at + s * step})) for s in (1, -1))
        np.testing.assert_allclose(slopes[:, :, i], (up - down) / (2 * step), rtol=1e-5, atol=1e-6, err_msg=name)
    assert np.all(np.abs(slopes[:, 0, NAMES.index("gripper.gap")]) > 0.3)


def test_only_an_arm_that_floats_is_taken_from_the_middle():
    covariance = np.diag(np.full(len(NAMES), 1e-14))
    known = IdentifiedModel(actual(), tuple(NAMES), covariance, float("nan"))
    assert np.isnan(predict(known, Q, LOAD).twist).all()
    found = predict_from_rest(known, Q, LOAD)
    assert found.floats is not None
    assert found.floats.all()
    assert np.all(np.linalg.norm(found.twist[:, :2], axis=1) > 3e-4)
    assert np.isfinite(found.covariance).all()
    tight = actual().with_parameters({n: 0.0 for n in NAMES if n.endswith("gap")})
    still = predict_from_rest(IdentifiedModel(tight, tuple(NAMES), covariance, float("nan")), Q, LOAD)
    assert still.floats is not None
    assert not still.floats.any()

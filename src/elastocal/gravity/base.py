"""Base parameters: which masses and mass moments the torques of a log tell apart, and in which combinations.

Only poses and directions count here, neither noise nor what is known beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.gravity.samples import Samples
from elastocal.identifiability.groups import Groups, classify
from elastocal.measure.sources.friction import Friction
from elastocal.model.robot import RobotModel


def base_parameters(model: RobotModel, samples: Samples, names: Sequence[str], friction: Friction | None) -> Groups:
    """Groups of ``names`` and of the friction that is fitted with them."""
    kind = samples.kind(model, 1)
    columns, scales, labels = kind.derivative(model, names), [1.0] * len(names), list(names)
    if friction is not None:
        extra = [u.name for u in friction.unknowns(kind, model)]
        columns = np.concatenate([columns, friction.columns(kind, model)], axis=2)
        labels, scales = labels + extra, scales + [1.0] * len(extra)
    triangle = np.linalg.qr(columns[np.isfinite(samples.torque)])[1]
    return classify(labels, triangle, np.array(scales), model.joint_parameters)

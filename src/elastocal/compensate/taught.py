r"""Targets that were taught, or whose base was measured, with the arm that works there: its weight bends it already.

Such a target is not where the nominal geometry puts the tool but where the unloaded arm really stood,

    T = pose of the model at the nominal command, under weights, payload and springs, without external wrenches

and only what the wrenches add is to be corrected.  Deflections of loaded minus unloaded arms tell a model just that;
how far weights bend an arm they leave half open.  With F_l and F_u the derivatives of the loaded and the unloaded pose,
the covariance of what is left is (F_l - F_u) C (F_l - F_u)^T + d^2 I.
"""

from __future__ import annotations

import numpy as np

from elastocal.compensate.path_loads import PathLoads
from elastocal.compensate.targets import Targets
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import Status, equilibrium
from elastocal.model.statics.observation import Marker, loaded_observation
from elastocal.model.statics.state import chunk_size
from elastocal.spatial.entries import Array, Ints
from elastocal.uncertainty.prediction import IdentifiedModel


def taught(model: RobotModel, targets: Targets, nominal: Array, loads: PathLoads) -> Targets:
    """The targets as the unloaded arm reaches them with commands (N, n); where it has no rest they stay."""
    position, rotation = targets.position.copy(), targets.rotation.copy()
    models = loads.models(model)
    size = chunk_size(len(model.chain.dofs))
    for first in range(0, len(targets), size):
        for some, number, _ in loads.pieces(slice(first, min(first + size, len(targets)))):
            at = np.arange(first + some.start, first + some.stop)
            at = at[np.isfinite(nominal[at]).all(axis=1)]
            if not len(at):
                continue
            rest = equilibrium(models[number], nominal[at])
            place, turn = frame_pose(models[number], nominal[at], rest, targets.frame)
            good = rest.status == Status.CONVERGED
            position[at[good]] = place.T[good]
            rotation[at[good]] = np.moveaxis(turn, -1, 0)[good]
    reference = np.where(np.isfinite(nominal), nominal, 0.0)
    return Targets(targets.frame, position, rotation, reference)


def taught_covariance(known: IdentifiedModel, nominal: Array, command: Array, frame: str, loads: PathLoads) -> Array:
    """Covariance (N, 6, 6) of what is left of taught targets with commands (N, n); nan without a determined state."""
    total = len(command)
    out = np.full((total, 6, 6), np.nan)
    models = loads.models(known.model)
    for some, number, applied in loads.pieces(slice(0, total)):
        at = np.arange(some.start, some.stop)
        both = np.isfinite(command[at]).all(axis=1) & np.isfinite(nominal[at]).all(axis=1)
        here = np.flatnonzero(both)
        if not len(here):
            continue
        rows = at[here]
        loaded = _slope(known, models[number], command[rows], frame, [w.picked(here) for w in applied])
        slope = loaded - _slope(known, models[number], nominal[rows], frame, [])
        out[rows] = np.einsum("nip,pq,njq->nij", slope, known.covariance, slope)
    out[:, range(3), range(3)] += np.nan_to_num(known.discrepancy) ** 2
    return out


def _slope(known: IdentifiedModel, model: RobotModel, q: Array, frame: str, applied: list[AppliedWrenches]) -> Array:
    """Derivative (N, 6, p) of the pose by the parameters, in the order of the covariance."""
    names, slope, _ = loaded_observation(model, q, applied, [Marker(frame, "pose")], known.names)
    order: Ints = np.array([names.index(n) for n in known.names], dtype=np.int64)
    return slope[:, :, order]

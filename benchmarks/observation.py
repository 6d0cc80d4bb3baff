"""Observation matrices: 10 000 configurations x 6 rows x 153 parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Contender, Outcome, race
from benchmarks.robots import WRENCH, configurations, pinocchio_model, robot
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker, linear_observation

COUNT = 10_000


def measure() -> Outcome:
    model = robot().with_link_form("symmetric")
    q = configurations(COUNT)
    load, markers = [AppliedWrenches("tool", WRENCH[None])], [Marker("tool", "pose")]
    names, ours = linear_observation(model, q[:50], load, markers)
    run = _pinocchio(q)
    theirs = run(50)
    order = np.argsort([_key(n, model) for n in names], kind="stable")
    same = np.abs(np.sort(ours[:, :, order].reshape(50, -1)) - np.sort(theirs.reshape(50, -1))).max()

    contenders = [
        Contender("elastocal, one array of 73 MB", COUNT, lambda: linear_observation(model, q, load, markers)),
        Contender("loop filling it from Pinocchio's frame Jacobians", COUNT, run, needed=10.0),
    ]
    facts = (f"parameters: {len(names)}; largest difference of sorted entries to the loop: {same:.1e}",)
    return race("observation matrix, 10 000 x 6 x 153", contenders, facts=facts)


def _key(name: str, model: Any) -> int:
    return [f.name for f in model.tree.frames].index(name.split(".")[0]) if not name.startswith("base") else -1


def _pinocchio(q: np.ndarray) -> Any:
    import pinocchio as pin

    model, compliance, places = pinocchio_model(robot(), links=True)
    data, frame = model.createData(), model.getFrameId("tool")
    n = len(compliance)
    single = [i for i in range(n) if np.count_nonzero(compliance[i]) == 1 and i in places]
    starts = [i for i in range(n) if i not in places][::6]
    pairs = [(i, i) for i in single] + [(s + a, s + b) for s in starts for a in range(6) for b in range(a, 6)]
    first, second = np.array(pairs).T
    off = np.flatnonzero(first != second)
    x = np.zeros(model.nq)

    def run(count: int = COUNT) -> np.ndarray:
        out = np.empty((count, 6, len(pairs)))
        for i in range(count):
            x[places] = q[i]
            j = pin.computeFrameJacobian(model, data, x, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            force = j.T @ WRENCH
            out[i] = j[:, first] * force[second]
            out[i][:, off] += j[:, second[off]] * force[first[off]]
        return out

    return run

"""The weight of an arm from its controller's log: sign, friction, mass moments, the torque to hold it anywhere.

Order of the procedure (``run``): the samples that count, slow or moving (``plausible``, ``samples``), which way is down
where that is asked (``mounting``), whose torque was logged (``sense``), masses, inertias and friction of all joints at
once (``unknowns``, ``inertia``, ``fit``, ``friction``) and the gains of currents (``gains``) without outliers
(``outliers``), motors that turn with two joints (``coupling``), the validation by the last part of the log
(``prediction``), the torques written out (``terms``), sweep by sweep (``sweeps``, ``recursion``), what the arm carries
(``payload``), what speaks against it all (``checks``), and the ``result``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from elastocal.errors import RangeError, UnknownNameError, UnsupportedError
from elastocal.measure.slow_motion import SHARE
from elastocal.measure.sources.friction import Friction
from elastocal.procedures.gravity.checks import warnings
from elastocal.procedures.gravity.coupling import propose
from elastocal.procedures.gravity.mounting import find_gravity
from elastocal.procedures.gravity.outliers import screen
from elastocal.procedures.gravity.result import Gravity
from elastocal.procedures.gravity.run import Job, with_links
from elastocal.procedures.gravity.samples import INERTIA
from elastocal.procedures.gravity.unknowns import Coupled, MassPrior, coupled_motors
from elastocal.spatial.threads import one_thread

if TYPE_CHECKING:
    from elastocal.measure.joint_log import JointLog
    from elastocal.model.robot import Robot
    from elastocal.spatial.entries import Array

__all__ = ["PRIOR", "TORQUES", "Gravity", "identify"]

TORQUES = {"auto": 0, "drive": 1, "load": -1}
"""Whose torque was logged; ``auto`` asks the robot's masses."""
PRIOR = MassPrior()


@one_thread
def identify(
    model: Robot,
    log: JointLog,
    *,
    torques: str = "auto",
    friction: Friction | Literal["auto"] | None = "auto",
    prior: MassPrior | None = PRIOR,
    hold_out: float = 0.3,
    find_mounting: bool = False,
    at: Array | None = None,
    payload_log: JointLog | None = None,
    payload_frame: str | None = None,
    inertia: str = "auto",
    slow: float = SHARE,
    cutoff: float | None = None,
    coupled: Sequence[str] | None = None,
) -> Gravity:
    """Link masses alone: what the arm carried is as the robot says.

    ``friction`` auto: Coulomb, viscous, and the zero of the readings where inertia is modelled; none where nothing
    moves.  ``inertia`` is modelled (``model``), or samples with more than the share ``slow`` of
    gravity are left out (``leave-out``), or the log decides (``auto``); ``cutoff`` (Hz) is that of the filter of a
    moving log.  ``coupled`` are motors that turn with several joints, such as A5+A6, by default those of the robot
    file.  ``hold_out`` is the last share of the log that validates, 0 for none.  ``at`` (n,) is the pose at which
    torques are written out, by default where the log was on the whole.  ``payload_log`` is a second log, with a payload
    that is sought.
    """
    if torques not in TORQUES:
        raise UnknownNameError("kind of torques", torques, TORQUES, parameter="torques")
    if inertia not in INERTIA:
        raise UnknownNameError("treatment of inertia", inertia, INERTIA, parameter="inertia")
    for name, value in (("slow", slow), ("cutoff", cutoff)):
        if value is not None and not 0 < value < np.inf:
            raise RangeError(f"{name} {value:g} must be a positive number", parameter=name, value=str(value))
    motors = coupled_motors(model) if coupled is None else tuple(Coupled.parse(model, c) for c in coupled)
    job = Job(friction, prior, motors, inertia, slow, cutoff)
    model = with_links(model, job.notes)
    current = None if np.isfinite(log.torque).any() else log.current
    if current is not None and motors:
        raise UnsupportedError(
            f"{log.source}: currents of coupled motors have no gain joint by joint; give torques of motors"
        )
    samples, gains = job.samples(model, log if current is None else replace(log, torque=current)), None
    if current is not None:
        samples, gains = job.gains(model, samples, TORQUES[torques] or 1)
    samples = job.paced(model, samples, TORQUES[torques])
    terms = job.friction_of(samples)
    mounting = find_gravity(model, samples, TORQUES[torques], terms) if find_mounting else None
    model = model if mounting is None else mounting.mounted(model)
    fit = job.fit(model, samples, TORQUES[torques])
    screened = screen(fit, samples)
    arm = screened.fit
    proposal = propose(lambda more: job.fitted(model, arm.samples, arm.sense, more), arm)
    trained, validation = job.validation(fit, arm.samples, hold_out)
    written, recursion = job.terms(arm, at), job.recursion(arm)
    payload = None if payload_log is None else job.payload(arm, payload_log, payload_frame)
    said = tuple(warnings(screened, validation, proposal))
    return Gravity(
        model, screened, trained, validation, written, recursion, payload, mounting, proposal, gains, said,
        tuple(job.notes),
    )  # fmt: skip

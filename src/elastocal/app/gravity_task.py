"""What is fitted to a log: the links that have weight, friction, the sense of the torques, how the arm is mounted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from elastocal.gravity.fit import GravityFit
    from elastocal.gravity.prior import MassPrior
    from elastocal.gravity.samples import Samples
    from elastocal.gravity.sense import Sense
    from elastocal.measure.joint_log import JointLog
    from elastocal.measure.sources.friction import Friction
    from elastocal.model.robot import RobotModel

TORQUES = {"auto": 0, "drive": 1, "load": -1}


@dataclass(frozen=True, eq=False)
class GravityTask:
    """Everything of a fit but the samples."""

    model: RobotModel
    sense: Sense
    prior: MassPrior | None
    friction: Friction | None

    def fit(self, samples: Samples) -> GravityFit:
        """Link masses alone: what the arm carried is as the robot file says."""
        from elastocal.gravity.fit import identify_gravity

        seek = tuple(p.name for p in self.model.parameters if p.kind == "link_mass")
        return identify_gravity(
            self.model, samples, sense=self.sense, prior=self.prior, friction=self.friction, seek=seek
        )


def with_links(model: RobotModel, notes: list[str]) -> RobotModel:
    """A robot file without any mass gets one of 0 kg on every joint, so that there is something to seek."""
    from elastocal.model.loads.link_mass import LinkMass
    from elastocal.model.loads.payload import Payload

    if any(isinstance(e, LinkMass) and not isinstance(e, Payload) for e in model.elements):
        return model
    notes.append(f"Robot {model.name} has no link masses: one is sought on every joint, and nothing is known of it.")
    return model.with_elements(*(LinkMass(frame=j, mass=0.0, source="sought in a log") for j in model.joints))


def asked_friction(text: str | None, log: JointLog, notes: list[str]) -> Friction | None:
    from elastocal.measure.sources.friction import TERMS, Friction

    if text is None and log.time is None:
        notes.append(
            "Without time nothing tells how fast the joints move: friction is left in the scatter; --friction coulomb "
            "takes the directions from the order of the rows."
        )
        return None
    words = ("coulomb", "viscous") if text is None else tuple(w.strip() for w in text.split(","))
    if words == ("none",):
        return None
    for word in words:
        if word not in TERMS:
            raise UnknownNameError("term of friction", word, (*TERMS, "none"), "--friction")
    if "viscous" in words and log.time is None:
        raise InputError(f"--friction {text}: {log.source} has no time, so no speed; leave viscous out")
    return Friction(**{t: t in words for t in TERMS})


def needs_motion(friction: Friction | None) -> bool:
    """Whether a reading needs a joint that moves."""
    return friction is not None and (friction.coulomb or friction.viscous)


def sense_of_torques(torques: str, model: RobotModel, samples: Samples) -> Sense:
    from elastocal.gravity.sense import stated_sense, torque_sense

    sign = TORQUES[torques]
    return torque_sense(model, samples) if sign == 0 else stated_sense(model, samples, sign)

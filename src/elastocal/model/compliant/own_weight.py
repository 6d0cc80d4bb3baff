"""The sag of a gear under the arm's own weight where masses and compliance are unknown: theta as a function of q.

A torque is linear in the links' mass moments, and so is the sag of an elastic gear.  With the joint's axis a and the
unit vector g of gravity, each taken at the nominal robot,

    theta = a . (L x g),     L = sum_j R_j h_j + sag * m

h_j stands for compliance times mass moment of link j and all that hangs on it (every moving frame j from the joint
on), in the axes of that frame.  m is the lever of a typical arm (``weight_lever``), at most 1: ``sag`` is the sag of
the arm stretched out level.  A prismatic joint sags by theta = sag * a . g.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from elastocal.errors import ConflictError, UnknownNameError
from elastocal.model.compliant.weight_lever import LIGHTER, moving_frames, weight_lever, weight_lever_slope
from elastocal.model.elements import JointCoordinate, Terms, quantity
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter
from elastocal.model.posture import Posture
from elastocal.model.sought import Occasion, PriorGroup
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


@dataclass(frozen=True, kw_only=True)
class OwnWeight(JointCoordinate):
    """``sag`` in rad or m; ``links``: h of the frames that are named, rad, each of them three parameters."""

    kind: ClassVar[str] = "own_weight"
    constant_in_load: ClassVar[bool] = True
    varies: ClassVar[bool] = True
    word: ClassVar[str] = "weight"
    prior_sd: ClassVar[float] = 3e-4
    sag: float = quantity("joint value", default=0.0)
    links: Mapping[str, tuple[float, float, float]] = quantity("joint value", default_factory=dict)

    @classmethod
    def neutral(cls, robot: Robot) -> tuple[OwnWeight, ...]:
        """With the parameters of every link from the joint on (a prismatic joint has but one)."""
        links = {j: moving_frames(robot.tree, j) if j in robot.revolute_joints else () for j in robot.joints}
        return tuple(cls(joint=j, links=dict.fromkeys(links[j], (0.0, 0.0, 0.0))) for j in robot.joints)

    @classmethod
    def prior_groups(cls, robot: Robot) -> tuple[PriorGroup, ...]:
        """One for every joint: the sag of a typical arm, and of every link by the uncertainty of its mass moment."""
        groups = []
        for sag in cls.neutral(robot):
            names = tuple(p.name for p in sag.parameters(robot.tree))
            sizes = (1.0, *np.repeat(_moment_shares(robot, sag.joint), 3).tolist())[: len(names)]
            groups.append(PriorGroup(f"{cls.word} {sag.joint}", cls.prior_sd, names, sizes, "own weight", width=1.0))
        return tuple(groups)

    @classmethod
    def applies(cls, occasion: Occasion) -> bool:
        """Where masses are known, compliances explain the sag."""
        return occasion.placed and not (occasion.bends and occasion.weighed)

    def check(self, tree: FrameTree) -> None:
        super().check(tree)
        if self.links and tree.joint(self.joint).kind == "prismatic":
            raise ConflictError(f"own_weight of {self.joint}: a prismatic joint has sag alone; leave links out")
        allowed = moving_frames(tree, self.joint)
        for name in self.links:
            if name not in allowed:
                raise UnknownNameError("moving frame", name, allowed, f"own_weight of {self.joint}")

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        own = self.parameter("sag", tree.joint(self.joint).unit, self.sag, 1e-3)
        each = [(f"sag_{frame}_{axis}", v) for frame, h in self.links.items() for axis, v in zip("xyz", h, strict=True)]
        return (own, *(self.parameter(symbol, "rad", value, 1e-3) for symbol, value in each))

    def with_values(self, values: Sequence[float]) -> Self:
        sag, *rest = (float(v) for v in values)
        triples = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
        return replace(self, sag=sag, links=dict(zip(self.links, triples, strict=True)))

    @property
    def _neutral(self) -> bool:
        return self.sag == 0.0 and not any(any(h) for h in self.links.values())

    def _slides(self, posture: Posture) -> bool:
        return posture.model.tree.joint(self.joint).kind == "prismatic"

    def _lever(self, posture: Posture) -> Array:
        """L (3, N)."""
        lever = self.sag * weight_lever(posture, self.joint)
        for frame, h in self.links.items():
            lever += np.einsum("ijn,j->in", posture.rest.rotation(frame), h)
        return np.asarray(lever)

    def _lever_slope(self, posture: Posture) -> Array:
        """Its derivative (3, n, N)."""
        slope = self.sag * weight_lever_slope(posture, self.joint)
        for frame, h in self.links.items():
            arm = np.einsum("ijn,j->in", posture.rest.rotation(frame), h)
            slope += np.cross(posture.jacobian(frame)[3:], arm[:, None], axis=0)
        return np.asarray(slope)

    def unloaded(self, posture: Posture) -> Array:
        if self._neutral:
            return np.zeros(1)
        if self._slides(posture):
            return self.sag * (posture.down @ posture.axis(self.joint))[None]
        return np.asarray((self._lever(posture) * self._across(posture)).sum(axis=0))[None]

    def unloaded_slope(self, posture: Posture) -> Array | None:
        if self._neutral:
            return None
        turned = np.cross(posture.jacobian(self.joint)[3:], posture.axis(self.joint)[:, None], axis=0)
        if self._slides(posture):
            return np.asarray(self.sag * np.einsum("i,ijn->jn", posture.down, turned))[None]
        lever, slope = self._lever(posture), self._lever_slope(posture)
        across = np.cross(posture.down[:, None, None], turned, axis=0)
        return np.asarray((slope * self._across(posture)[:, None] + lever[:, None] * across).sum(axis=0))[None]

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        if self._slides(posture):
            return (((0, posture.down @ posture.axis(self.joint)),),)
        across = self._across(posture)
        columns = [(weight_lever(posture, self.joint) * across).sum(axis=0)]
        for frame in self.links:
            columns += list(np.einsum("ijn,in->jn", posture.rest.rotation(frame), across))
        return tuple(((0, column),) for column in columns)

    def _across(self, posture: Posture) -> Array:
        """g x a (3, N): the torque of a unit lever along each base axis."""
        down = posture.down[:, None]
        return posture.kept(("across", self.joint), lambda: np.cross(down, posture.axis(self.joint), axis=0))


def _moment_shares(robot: Robot, joint: str) -> Array:
    """How far the mass moment of every moving frame from a joint on is uncertain, as a share of that of the arm."""
    frames = moving_frames(robot.tree, joint)
    steps = np.array([robot.chain.length(f) for f in (*frames, robot.tool)])
    lengths = np.maximum(np.diff(steps), 0.1 * robot.size / len(frames))
    weights = LIGHTER ** np.arange(len(frames))
    beyond = weights.sum() - np.cumsum(weights)
    moments = (0.5 * weights + beyond) * lengths
    return np.asarray(0.5 * moments / moments.sum())

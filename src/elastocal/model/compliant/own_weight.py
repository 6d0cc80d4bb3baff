"""The sag of a gear under the arm's own weight where masses and compliance are unknown: theta as a function of q.

A torque is linear in the links' mass moments, and so is the sag of an elastic gear.  With the joint's axis a and the
unit vector g of gravity, each taken at the nominal robot,

    theta = a . (L x g),     L = sum_j R_j h_j + sag * m

h_j stands for compliance times mass moment of link j and all that hangs on it (every moving frame j from the joint
on), in the axes of that frame.  m is the lever of a typical arm (below), at most 1: ``sag`` is the sag of
the arm stretched out level.  A prismatic joint sags by theta = sag * a . g.

Every link from joint i on weighs 0.6 times what the link before it does, in the middle c_j between its frame and the
next moving one (the tool after the last).  From the joint's origin o_i the lever of all of them is

    m = sum_j w_j (c_j - o_i) / L,      w_j = 0.6^j,      L = sum_j w_j |longest c_j - o_i|

so that m is at most 1 long: the arm stretched out (slides apart).  The weight turns the joint by the moment m x g, g
the unit vector of gravity; the size of the moment is unknown and goes into a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from elastocal.errors import ConflictError, UnknownNameError
from elastocal.model.elements import JointCoordinate, Occasion, PriorGroup, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


LIGHTER = 0.6
"""Mass of a link as a share of the one before it; a typical arm, not a measured one."""


def moving_frames(tree: FrameTree, joint: str) -> tuple[str, ...]:
    """The frames that move, from a joint on."""
    names = [f.name for f in tree.frames if f.joint is not None]
    return tuple(names[names.index(joint) :])


def weight_lever(posture: Posture, joint: str) -> Array:
    """m (3, N) in base axes at the nominal robot."""
    return posture.kept(("weight_lever", joint), lambda: _summed(posture, joint, posture.rest.origin))


def weight_lever_slope(posture: Posture, joint: str) -> Array:
    """Its derivative (3, n, N) by the joint values."""
    return _summed(posture, joint, lambda frame: posture.jacobian(frame)[:3])


def _summed(posture: Posture, joint: str, place: Callable[[str], Array]) -> Array:
    model = posture.model
    frames = moving_frames(model.tree, joint)
    beyond = {f.name for f in model.tree.path(model.tool)}
    ends = (*frames[1:], model.tool if frames[-1] in beyond else frames[-1])
    here = place(joint)
    out, longest, length = np.zeros_like(here), 0.0, model.nominal.chain.length
    for i, (frame, end) in enumerate(zip(frames, ends, strict=True)):
        weight = LIGHTER**i
        out += weight * (0.5 * (place(frame) + place(end)) - here)
        longest += weight * (0.5 * (length(frame) + length(end)) - length(joint))
    out *= 1.0 / longest if longest > 0 else 0.0
    return out


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

"""How the arm's own weight turns a joint where no mass is known: the lever of a typical arm, as a pure number.

Every link from joint i on weighs 0.6 times what the link before it does, in the middle c_j between its frame and the
next moving one (the tool after the last).  From the joint's origin o_i the lever of all of them is

    m = sum_j w_j (c_j - o_i) / L,      w_j = 0.6^j,      L = sum_j w_j |longest c_j - o_i|

so that m is at most 1 long: the arm stretched out (slides apart).  The weight turns the joint by the moment m x g, g
the unit vector of gravity; the size of the moment is unknown and goes into a parameter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elastocal.model.frames import FrameTree
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array

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

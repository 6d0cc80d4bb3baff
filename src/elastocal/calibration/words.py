"""Model words: which effects a calibration may use, as elements of the robot and groups of priors.

    geometry     every frame may be off in all six directions, every joint in its zero
    weight       every gear sags under the arm's own weight, masses and compliances unknown
    lateral      bearings and links give way to the moment of the weight across the axis
    harmonics    gears and encoders run untrue, once and twice a turn
    coupling     a joint is moved by the drive of its neighbour, as far as the controller does not know
    gain         a joint turns by more or less than it is told
    compliance   joints, links, foundation and compensator give way: logarithmic priors about the file, links tied;
                 where the file has masses, priors on their moments; where it has no foundation, one that tilts
    bearings     joints tilt across their axes under load, where the file has no links that give way
    backlash     of the joints that have it in the file, not negative
    preload      backlash of gears that the arm's own weight presses to one side, masses unknown
    thermal      links grow with the temperature of the campaign

Most of them, and all further ones, are said by the effect itself (``Element.word``), in this or another package.
No list of parameters to hold: directions that readings cannot tell apart are settled by the priors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from elastocal.arguments import check_type
from elastocal.calibration.given import Prior
from elastocal.errors import ConflictError, RangeError, UnknownNameError
from elastocal.model.chain import AXES
from elastocal.model.compliant.foundation_compliance import FoundationCompliance
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.joint_offset import JointOffset
from elastocal.model.compliant.link_compliance import LinkCompliance, as_matrix6
from elastocal.model.elements import Element, Occasion, PriorGroup, element_kinds
from elastocal.model.parameters import Parameter
from elastocal.model.robot import Robot
from elastocal.solve.blocks import Scale
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

TILT = 0.1
"""Prior sd of the tilt of a foundation that the file leaves out, in parts of the compliance of the stiffest gear."""
BEARING = 0.2
"""Start of the prior sd of the tilt of a joint across its axis, in parts of the compliance of its own gear."""


@dataclass(frozen=True)
class Wanted:
    """Parameters of the robot with one prior scale about the values of its file."""

    scale: Scale
    names: tuple[str, ...]
    precision: Array | None = field(default=None, compare=False)
    """Inverse prior covariance in units of the scale squared; the identity where None."""
    log: bool = False
    """The unknown is the logarithm of the parameter over its value in the file."""
    positive: bool = False
    """The parameter may not fall below zero."""
    mean: tuple[float, ...] = ()
    """Prior means of the unknowns, from the file's values; none: zero."""

    @property
    def sizes(self) -> Array:
        """Prior sd of every parameter's unknown in units of the scale."""
        return np.ones(len(self.names)) if self.precision is None else np.sqrt(np.diag(np.linalg.inv(self.precision)))

    @property
    def spread(self) -> Array:
        """Prior covariance of the unknowns, at the scale that a search starts with."""
        own = np.eye(len(self.names)) if self.precision is None else np.linalg.inv(self.precision)
        return np.asarray(self.scale.start**2 * own)


def with_words(robot: Robot, words: tuple[str, ...], priors: Sequence[Prior] = ()) -> tuple[Robot, tuple[Wanted, ...]]:
    """The robot with the elements that the words stand for (at no effect), and the groups of their parameters.

    Parameters of which the user knows something (``priors``) leave their groups.
    """
    wanted: list[Wanted] = []
    for word in words:
        if word in _WITH_OTHERS:
            robot, groups = _WITH_OTHERS[word](robot)
            wanted += groups
        for effect in _effects(word):
            robot = _with_new(robot, effect.neutral(robot))
            for group in effect.prior_groups(robot):
                taken = any(w.scale.name == group.name for w in wanted)  # by another effect of the word
                wanted.append(_wanted(replace(group, name=f"{group.name} {effect.kind}") if taken else group))
    for prior in priors:
        for log, positive in ((False, False), (False, True), (True, False)):
            alike = [n for w in wanted if (w.log, w.positive) == (log, positive) for n in prior.names if n in w.names]
            if alike:
                own = prior.of(n for n in prior.names if n in alike)
                wanted = [without_names(w, own.names) for w in wanted]
                wanted.append(_known(robot, own, log, positive))
    return robot, tuple(w for w in wanted if w.names)


def _wanted(group: PriorGroup) -> Wanted:
    scale = Scale(group.name, group.sd, group.width, group.pool)
    precision = np.diag(np.array(group.sizes) ** -2.0) if group.sizes else None
    return Wanted(scale, group.names, precision, positive=group.positive)


def _known(robot: Robot, prior: Prior, log: bool, positive: bool) -> Wanted:
    """The group of parameters of one prior; logarithms have the covariance of relative errors."""
    file = np.array([robot.parameters.values[robot.parameters.index(n)] for n in prior.names])
    mean, spread = prior.values - file, prior.covariance
    if log:
        mean, spread = np.log(prior.values / file), spread / np.outer(prior.values, prior.values)
    scale = Scale(f"prior of {', '.join(prior.names)}", 1.0, 0.0)
    precision = np.asarray(np.linalg.inv(spread))
    return Wanted(scale, prior.names, precision, log, positive, tuple(mean.tolist()))


def without_names(w: Wanted, names: Sequence[str]) -> Wanted:
    """A group less some of its parameters."""
    if not any(n in w.names for n in names):
        return w
    keep = [i for i, n in enumerate(w.names) if n not in names]
    precision = None if w.precision is None else np.linalg.inv(np.linalg.inv(w.precision)[np.ix_(keep, keep)])
    return replace(w, names=tuple(w.names[i] for i in keep), precision=precision)


def _geometry(robot: Robot) -> tuple[Robot, list[Wanted]]:
    lengths: list[str] = []
    tilts: list[str] = []
    offsets: list[str] = []
    slides: list[str] = []
    added: list[Element] = []
    given = set(robot.parameters.names)
    for frame in robot.tree.path(robot.tool):
        joint = frame.joint
        if joint is None:
            continue
        if joint.follows is None and f"{frame.name}.offset" not in given:
            added.append(JointOffset(joint=frame.name))
        if joint.follows is None:
            (offsets if joint.kind == "revolute" else slides).append(f"{frame.name}.offset")
        along = int(np.argmax(np.abs(joint.unit_axis)))
        own = AXES[3 + along] if joint.kind == "revolute" else AXES[along]
        aligned = abs(joint.unit_axis[along]) > 1 - 1e-9
        free = [a for a in AXES if not (aligned and a == own)]
        new: dict[str, Any] = {a: 0.0 for a in free if f"{frame.name}.{a}" not in given}
        if new:
            added.append(FrameError(frame=frame.name, **new))
        lengths += [f"{frame.name}.{a}" for a in free if not a.startswith("r")]
        tilts += [f"{frame.name}.{a}" for a in free if a.startswith("r")]
    return robot.with_elements(*added), [
        Wanted(Scale("length", 5e-4), tuple(lengths + slides)),
        Wanted(Scale("offset", 2e-3), tuple(offsets)),
        Wanted(Scale("tilt", 5e-4), tuple(tilts)),
    ]


def _with_new(robot: Robot, elements: Sequence[Element]) -> Robot:
    """The robot with those elements whose parameters it does not have: one that was calibrated before has them."""
    have = set(robot.parameters.names)
    return robot.with_elements(*(e for e in elements if not have & {p.name for p in e.parameters(robot.tree)}))


def _compliance(robot: Robot) -> tuple[Robot, list[Wanted]]:
    """Prior sds of logarithms: joints 0.5; links 0.5 together, 0.3 each, 0.12 every entry; foundation 0.7; spring 0.3.

    Joints of which only the size of the robot is known: 1 together, 0.7 each.  One that is zero in the file is linear
    and not negative, with the sd of its scale.
    """
    table = {kind: [p for p in robot.parameters if p.kind == kind] for kind in {p.kind for p in robot.parameters}}
    out = []
    for kind, sd in _LOG_SD.items():
        rows = [p for p in table.get(kind, []) if _is_spring(p)]
        names = tuple(p.name for p in rows if p.value)
        if kind == "joint_compliance" and names == assumed_gears(robot):
            common = np.asarray(np.linalg.inv(_ASSUMED_SD[0] ** 2 + _ASSUMED_SD[1] ** 2 * np.eye(len(names))))
            out.append(Wanted(Scale("assumed joint compliance", 1.0, 0.0), names, common, log=True))
        else:
            out.append(Wanted(Scale(kind.replace("_", " "), sd, 0.0), names, log=True))
        zero = [p for p in rows if not p.value and not _off_diagonal(p.name)]
        sizes = np.array([p.scale for p in zero])
        out.append(
            Wanted(Scale(f"{kind} zero", 1.0, 0.0), tuple(p.name for p in zero), np.diag(sizes**-2.0), positive=True)
        )
    robot, tilt = _foundation(robot, table)
    out += tilt
    links = [p for p in table.get("link_compliance", []) if p.value]
    out.append(Wanted(Scale("links", 1.0, 0.0), tuple(p.name for p in links), _tied([p.name for p in links]), log=True))
    out.append(_moments(table.get("link_mass", [])))
    return robot, out


def assumed_gears(robot: Robot) -> tuple[str, ...]:
    """Compliances of joints where all of them are assumed: their order of magnitude is a guess by the robot's size."""
    rows = [p for p in robot.parameters if p.kind == "joint_compliance" and p.value]
    return tuple(p.name for p in rows) if all(p.status == "assumed" for p in rows) else ()


def _foundation(robot: Robot, table: Mapping[str, list[Parameter]]) -> tuple[Robot, list[Wanted]]:
    """Foundations tilt; one that the file leaves out by a tenth of the stiffest gear, and not to the other side."""
    gears = [p.value for p in table.get("joint_compliance", []) if p.value and p.unit.startswith("rad")]
    if "foundation_compliance" in table or not gears:
        return robot, []
    rigid = FoundationCompliance(matrix=as_matrix6(np.zeros((6, 6))), form="beam")
    names = (f"{rigid.frame}.k44", f"{rigid.frame}.k55")
    return robot.with_elements(rigid), [Wanted(Scale("foundation tilt", TILT * min(gears), 0.0), names, positive=True)]


def _has_bearings(robot: Robot) -> bool:
    """Whether bearings are sought: gears give way in the file, and no links that would say what bearings do."""
    kinds = {p.kind for p in robot.parameters if p.value}
    return "joint_compliance" in kinds and "link_compliance" not in kinds


def _bearings(robot: Robot) -> tuple[Robot, list[Wanted]]:
    """Every joint that turns tilts about the two axes of its frame that are not its own, and not to the other side."""
    gears = {p.name: p.value for p in robot.parameters if p.kind == "joint_compliance" and p.value}
    if not _has_bearings(robot):
        return robot, []
    names: list[str] = []
    sizes: list[float] = []
    added: list[Element] = []
    for j in robot.revolute_joints:
        own = int(np.argmax(np.abs(robot.tree.joint(j).unit_axis)))
        added.append(LinkCompliance(frame=j, matrix=as_matrix6(np.zeros((6, 6))), form="beam"))
        names += [f"{j}.k{i}{i}" for i in (4, 5, 6) if i != 4 + own]
        sizes += 2 * [gears.get(f"{j}.k", min(gears.values()))]
    group = Wanted(Scale("bearings", BEARING), tuple(names), np.diag(np.array(sizes) ** -2.0), positive=True)
    return _with_new(robot, added), [group]


def compliance_priors(robot: Robot, known: Sequence[str]) -> tuple[tuple[str, ...], Array]:
    """Compliances that are not among the ``known`` parameters, and the covariance of their prior in SI."""
    wanted = [without_names(w, known) for w in _compliance(robot)[1] if w.log]
    return tuple(n for w in wanted for n in w.names), prior_covariance(robot, wanted)


def prior_covariance(robot: Robot, wanted: Sequence[Wanted]) -> Array:
    """Of parameters in SI; unknowns that are logarithms count as shares of their values."""
    size = sum(len(w.names) for w in wanted)
    out, first = np.zeros((size, size)), 0
    for w in wanted:
        values = np.array([robot.parameters.values[robot.parameters.index(n)] if w.log else 1.0 for n in w.names])
        mine = slice(first, first + len(w.names))
        out[mine, mine] = w.spread * np.outer(values, values)
        first += len(w.names)
    return out


_LOG_SD = {"joint_compliance": 0.5, "motor_compliance": 0.5, "foundation_compliance": 0.7, "gravity_compensator": 0.3}


_ASSUMED_SD = 1.0, 0.7
"""Of joints of which only the size of the robot is known: a factor of all, and one of each."""


def _is_spring(p: Parameter) -> bool:
    """Of a compensator the spring alone is sought; its geometry is measured by arcs."""
    return p.kind != "gravity_compensator" or p.name.rpartition(".")[2] in ("k_c", "K_c", "s_0")


def _off_diagonal(name: str) -> bool:
    symbol = name.rpartition(".")[2]
    return len(symbol) == 3 and symbol[0] == "k" and symbol[1] != symbol[2]


def _tied(names: Sequence[str]) -> Array:
    """Inverse covariance of logarithms of link entries: a factor for all, one for each link, one for each entry."""
    place = [n.rpartition(".")[0] for n in names]
    same = np.array([[a == b for b in place] for a in place], dtype=np.float64).reshape(len(names), len(names))
    return (
        np.asarray(np.linalg.inv(0.5**2 + 0.3**2 * same + 0.12**2 * np.eye(len(names)))) if names else np.zeros((0, 0))
    )


def _moments(rows: Sequence[Parameter]) -> Wanted:
    """Mass moments of links: sd 30 % of the link's moment and 30 mm of its mass."""
    masses = {p.name.rpartition(".")[0]: p.value for p in rows if p.name.endswith(".m")}
    moments = [p for p in rows if p.unit == "kg m"]
    reach = {
        place: max((abs(p.value) for p in moments if p.name.startswith(f"{place}.")), default=0.0) for place in masses
    }
    sizes = [0.3 * reach[p.name.rpartition(".")[0]] + 0.03 * masses[p.name.rpartition(".")[0]] + 1e-3 for p in moments]
    return Wanted(Scale("mass moments", 1.0, 0.0), tuple(p.name for p in moments), np.diag(np.array(sizes) ** -2.0))


_WITH_OTHERS = {"geometry": _geometry, "compliance": _compliance, "bearings": _bearings}
"""Words whose priors tie several effects together; those of all others are said by the effects themselves."""

_ORDER = (
    "geometry", "compliance", "bearings", "weight", "lateral", "harmonics", "preload", "backlash", "coupling", "gain",
    "thermal",
)  # fmt: skip


def model_words() -> tuple[str, ...]:
    """All words in the order in which a ladder tries them; those of further effects last."""
    return tuple(dict.fromkeys((*_ORDER, *sorted(e.word for e in element_kinds().values() if e.word))))


def _effects(word: str) -> tuple[type[Element], ...]:
    """The effects that a word stands for by their own account."""
    effects = tuple(e for e in element_kinds().values() if e.word == word)
    for effect in effects:
        if not effect.word.isidentifier() or not 0 < effect.prior_sd < np.inf:
            raise RangeError(
                f"effect {effect.kind}: its word is {effect.word!r} and its prior_sd {effect.prior_sd!r}; "
                "correct its class: one plain word, and a standard deviation above zero",
                value=effect.kind,
            )
    return effects


def is_rare(word: str) -> bool:
    """Whether few robots need what a word stands for."""
    effects = _effects(word)
    return bool(effects) and all(e.rare for e in effects)


def automatic(robot: Robot, *, loaded: bool, placed: bool, warms: bool) -> tuple[str, ...]:
    """Words that are tried unless others are asked for, in order.

    ``placed``: readings are of places; deflections alone do not see geometry; ``warms``: the temperature changes.
    """
    weighed = any(p.kind == "link_mass" for p in robot.parameters)
    compliant = any(p.kind in _LOG_SD or p.kind == "link_compliance" for p in robot.parameters)
    bends = loaded or (compliant and weighed)
    occasion = Occasion(robot, placed, loaded, warms, weighed, bends)
    tied = {"geometry": placed, "compliance": bends, "bearings": loaded and _has_bearings(robot)}
    return tuple(w for w in model_words() if tied.get(w) or any(e.applies(occasion) for e in _effects(w)))


def check_words(model: str | Sequence[str]) -> tuple[str, ...] | None:
    """The words of a request; None for "auto"."""
    check_type("model", model, str | Sequence[str])
    if isinstance(model, str) and model == "auto":
        return None
    words = (model,) if isinstance(model, str) else tuple(dict.fromkeys(model))
    for word in words:
        if word not in model_words():
            raise UnknownNameError("model word", word, ("auto", *model_words()))
    return words


def check_deflections(words: Sequence[str]) -> None:
    """Refuse a rigid model of deflections: it would bend its geometry to explain how the arm gives way."""
    rigid = [w for w in words if w not in ("compliance", "bearings", "backlash")]
    if rigid and "compliance" not in words:
        raise ConflictError(
            f"model word{'s' * (len(rigid) > 1)} {', '.join(rigid)}: deflections are differences at one pose, which a "
            "rigid arm does not have; add compliance, or read positions",
            value=tuple(rigid),
        )

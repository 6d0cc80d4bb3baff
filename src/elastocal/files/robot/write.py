"""A robot model written as a robot file that reads back to the same model, and one number of such a file changed.

Every number stands in a unit that gives it back to the last digit of a double: in mm and deg, or in another one
(m, rad) where that takes far fewer characters.  A robot with a DH table is written as joints and frames.

A number is changed in the text, with a new source and status; all else stays, comments too.  Which number of the text
a parameter is follows from trying: the one whose change moves this parameter and no other.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import yaml

from elastocal.errors import InputError, UnknownNameError, UnsupportedError
from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import FORMAT, build_robot
from elastocal.files.robot.read import robot_from_text
from elastocal.files.schema import dimensions_of
from elastocal.files.text import Dumper, FlowList, LongText, Map, Number, comment, digits, quantity_text
from elastocal.files.units import DIMENSIONS
from elastocal.model.elements import Element
from elastocal.model.frames import Frame, FrameTree, Shape
from elastocal.model.robot import Robot
from elastocal.model.transmission import Drives, Transmission
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import matrix_rpy, rpy_matrix
from elastocal.untrusted import finite_number
from elastocal.values import dataclass

UNSTATED = "not stated"


def robot_text(model: Robot, notes: Sequence[str] = (), element_notes: Sequence[str] = ()) -> str:
    """The file's text, checked by reading it again; notes are comments at the top and before the elements."""
    text = yaml.dump(_document(model), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)
    for key in ("joints", "controller", "elements", "shapes"):
        message = comment(element_notes) if key == "elements" else ""
        text = text.replace(f"\n{key}:\n", f"\n\n{message}{key}:\n")
    text = comment(notes) + text
    _check(model, build_robot(parse_yaml(text, f"{model.name} as written")))
    return text


def _document(model: Robot) -> dict[str, Any]:
    sources = _Sources(model)
    out: dict[str, Any] = {"format": FORMAT, "name": model.name}
    if model.title and model.title != model.name:
        out["title"] = model.title
    if model.serial:
        out["serial"] = model.serial
    out["source"] = sources.top
    if sources.status:
        out["status"] = sources.status
    out |= quantity_text("gravity", "acceleration", tuple(model.gravity))
    if model.rated_payload is not None:
        out |= quantity_text("rated_payload", "mass", model.rated_payload)
    out["joints"] = [_joint(frame, sources) for frame in model.tree.frames]
    out["tool"] = model.tool
    if model.transmission is not None:
        out["controller"] = _controller(model.transmission, model.tree)
    if model.elements:
        out["elements"] = [_element(e, model.tree, sources) for e in model.elements]
    if model.shapes:
        out["shapes"] = [_shape(s) for s in model.shapes]
    return out


class _Sources:
    """Source and status at the top, and what an entry adds where its own differ."""

    def __init__(self, model: Robot) -> None:
        self.top, self.status = model.source or UNSTATED, model.status
        self._known: dict[str, str] = {}

    def of(self, entry: Frame | Element) -> dict[str, str]:
        source, status = entry.source or self.top, entry.status
        if (source, status) == (self.top, self.status):
            return {}
        out = {"source": self._known.setdefault(source, LongText(source) if len(source) > 60 else source)}
        return out | ({"status": status} if status else {})


def _joint(frame: Frame, sources: _Sources) -> dict[str, Any]:
    motion = frame.joint
    out: dict[str, Any] = {"name": frame.name, "type": motion.kind if motion else "fixed", "parent": frame.parent}
    if np.any(frame.pose.translation):
        out |= quantity_text("xyz", "length", tuple(frame.pose.translation))
    out |= _rotation(frame.pose.rotation)
    if motion is not None:
        out |= quantity_text("axis", "number", motion.axis)
        if motion.limits is not None:
            out |= quantity_text("limits", "joint value", motion.limits, motion.kind)
        if motion.follows is not None:
            out["follows"] = motion.follows
            out |= quantity_text("ratio", "number", motion.ratio)
            out |= quantity_text("offset", "joint value", motion.offset, motion.kind)
    return out | sources.of(frame)


def _rotation(rotation: Array) -> dict[str, Any]:
    """Roll, pitch, yaw in degrees of few digits where they turn the same way, else in rad."""
    if np.array_equal(rotation, np.eye(3)):
        return {}
    rpy = matrix_rpy(rotation)
    for places in (3, 6, 9, 12):
        degrees = [round(float(np.rad2deg(a)), places) + 0.0 for a in rpy]
        again = rpy_matrix(*(d * DIMENSIONS["angle"]["deg"] for d in degrees))
        if np.max(np.abs(again - rotation)) <= 4e-16:
            return {"rpy_deg": FlowList(Number(digits(d)) for d in degrees)}
    return {"rpy_rad": FlowList(Number(digits(a)) for a in rpy)}


def _controller(transmission: Transmission, tree: FrameTree) -> dict[str, Any]:
    axes, joints = transmission.axes, tree.joint_names
    out: dict[str, Any] = {"axes": FlowList(axes)} | (
        {"language": transmission.language} if transmission.language else {}
    )
    signs, couplings = Map(), []
    for (i, j), value in np.ndenumerate(transmission.matrix):
        if i == j and value not in (1.0, -1.0):
            raise UnsupportedError(
                f"controller: axis {axes[i]} moves its joint by {value:g}; a file knows only 1 and -1"
            )
        if i == j and value == -1.0:
            signs[axes[i]] = -1
        elif i != j and value != 0:
            couplings.append(Map(joint=joints[i], axis=axes[j], ratio=Number(digits(float(value)))))
    moved = {a: float(z) for a, z in zip(axes, transmission.zero, strict=True) if z != 0}
    kinds = {tree.joint(joints[axes.index(a)]).kind for a in moved}
    if len(kinds) > 1:
        raise UnsupportedError(
            "controller: zeros of revolute and of prismatic joints cannot stand in one file; "
            "move those of one kind into the joints' offsets"
        )
    out |= {"sign": signs} if signs else {}
    out |= quantity_text("zero", "joint value", moved, *kinds) if moved else {}
    out |= {"couplings": couplings} if couplings else {}
    out |= {"coupled": FlowList(transmission.coupled)} if transmission.coupled else {}
    return out | ({} if transmission.drives is None else drives_entry(transmission.drives, axes))


def controller_text(drives: Drives, axes: Sequence[str], source: str) -> str:
    """The section ``controller`` of a robot file that says no more than the axes and their drives."""
    entry = {"axes": FlowList(axes), **drives_entry(drives, axes), "source": source}
    return yaml.dump({"controller": entry}, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)


def drives_entry(drives: Drives, axes: Sequence[str]) -> dict[str, Any]:
    """The keys of ``controller`` that tell of motors and encoders."""
    out: dict[str, Any] = {"structure": [FlowList(Number(digits(float(v))) for v in row) for row in drives.structure]}
    for key, values in (("counts_per_turn", drives.counts_per_turn), ("counts_at_zero", drives.counts_at_zero)):
        values_by_axis = {a: Number(digits(float(v))) for a, v in zip(axes, values, strict=True) if np.isfinite(v)}
        out |= {key: Map(values_by_axis)} if values_by_axis and (key == "counts_per_turn" or np.any(values)) else {}
    return out


def _element(element: Element, tree: FrameTree, sources: _Sources) -> dict[str, Any]:
    out: dict[str, Any] = {"kind": element.kind}
    joints = [getattr(element, "joint", None), *getattr(element, "joints", ())]
    joint = next((tree.joint(j).kind for j in joints if j), None)
    dimensions = dimensions_of(type(element))
    for field in dataclasses.fields(element):
        value, dimension = getattr(element, field.name), dimensions[field.name]
        if field.name in ("source", "status") or value is None:
            continue
        if field.name == "matrix" and "entries" in element.shorthand:
            out |= quantity_text("entries", "SI", _entries(np.array(value)))
        elif field.name == "moment" and "com" in element.shorthand and (mass := getattr(element, "mass", 0.0)) > 0:
            out |= quantity_text("com", "length", [m / mass for m in value])
        elif dimension is None:
            out[field.name] = FlowList(value) if isinstance(value, tuple) else value
        else:
            out |= quantity_text(field.name, dimension, value, joint)
    return out | sources.of(element)


def _shape(shape: Shape) -> dict[str, Any]:
    """On one line."""
    pairs = ((name, quantity_text(name, "length", getattr(shape, name))) for name in ("start", "end", "radius"))
    return Map({"frame": shape.frame} | {key: value for _, word in pairs for key, value in word.items()})


def _entries(k: Array) -> dict[str, float]:
    """One of each equal pair, both of a pair that differs."""
    return {
        f"k{i + 1}{j + 1}": float(k[i, j])
        for i in range(6)
        for j in range(6)
        if (k[i, j] != k[j, i]) or (i <= j and k[i, j] != 0)
    }


def _check(model: Robot, again: Robot) -> None:
    """The text, read again, is the model."""
    frames = zip(model.tree.frames, again.tree.frames, strict=True)
    same = all(a.name == b.name and a.parent == b.parent and _same(a.pose, b.pose) for a, b in frames)
    old, new = model.parameters, again.parameters
    ends, written = (np.array([(*s.start, *s.end, s.radius) for s in m.shapes]) for m in (model, again))
    if [s.frame for s in model.shapes] != [s.frame for s in again.shapes] or not np.allclose(ends, written, 0, 1e-12):
        raise UnsupportedError(f"robot {model.name}: its shapes cannot be written without a change; report this robot")
    if not same or model.tool != again.tool or [p.name for p in old] != [p.name for p in new]:
        raise UnsupportedError(f"robot {model.name}: its frames cannot be written without a change; report this robot")
    if not _same_drives(model.controller.drives, again.controller.drives):
        raise UnsupportedError(f"robot {model.name}: its drives cannot be written without a change; report this robot")
    if any(abs(p.value - q.value) > 1e-15 * abs(p.value) for p, q in zip(old, new, strict=True)):
        raise UnsupportedError(
            f"robot {model.name}: its parameters cannot be written without a change; report this robot"
        )


def _same_drives(a: Drives | None, b: Drives | None) -> bool:
    if a is None or b is None:
        return a is b
    pairs = ((getattr(a, k), getattr(b, k)) for k in ("structure", "counts_per_turn", "counts_at_zero"))
    return all(np.array_equal(x, y, equal_nan=True) for x, y in pairs)


def _same(a: Pose, b: Pose) -> bool:
    return bool(np.max(np.abs(a.matrix() - b.matrix())) <= 1e-15 * max(1.0, float(np.max(np.abs(a.translation)))))


NEAR = 1e-9


@dataclass(frozen=True)
class _Spot:
    """A number of the text from ``start`` to ``end``, in the entry of ``entry``."""

    start: int
    end: int
    value: float
    entry: yaml.MappingNode


def with_parameter(text: str, name: str, value: float, source: str, status: str, file: str) -> str:
    """The text with parameter ``name`` at ``value`` (SI); refused where the text does not hold it as one number."""
    before = _values(text, file)
    if name not in before:
        raise UnknownNameError("parameter", name, before)
    for spot in sorted(_spots(text), key=lambda s: name.split(".")[0] not in _words(s.entry)):
        trial = spot.value * 1.01 if spot.value else 1e-4
        try:
            moved = _values(text[: spot.start] + repr(trial) + text[spot.end :], file)
        except InputError:
            continue
        if set(moved) == set(before) and [n for n in before if moved[n] != before[n]] == [name]:
            slope = (moved[name] - before[name]) / (trial - spot.value)
            number = float(f"{spot.value + (value - before[name]) / slope:.12g}")
            return _checked(_written(text, spot, number, source, status), before | {name: value}, file)
    raise InputError(f"{file}: {name} does not stand as one number in the file; edit its text", code="derived",
                     file=file, parameter=name)  # fmt: skip


def _values(text: str, file: str) -> dict[str, float]:
    return {p.name: p.value for p in robot_from_text(text, file).parameters}


def _words(entry: yaml.MappingNode) -> list[str]:
    return [v.value for _, v in entry.value if isinstance(v, yaml.ScalarNode)]


def _spots(text: str) -> Iterator[_Spot]:
    top = yaml.compose(text, Loader=yaml.SafeLoader)
    lists = [v for k, v in top.value if k.value == "elements"] if isinstance(top, yaml.MappingNode) else []
    for entry in (e for each in lists for e in each.value if isinstance(e, yaml.MappingNode)):
        for node in (n for _, v in entry.value for n in (v.value if isinstance(v, yaml.SequenceNode) else [v])):
            if isinstance(node, yaml.ScalarNode) and (number := finite_number(node.value)) is not None:
                yield _Spot(node.start_mark.index, node.end_mark.index, number, entry)


def _written(text: str, spot: _Spot, number: float, source: str, status: str) -> str:
    """From the end of the entry to its begin, so that places stay true."""
    edits = [(spot.start, spot.end, repr(number))]
    first, last = spot.entry.start_mark.index, spot.entry.end_mark.index
    for key, word in (("source", yaml.safe_dump(source, width=10**6).strip()), ("status", status)):
        word = word.removesuffix("\n...").strip()
        node = next((k for k, _ in spot.entry.value if k.value == key), None)
        if node is None:
            at, more = (last - 1, f", {key}: {word}") if spot.entry.flow_style else (
                first, f"{key}: {word}\n{' ' * spot.entry.start_mark.column}")  # fmt: skip
            edits.append((at, at, more))
            continue
        held = re.compile(r":\s*").match(text, node.end_mark.index)
        start = held.end() if held else node.end_mark.index
        value = next(v for k, v in spot.entry.value if k is node)
        own = first <= value.start_mark.index < last
        alias = re.compile(r"\*[\w-]+").match(text, start)
        end = alias.end() if alias else value.end_mark.index if own else start
        anchor = re.compile(r"&([\w-]+)\s+").match(text, start)
        if anchor:  # the next that repeats it must state it now
            again = re.compile(rf"\*{re.escape(anchor[1])}\b").search(text, end)
            if again:
                edits.append((again.start(), again.end(), text[start:end]))
        edits.append((start, end, word))
    for start, end, word in sorted(edits, reverse=True):
        text = text[:start] + word + text[end:]
    return text


def _checked(text: str, wanted: dict[str, float], file: str) -> str:
    made = _values(text, file)
    off = [n for n in wanted if abs(made.get(n, float("nan")) - wanted[n]) > NEAR * max(1e-12, abs(wanted[n]))]
    if off or set(made) != set(wanted):
        raise InputError(f"{file}: {', '.join(off[:3])} would not come out as asked; edit its text", code="derived",
                         file=file)  # fmt: skip
    return text

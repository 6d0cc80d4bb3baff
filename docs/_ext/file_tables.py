"""Tables of the robot file format, made from the code that reads it, so that they cannot go stale.

``{robot-table} <name>`` in a page puts one of the ``TABLES`` there.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from elastocal.files.robot.read import read_robot, shipped_robots
from elastocal.files.robot.sections import ControllerEntry, JointEntry, RobotFile
from elastocal.files.schema import dimensions_of
from elastocal.files.units import DIMENSIONS
from elastocal.model.compliant.beam import SECTIONS, Beam, CrossSection
from elastocal.model.elements import CompliantCoordinate, element_kinds
from elastocal.model.frames import DHRow

Rows = Iterator[tuple[str, ...]]


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").split("\n")[0].rstrip(".").replace("|", r"\|").replace("*", r"\*")


def _default(cls: type, field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        value = field.default
        if value is None or value == "" or value == ():
            return "not given"
        return f"`{list(value) if isinstance(value, tuple) else value}`"
    if field.default_factory is not dataclasses.MISSING:
        return "empty"
    others = [n for n in getattr(cls, "shorthand", {}) if field.name == "matrix"]
    return f"**one of** this, {', '.join(others)}" if others else "**required**"


def _spoken(hint: Any) -> str:
    """A type in words."""
    words = {float: "number", str: "text", bool: "`true` or `false`", Any: "value", CrossSection: "mapping (below)"}
    if hint in words:
        return words[hint]
    origin, args = get_origin(hint), [a for a in get_args(hint) if a is not type(None)]
    if origin is Literal:
        return " or ".join(f"`{a}`" for a in args)
    if origin is dict:
        return "mapping" if args[1] is Any else f"mapping of name to {_spoken(args[1])}"
    if origin is list:
        return "list"
    if origin is tuple:
        many = f"{_spoken(args[0])}s"
        if many.startswith("list of "):
            return f"list of lists of {many.removeprefix('list of ').removesuffix('s')}"
        if get_origin(args[0]) is tuple:
            return "6 rows of 6 numbers"
        return f"list of {many}" if args[-1] is Ellipsis else f"{len(args)} {many}"
    return " or ".join(_spoken(a) for a in args)


def _keys(cls: type) -> Rows:
    yield "key", "value", "dimension of its unit", "default"
    fields: dict[str, dataclasses.Field[Any]] = {f.name: f for f in dataclasses.fields(cls)}
    hints = get_type_hints(cls)
    order = sorted(dimensions_of(cls).items(), key=lambda pair: pair[0] == "source")
    for name, dimension in order:
        suffixes = DIMENSIONS.get(dimension or "", {})
        key = f"`{name}_<unit>`" if len(suffixes) > 1 else f"`{'_'.join([name, *suffixes])}`"
        unit = dimension if suffixes else "none"
        if name in fields:
            yield key, _spoken(hints[name]), unit or "", _default(cls, fields[name])
        else:
            yield key, _SHORTHAND.get(name, "another way to write it"), unit or "", "not given"


_SHORTHAND = {
    "beam": "mapping: section and material instead of the matrix",
    "entries": "mapping of `k11` .. `k66` to numbers, the rest zero; a pair needs one of its two",
    "isotropic": "number: the same yield of the point in all directions",
    "com": "3 numbers: centre of mass instead of the mass moment",
}


def _units() -> Rows:
    yield "dimension", "suffixes (factor to SI)"
    for dimension, units in DIMENSIONS.items():
        yield dimension, ", ".join(f"`{u}` ({f:.6g})" for u, f in units.items()) or "no suffix"


def _kinds() -> Rows:
    yield "kind", "is a", "what it says"
    for kind, cls in element_kinds().items():
        role = "compliant coordinate" if issubclass(cls, CompliantCoordinate) else "load"
        yield f"`{kind}`", role, _first_line(cls)


def _sections() -> Rows:
    yield "shape", "keys", "what it is"
    for shape, cls in SECTIONS.items():
        yield f"`{shape}`", ", ".join(f"`{f.name}_<unit>`" for f in dataclasses.fields(cls)), _first_line(cls)


def _robots() -> Rows:
    yield "name", "robot", "joints", "effects", "parameters"
    for name in shipped_robots():
        model = read_robot(name)
        kinds = sorted({e.kind for e in model.elements})
        yield f"`{name}`", model.title, str(model.n), ", ".join(f"`{k}`" for k in kinds), str(len(model.parameters))


def _sources() -> list[str]:
    """Every source that a shipped robot names, with the entries that rest on it."""
    out: list[str] = []
    for name in shipped_robots():
        model = read_robot(name)
        said: dict[str, list[str]] = {}
        for frame in model.tree.frames:
            said.setdefault(frame.source, []).append(f"`{frame.name}`")
        for e in model.elements:
            said.setdefault(e.source, []).append(f"`{e.kind}` {e.place}")
        rows = [("rests on", "entries"), *((_plain(text), ", ".join(what)) for text, what in said.items())]
        out += [f"**`{name}`**, {model.title}", "", *_table(iter(rows))]
    return out


def _plain(text: str) -> str:
    text = " ".join(text.split()).replace("|", r"\|").replace("*", r"\*").replace("_", r"\_")
    return f"**{text[:10]}**{text[10:]}" if text.lower().startswith("assumption") else text


def _table(rows: Rows) -> list[str]:
    head, *body = rows
    lines = [" | ".join(head), " | ".join("---" for _ in head), *(" | ".join(r) for r in body)]
    return [f"| {line} |" for line in lines] + [""]


def _fields_of_kinds() -> list[str]:
    out: list[str] = []
    for kind, cls in element_kinds().items():
        out += [f"**`{kind}`**: {_first_line(cls)}.", "", *_table(_keys(cls))]
    return out


TABLES: dict[str, Callable[[], list[str]]] = {
    "top": lambda: _table(_keys(RobotFile)),
    "joint": lambda: _table(_keys(JointEntry)),
    "dh": lambda: _table(_keys(DHRow)),
    "controller": lambda: _table(_keys(ControllerEntry)),
    "units": lambda: _table(_units()),
    "kinds": lambda: _table(_kinds()),
    "fields": _fields_of_kinds,
    "beam": lambda: _table(_keys(Beam)),
    "sections": lambda: _table(_sections()),
    "robots": lambda: _table(_robots()),
    "sources": _sources,
}


class RobotTable(SphinxDirective):
    """``{robot-table} kinds``"""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(TABLES[self.arguments[0]]()))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("robot-table", RobotTable)
    return {"parallel_read_safe": True}

"""Which frames are active in KRL: what $BASE, $TOOL, BAS(), FDAT and WITH make of what was active before."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from elastocal.compensation.posts.collect import Missing
from elastocal.compensation.posts.krl_data import Literal, Lookup, literal
from elastocal.compensation.posts.routines import Active, Unknown
from elastocal.compensation.posts.text import Text
from elastocal.spatial.pose import Pose
from elastocal.untrusted import finite_number
from elastocal.values import dataclass

_BAS = re.compile(r"\(\s*#(\w+)\s*(?:,([^)]*))?\)", re.A)
_NUMBERED = re.compile(r"(?:BASE|TOOL)_DATA[ \t]*\[[ \t]*(\d+)[ \t]*\]\Z", re.A | re.I)
_WITH = re.compile(r"\$(BASE|TOOL|IPO_MODE)[ \t]*=[ \t]*(\w+(?:\[[^\]]*\])?)(?:\([ \t]*(\w+))?", re.A | re.I)


@dataclass(frozen=True)
class State:
    """What is active: frames by name, "#TCP" where the tool stands outside the robot, and the path velocity in m/s."""

    base: str
    tool: str
    outside: str = ""
    feed: float = np.nan

    @property
    def active(self) -> Active:
        return {"base": self.base, "tool": self.tool, "$IPO_MODE": self.outside}

    def given(self, active: Active) -> State:
        return replace(self, base=active["base"], tool=active["tool"], outside=active["$IPO_MODE"])


def by_assignment(
    state: State, word: str, text: Text, span: tuple[int, int], names: Lookup
) -> tuple[State, Pose | None]:
    """$BASE = literal, BASE_DATA[i], $NULLFRAME or a variable with a literal; anything else has no known pose."""
    start, end = span
    value = text.text[start:end].lstrip("= \t")
    name, pose = f"{word} of {text.name}, line {text.line(start)}", None
    numbered = _NUMBERED.match(value)
    variable = names.get(value)
    if numbered:
        name = numbered[1]
    elif value.upper() in ("$NULLFRAME", "$WORLD"):
        name = "0"
    elif value.startswith("{") and value.endswith("}"):
        known = literal(text.name, text.text, text.text.index("{", start), end)
        pose = known.pose() if known else None
    elif variable is not None and variable.pose() is not None:
        name, pose = value.upper() + (f" of {names.file}" if names.file else ""), variable.pose()
    return with_frame(state, word[1:], name), pose


def with_frame(state: State, which: str, value: Any) -> State:
    return replace(state, **{which.lower(): value})


def by_bas(state: State, arguments: str, pending: Literal | None) -> State:
    """BAS(#TOOL,i), BAS(#BASE,i); BAS(#CP_PARAMS,v) and its kin activate the FDAT set before."""
    match = _BAS.match(arguments)
    if not match:
        return state
    what, value = match[1].upper(), (match[2] or "").strip()
    if what in ("BASE", "TOOL"):
        state = with_frame(state, what, value if value.isdigit() else f"BAS(#{what},{value})")
    elif what in ("CP_PARAMS", "PTP_PARAMS", "FRAMES") and pending is not None:
        state = by_data(state, pending)
    return replace(state, feed=velocity(value)) if what in ("CP_PARAMS", "VEL_CP") else state


def by_data(state: State, data: Literal) -> State:
    """The frames that FDAT names."""
    tool, base = data.integer("TOOL_NO"), data.integer("BASE_NO")
    return replace(
        state,
        tool=state.tool if tool is None else str(tool),
        base=state.base if base is None else str(base),
        outside=by_mode(str(data.others.get("IPO_FRAME", "#BASE"))),
    )


def by_mode(value: str) -> str:
    mode = value.strip("= \t").upper()
    return {"#TCP": "#TCP", "#BASE": ""}.get(mode, Unknown(f"{mode} is no literal"))


def by_with(state: State, clause: str, names: Lookup) -> State:
    """Frames that the WITH part of a spline motion sets for this motion."""
    for clauses in _WITH.finditer(clause):
        what, value = clauses[1].upper(), clauses[2]
        data, numbered = names.get(clauses[3] or ""), _NUMBERED.match(value)
        if data is not None:
            which = "outside" if what == "IPO_MODE" else what.lower()
            state = with_frame(state, which, getattr(by_data(state, data), which))
        elif numbered:
            state = with_frame(state, what, numbered[1])
        else:
            raise Missing(f"${what}={value} is not known when the file is read")
    return state


def velocity(text: str) -> float:
    value = finite_number(text.strip(" \t"))
    return np.nan if value is None else value

"""A robot from a table of Denavit-Hartenberg parameters, CSV or Excel, one row per joint.

    joint,a_mm,alpha_deg,d_mm,theta_deg,min_deg,max_deg,convention
    J1,150,-90,495,0,-180,180,standard

``convention`` is said in one row or the same in all: standard, modified (Craig) or hayati, as
``elastocal.model.frames`` has them; a standard row with ``beta_deg`` is Hayati's.  Without it titles such as
``a(i-1)`` tell, or zeros: the first axis of a modified table is that of the base (a = 0, alpha = 0 or 180 deg in the
first row), the last of a standard one that of the flange.
``type`` is revolute or prismatic; ``sign`` is -1 where the controller counts the other way.  A joint that is only a
number, 1, is called J1.  Titles and cells may be those of textbooks: i, link, θ, α, lower, upper; R and P; q2 - 90,
-π/2.  Other columns are not used, which a note says.  The flange is the last frame.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import cast

import numpy as np

from elastocal.errors import InputError, MissingError, RangeError, UnitError
from elastocal.files.robot.plausible import wrong_length
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.raw import Field, RawTable, add_once, quantity_of, si_number
from elastocal.files.tables.spelling import split_title, unit_word
from elastocal.files.units import ANGLE, LENGTH
from elastocal.model.frames import Convention, DHRow, Frame, FrameTree, JointKind, dh_frames
from elastocal.model.robot import Robot
from elastocal.model.transmission import Transmission
from elastocal.spatial.pose import Pose
from elastocal.untrusted import finite_number

CONVENTIONS = ("standard", "modified", "hayati")
OTHER_CONVENTIONS = {
    "standard dh": "standard", "sdh": "standard", "classic": "standard", "distal": "standard",
    "modified dh": "modified", "mdh": "modified", "craig": "modified", "proximal": "modified",
}  # fmt: skip
TYPES = {"r": "revolute", "rot": "revolute", "rotary": "revolute", "rotational": "revolute", "p": "prismatic",
         "t": "prismatic", "linear": "prismatic"}  # fmt: skip
_VARIABLE = re.compile(r"(?:θ|theta|q)[_ ]?\{?\d*\}?\*?\s*(.*)", re.IGNORECASE)
_PI = re.compile(r"([+-]?)\s*(\d*(?:\.\d+)?)\s*\*?\s*(?:π|pi)\s*(?:/\s*(\d+))?", re.IGNORECASE)
_OF_BEFORE = re.compile(r"[ _]*[({]?i\s*-\s*1[)}]?(?=[ _]|\Z)", re.IGNORECASE)
"""Of a title: the link before the joint, as modified tables count."""
WORDS = ("joint", "type", "convention", "sign")
OTHER_TITLES = {
    "joint": ("joint", "link", "axis", "i", "no", "no.", "nr", "nr.", "#", "name", "gelenk", "achse"),
    "theta": ("theta", "θ", "θi", "theta_i", "offset", "theta offset"),
    "alpha": ("alpha", "\u03b1", "\u03b1i", "alpha_i", "twist"),
    "beta": ("beta", "β"),
    "a": ("a", "ai", "a_i", "r", "link length"),
    "d": ("d", "di", "d_i", "link offset"),
    "min": ("min", "min.", "lower", "from", "lower limit", "min limit", "limit min", "untere grenze", "von"),
    "max": ("max", "max.", "upper", "to", "upper limit", "max limit", "limit max", "obere grenze", "bis"),
    "type": ("type", "typ", "joint type", "art"),
    "convention": ("convention", "konvention", "dh convention", "dh", "method"),
    "sign": ("sign", "vorzeichen", "direction"),
}
ALONG = 1e-9
"""Sine of the angle between axes that are one."""
LIMITS = ("min", "max")
_BY_TITLE = {title: name for name, titles in OTHER_TITLES.items() for title in titles}
GRAVITY = 9.80665


def read_dh(path: Path) -> Robot:
    """The rigid robot of a DH table; notes say what a table leaves open."""
    raw = read_csv(path)
    rows, signs, (convention, why), said = _rows(raw)
    frames = dh_frames(rows, convention, source=path.name)
    frames = (*_on_its_foot(frames), Frame("flange", frames[-1].name, source=f"{path.name}, last row"))
    names = tuple(r.name for r in rows)
    notes = (
        f"gravity is assumed to be {GRAVITY} m/s2 along -z of the base; a DH table does not say",
        f"{path.name} is read by the {convention} convention{why}; the flange is its last frame",
        *(f"joint {r.name!r} has no limits in the table; none are assumed" for r in rows if r.limits is None),
        *_below(frames, path.name),
        *said,
    )
    return Robot(
        name=path.stem, tree=FrameTree(frames), tool="flange", gravity=np.array([0.0, 0.0, -GRAVITY]),
        transmission=Transmission(names, np.diag(signs), np.zeros(len(names))), source=path.name, notes=notes,
    )  # fmt: skip


def _below(frames: Sequence[Frame], name: str) -> tuple[str, ...]:
    """A note where the arm starts downwards, as tables of some makers do whose z points down."""
    second = next((f for f in frames[1:] if f.joint is not None), None)
    pose = Pose()
    for frame in frames[: 0 if second is None else frames.index(second) + 1]:
        pose = pose @ frame.pose
    if pose.translation[2] >= 0:
        return ()
    return (f"by {name} the second joint lies below the base: if the robot stands, its z points down; turn gravity",)


def _on_its_foot(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The first joint at its height: d of a standard row lies along its axis and is no part of the reach."""
    first, *rest = frames
    if not rest or rest[0].joint is not None or rest[0].parent != first.name:
        return frames
    height = Pose(np.eye(3), np.array([0.0, 0.0, rest[0].pose.translation[2]]))
    link = replace(rest[0], pose=height.inverse() @ rest[0].pose)
    return (replace(first, pose=first.pose @ height), link, *rest[1:])


def _rows(raw: RawTable) -> tuple[list[DHRow], list[float], tuple[Convention, str], list[str]]:
    """Rows, signs, convention with what tells it, and notes on the columns."""
    units = {"a": LENGTH, "d": LENGTH, "alpha": ANGLE, "theta": ANGLE, "beta": ANGLE,
             "min": {**ANGLE, **LENGTH}, "max": {**ANGLE, **LENGTH}}  # fmt: skip
    fields: dict[str, Field] = {}
    unused = []
    shared = _unit_of_limits(raw)
    for place, column in enumerate(raw.header):
        word = _BY_TITLE.get(column.lower(), column.lower())
        title = f"{word}_{shared}" if shared and word in LIMITS else _column(column)
        if word not in WORDS and title.rpartition("_")[0] not in units and not _nearly(title, units):
            unused += [column] if column else []
            continue
        name, factor = (word, 1.0) if word in WORDS else quantity_of(raw, title, units, WORDS)
        add_once(raw, fields, name, Field(place, factor))
    lacking = [n for n in ("joint", "a", "alpha", "d", "theta") if n not in fields]
    if lacking:
        raise InputError(
            f"{raw.top}: a DH table needs the columns joint, a_mm, alpha_deg, d_mm, theta_deg and convention "
            f"({' or '.join(CONVENTIONS)}, in the first row at least); {lacking[0]} is missing",
            code="dh-column", file=raw.file, value=lacking[0],
        )  # fmt: skip
    if not raw.rows:
        raise MissingError(f"{raw.file}: has no rows; give one for each joint", file=raw.file)
    both = [_row(raw, line, fields) for line in raw.rows]
    rows = [row for row, _ in both]
    _check_limits(raw, rows, shared)
    name = Path(raw.file).name
    notes = [f"limits of {name} have no unit; they are taken in {shared}, as its angles"] if shared else []
    notes += [f"not used of {name}: {', '.join(unused)}"] if unused else []
    return rows, [sign for _, sign in both], _convention(raw, fields, rows), notes


def _unit_of_limits(raw: RawTable) -> str:
    """The unit of the table's angles where limits are stated without one; "" where they have one, or a joint slides."""
    words = [_BY_TITLE.get(title.lower(), title.lower()) for title in raw.header]
    plain = [_column(title).rpartition("_") for title in raw.header]
    angles = {unit for name, _, unit in plain if name in ("theta", "alpha")}
    slides = "type" in words and any(
        TYPES.get(word, word) == "prismatic"
        for _, cells in raw.rows
        for word in [cells[words.index("type")].strip().lower()]
    )
    return angles.pop() if any(w in LIMITS for w in words) and len(angles) == 1 and not slides else ""


def _check_limits(raw: RawTable, rows: Sequence[DHRow], shared: str) -> None:
    """Limits that have no unit of their own, and cannot be in the one of the table's angles."""
    ends = [abs(end) for row in rows for end in row.limits or ()]
    if not shared or not ends:
        return
    most = max(ends) if shared == "rad" else float(np.degrees(max(ends)))
    if shared == "rad" and most > 4 * np.pi:
        why, meant = f"{most:g} is no limit in rad, the unit of the other angles", "deg"
    elif shared == "deg" and most < 2 * np.pi:
        why, meant = f"none is above {most:g}, which are hardly deg, the unit of the other angles", "rad"
    else:
        return
    raise UnitError(
        f"{raw.top}: limits have no unit, and {why}; title them min_{meant} and max_{meant}, or min_{shared} and "
        f"max_{shared} where they are",
        file=raw.file, line=raw.header_line, column="min", value=most, allowed=("deg", "rad"),
    )  # fmt: skip


def _convention(raw: RawTable, fields: Mapping[str, Field], rows: Sequence[DHRow]) -> tuple[Convention, str]:
    """The convention, and what tells it where no column does."""
    stated = (
        {cells[fields["convention"].place].strip().lower() for _, cells in raw.rows}
        if "convention" in fields
        else set()
    )
    words = {OTHER_CONVENTIONS.get(word, word) for word in stated - {""}}
    if len(words) == 1 and words <= set(CONVENTIONS):
        return cast(Convention, words.pop()), ""
    before = next(
        (raw.header[fields[n].place] for n in ("a", "alpha") if _OF_BEFORE.search(raw.header[fields[n].place])), ""
    )
    first, last = (row.a == 0 and abs(np.sin(row.alpha)) < ALONG for row in (rows[0], rows[-1]))
    if not words and before:
        return "modified", f", as {before!r} says"
    plain = all(row.type == "revolute" and row.beta is None for row in rows)  # else zeros may be of the arm itself
    if not words and first != last and plain:
        row, other, name = ("first", "last", "modified") if first else ("last", "first", "standard")
        return cast(Convention, name), f", since a is 0 and alpha 0 or 180 deg in its {row} row and not in its {other}"
    raise InputError(
        f"{raw.file}: convention is {' and '.join(sorted(words)) or 'stated nowhere'}; add a column convention with "
        f"{' or '.join(CONVENTIONS)}, the same in all rows",
        code="dh-convention", file=raw.file, allowed=CONVENTIONS,
    )  # fmt: skip


def _nearly(title: str, units: Mapping[str, object]) -> bool:
    """Whether a title is a column without its unit, or a slip for one."""
    stem = title.rpartition("_")[0] or title
    return title in units or bool(get_close_matches(stem.lower(), [n for n in (*units, *WORDS) if len(n) > 2], 1, 0.8))


def _column(title: str) -> str:
    """The title by the letter that DH tables have here: ``θ [deg]`` is ``theta_deg``."""
    before, unit = split_title(title)
    stated = unit_word(unit)
    bare, own = (before, stated) if stated else title.rpartition("_")[::2]
    known = _BY_TITLE.get(_OF_BEFORE.sub("", bare).strip().lower())
    return f"{known}_{own}" if known else title


def _row(raw: RawTable, line: tuple[int, tuple[str, ...]], fields: dict[str, Field]) -> tuple[DHRow, float]:
    def number(name: str) -> float:
        text = line[1][fields[name].place].strip() if name in fields else ""
        if name == "theta" and (match := _VARIABLE.fullmatch(text)) is not None:
            text = match[1].replace(" ", "")
        if (match := _PI.fullmatch(text)) is not None and name in ("alpha", "theta", "beta", "min", "max"):
            return float(f"{match[1]}1") * float(match[2] or 1) * np.pi / float(match[3] or 1)
        cells = list(line[1])
        if text:
            cells[fields[name].place] = text
        return si_number(raw, (line[0], tuple(cells)), fields[name]) if text else 0.0

    def word(name: str) -> str:
        return line[1][fields[name].place].strip() if name in fields else ""

    where = f"{raw.file}, line {line[0]}"
    kind = TYPES.get(word("type").lower(), word("type").lower() or "revolute")
    if kind not in ("revolute", "prismatic"):
        raise RangeError(f"{where}: type {kind!r}; say revolute or prismatic", value=kind)
    stated = [n for n in ("min", "max") if word(n)]
    limits = (number("min"), number("max")) if len(stated) == 2 else None
    if limits is not None and not limits[0] < limits[1]:
        raise RangeError(f"{where}: min is not below max; exchange them", code="limits")
    sign = finite_number(word("sign") or "1")
    if sign not in (1.0, -1.0):
        raise RangeError(f"{where}: sign {word('sign')!r} must be 1 or -1")
    joint = f"J{word('joint').removesuffix('.0')}" if word("joint")[:1].isdigit() else word("joint")
    if not joint:
        raise MissingError(f"{where}: the joint has no name; give it one")
    a, alpha, d, theta = (number(n) for n in ("a", "alpha", "d", "theta"))
    beta = number("beta") if word("beta") else None
    if complaint := wrong_length(np.array([a, 0.0, d])):
        raise MissingError(f"{where}: {joint} {complaint}", file=raw.file, line=line[0])
    form = cast(JointKind, kind)
    return DHRow(name=joint, type=form, a=a, alpha=alpha, d=d, theta=theta, beta=beta, limits=limits), sign

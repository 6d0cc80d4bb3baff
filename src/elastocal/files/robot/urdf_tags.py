"""XML elements that know their file and line, so that every complaint about a URDF names the place."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import cast

from lxml import etree

from elastocal.errors import FormatError, InputError, MissingError, UnknownNameError, UnsupportedError
from elastocal.files.opened import read_bytes
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_EXPAND = "rename it to .xacro, which is expanded, or expand it first (xacrodoc robot.urdf.xacro -o robot.urdf)"


@dataclass(frozen=True)
class Tag:
    """One element of the file ``file``."""

    file: str
    xml: etree._Element

    @property
    def line(self) -> int:
        return cast(int, self.xml.sourceline)

    @property
    def where(self) -> str:
        """``arm.urdf, line 12, <limit> of <joint> 'A1'``"""
        out = f"{self.file}, line {self.line}, <{self.xml.tag}>"
        if name := self.xml.get("name"):
            return f"{out} {name!r}"
        owner = next((a for a in self.xml.iterancestors() if a.tag != "robot" and a.get("name")), None)
        return out if owner is None else f"{out} of <{owner.tag}> {owner.get('name')!r}"

    def error(self, problem: str, code: str = "") -> InputError:
        return FormatError(f"{self.where}: {problem}", code=code, file=self.file, line=self.line)

    def one(self, tag: str) -> Tag | None:
        """The child of this name, if there is one."""
        matches = self.xml.findall(tag)
        if len(matches) > 1:
            raise Tag(self.file, matches[1]).error(
                f"stands here for the second time (first: line {matches[0].sourceline}); keep one"
            )
        return Tag(self.file, matches[0]) if matches else None

    def need(self, tag: str) -> Tag:
        child = self.one(tag)
        if child is None:
            raise self.error(f"has no <{tag}>; add one")
        return child

    def text(self, attribute: str) -> str:
        value = self.xml.get(attribute)
        if not value:
            raise self.error(f'has no {attribute}; add {attribute}="..."')
        return value

    def numbers(self, attribute: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Exactly ``count`` finite numbers of an attribute."""
        if default is not None and attribute not in self.xml.attrib:
            return default
        text = self.text(attribute)
        if "$" in text:
            raise self.error(f"{attribute}={text!r} is xacro, not a number; {_EXPAND}")
        words = text.split()
        if len(words) != count:
            raise self.error(f"{attribute}={text!r} must hold {count} number{'s' * (count > 1)} separated by spaces")
        for word in words:
            if not _NUMBER.fullmatch(word) or not math.isfinite(float(word)):
                raise self.error(f"{attribute}={text!r}: {word!r} is not a finite number; write it like 0.25 or 1e-3")
        return tuple(float(word) for word in words)

    def origin(self) -> Pose:
        """The pose that the child <origin> gives, identity without one."""
        tag = self.one("origin")
        if tag is None:
            return Pose()
        for name in tag.xml.attrib:
            if name not in ("xyz", "rpy"):
                raise UnknownNameError("attribute", str(name), ("xyz", "rpy"), tag.where)
        zero = (0.0, 0.0, 0.0)
        roll, pitch, yaw = tag.numbers("rpy", 3, zero)
        return Pose.from_xyz_rpy(tag.numbers("xyz", 3, zero), (roll, pitch, yaw))


def named(parent: Tag, tag: str) -> dict[str, Tag]:
    """The children of this kind by their name attribute, in document order."""
    out: dict[str, Tag] = {}
    for xml in parent.xml.findall(tag):
        item = Tag(parent.file, xml)
        first = out.setdefault(item.text("name"), item)
        if first is not item:
            raise item.error(f"this name stands in line {first.line} already; names must be unique")
    return out


def document(path: Path) -> Tag:
    """The <robot> element of a file."""
    return parse(read_bytes(path), str(path))


def parse(data: bytes, file: str) -> Tag:
    """The <robot> element; nothing outside the file is ever loaded and no entity is expanded."""
    if not data.strip():
        raise MissingError(
            f"{file}: is empty; give a URDF file, which holds a <robot> element", code="empty", file=file
        )
    if b"\0" in data and data[:2] not in (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<"):
        raise FormatError(f"{file}: is not a text file; give a URDF file, which is XML", code="not-text", file=file)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        xml = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        advice = (
            _EXPAND if "prefix xacro" in str(error.msg) else "check that line, and that the encoding is as declared"
        )
        raise FormatError(
            f"{file}, line {error.lineno}: not valid XML ({error.msg}); {advice}", code="not-xml"
        ) from None
    robot = Tag(file, xml)
    if xml.getroottree().docinfo.internalDTD is not None:
        raise FormatError(f"{file}: holds a DOCTYPE, which could load other files; remove it and its entities")
    for element in xml.iter("{*}*"):
        if re.match(r"\{[^}]*xacro[^}]*\}", str(element.tag)):
            place = f"line {element.sourceline}, <{element.prefix}:{etree.QName(element).localname}>"
            raise UnsupportedError(f"{file}, {place}: this is xacro, not URDF; {_EXPAND}", code="xacro")
    if xml.tag != "robot":
        raise FormatError(
            f"{file}, line {robot.line}: the outermost element is <{xml.tag}>, not <robot>; give a URDF file"
        )
    return robot

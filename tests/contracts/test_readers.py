"""Every reader has a real-looking file, of which it is said what documents it, and refuses files of other formats."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fuzz.judge import outcome
from fuzz.readers import READERS

from elastocal.compensation.program import Program
from elastocal.errors import InputError

DOCS = Path(__file__).parents[2] / "docs"
OTHERS = {
    "robot urdf": "XML specification of URDF (wiki.ros.org/urdf/XML): robot, joint, link",
    "robot xacro": "wiki.ros.org/xacro: macros, properties, arguments, includes; REP 199: base, flange, tool0",
    "excel": "made by openpyxl (ECMA-376)",
    "ros bag": "made by rosbags from the message definitions of ROS 1 and 2",
    "obstacle stl": "ASCII form of STL: solid, facet, outer loop, vertex",
    "tracker export": "SpatialAnalyzer Users Manual, ASCII export: // comments, group, target, frame",
    "robodk csv": "RoboDK-API, CalibrationExtractPoseMeasurements.py: joints, measured pose, tool pose",
    "log rsi": "telegrams as in the tests of RSIPI: Rob, AIPos, EIPos, GearTorque, IPOC",
    "log rtde": "UR RTDE_Python_Client_Library, rtde/csv_writer.py: blanks between, actual_q_0 to actual_q_5",
    "program krl": "KUKA System Software 8.3, Operating and Programming Instructions for System Integrators: KRL",
    "program krl data": "the same: data lists (DEFDAT), FDAT and PDAT of inline forms",
    "program rapid": "ABB Technical reference manual, RAPID overview (3HAC050947): modules, robtarget, wobjdata, moves",
    "program fanuc": "FANUC Handling Tool operator's manual: ASCII program",
    "program urscript": "Universal Robots, The URScript Programming Language: motion",
    "program jbi": "Yaskawa INFORM and data transmission manuals: job data, relative job",
    "program apt": "CATIA and Vericut help on APT source",
    "program gcode": "LinuxCNC G-code reference; Siemens 840D, Job planning, 7.2: A3 B3 C3 point to the holder",
}
"""Formats of others: what documents the file of the reader."""
OWN = {
    "robot yaml": "robots", "shipped robot yaml": "robots", "robot dh csv": "robots", "campaign yaml": "campaigns",
    "readings csv": "campaigns", "contacts yaml": "contact", "contacts csv": "contact", "plan yaml": "planning",
    "plan of arcs": "compensator", "path csv": "planning", "program csv": "programs", "loads by line": "compensation",
    "log csv": "gravity", "log of two tables": "gravity", "encoder table": "transmission",
    "points of arcs": "compensator", "sweeps of joints": "compensator", "columns yaml": "imports",
    "columns of a table": "imports", "table of people": "imports", "loops": "loops", "visits": "reports",
    "configurations": "commands", "drives": "commands", "calibration json": "identification", "cell yaml": "cells",
    "record json": "cells",
}  # fmt: skip
"""Formats of this package: the page that describes them."""
ALIKE = {
    ("robot urdf", "robot xacro"), ("log csv", "log rsi"), ("program csv", "readings csv"), ("program csv", "path csv"),
    ("program csv", "configurations"),
}  # fmt: skip
"""What readers rightly take from each other: a URDF is a xacro, a log is known by its content, tables have x, y, z."""


@cache
def contents() -> dict[str, bytes]:
    out = {}
    for name in OTHERS:
        with TemporaryDirectory() as folder:
            out[name] = READERS[name].lay(Path(folder)).read_bytes()
    return out


def test_of_every_reader_it_is_said_what_documents_its_file() -> None:
    assert set(READERS) == set(OTHERS) | set(OWN)
    for page in OWN.values():
        assert (DOCS / f"{page}.md").exists(), page


def something(read: Any) -> Any:
    """What was read; a program without targets is refused by ``compensate``, data that are none are warned of."""
    if isinstance(read, Program) and not read.targets:
        raise InputError("no targets")
    if isinstance(read, Program) and any("check that it is the right file" in note for note in read.notes):
        raise InputError("not its data")
    return read


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_of_another_format_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    path = reader.lay(tmp_path)
    targets = replace(reader, read=lambda p: something(reader.read(p)))
    for other, content in contents().items():
        if other == name or {(name, other), (other, name)} & ALIKE:
            continue
        path.write_bytes(content)
        assert outcome(targets, path) == "refused", f"{name} takes {other}"

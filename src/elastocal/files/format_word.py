"""The word in which every file says what it is: ``format: elastocal-robot/1``."""

from __future__ import annotations

import re
from pathlib import Path

from elastocal.errors import InputError
from elastocal.files.located import Located, parse_json, read_text

KINDS = {
    "robot": "a robot file",
    "campaign": "a campaign file",
    "plan": "a plan file",
    "cell": "the file of a cell, which is named by its folder",
    "table": "a file that names a table",
    "calibration": "a calibration file",
    "record": "the record of a run",
    "result": "an answer as JSON",
    "compliance": "a file of compliances beside a URDF",
}
"""What files are, by the word between ``elastocal-`` and ``/``."""
_WORD = re.compile(r"elastocal-(?P<kind>[a-z]+)/\d+")
_LINE = re.compile(r"^format:\s*(?P<word>\S+)", re.MULTILINE)


def check_format(located: Located, wanted: str, what: str) -> None:
    """The file says which format it has; ``what`` is such as "a robot file"."""
    data = located.data
    if not isinstance(data, dict) or "format" not in data:
        raise located.error((), f"the line 'format: {wanted}' is missing; {what} starts with it")
    if data["format"] == wanted:
        return
    said, needed = _WORD.fullmatch(str(data["format"])), _WORD.fullmatch(wanted)
    if said is None or needed is None or said["kind"] not in KINDS:
        raise located.error(("format",), f"{data['format']!r} is not known; write 'format: {wanted}'")
    if said["kind"] == needed["kind"]:
        raise located.error(("format",), f"{said[0]} is of another version; {what} of {wanted} is needed")
    raise located.error((), f"this is {KINDS[said['kind']]} ({said[0]}); {what} is needed")


def read_json(path: Path, wanted: str, what: str) -> Located:
    """A JSON file of the format ``wanted``; one that is no JSON at all may still say what it is."""
    file, text = path.as_posix(), read_text(path)
    try:
        located = Located(file, parse_json(text, file), {})
    except InputError:
        if (found := _LINE.search(text)) is not None:
            check_format(Located(file, {"format": found["word"]}, {}), wanted, what)
        raise
    check_format(located, wanted, what)
    return located

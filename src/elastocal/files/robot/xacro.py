"""xacro files, expanded by xacrodoc: ``arm.urdf.xacro``, with arguments as ``ur.urdf.xacro?ur_type=ur10e&name=ur``.

Packages that it includes are folders of their names: above it, beside one of these, or in ROS_PACKAGE_PATH.  They need
no package.xml: people take single folders of a repository.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

from elastocal.errors import ExtraMissingError, FormatError, InputError
from elastocal.files.opened import read_bytes

SECONDS, BYTES = 8, 10**9
"""What expanding a file may take."""


def split_arguments(word: str) -> tuple[str, dict[str, str]]:
    """The path and the arguments behind its question mark."""
    path, _, rest = word.partition("?")
    out: dict[str, str] = {}
    for pair in filter(None, rest.split("&")):
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise FormatError(
                f"{word}: {pair!r} is not understood; write arguments as ?name=value&other=value", value=pair
            )
        out[name] = value
    return path, out


def expanded(path: Path, arguments: dict[str, str]) -> bytes:
    """The URDF that a xacro file stands for.

    xacro evaluates expressions of the file, which may never end or fill the memory: a process of its own does it, and
    is given a time and, where the system has such limits, a memory.
    """
    _check_xml(path, read_bytes(path))
    if find_spec("xacrodoc") is None:
        raise ExtraMissingError.needed(
            f"{path}: expanding xacro needs xacrodoc", "formats", "give a .urdf file", file=str(path)
        )
    words = [
        sys.executable,
        "-c",
        _EXPAND,
        str(BYTES),
        str(path.resolve()),
        *(f"{k}={v}" for k, v in arguments.items()),
    ]
    try:
        run = subprocess.run(words, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        why = f"expanding it takes longer than {SECONDS} s"
    else:
        if run.returncode == 0:
            return run.stdout
        why = _reason(run.stderr.decode(errors="replace"))
        missing = _MISSING.search(why)
        if missing:
            raise InputError(
                f"{path}: includes files of package {missing[1]}, which is not there; put its folder {missing[1]} "
                f"beside {_package(path)}",
                code="xacro", file=str(path), value=missing[1],
            )  # fmt: skip
    raise InputError(
        f"{path}: cannot be expanded ({why}); check its arguments "
        "(FILE.xacro?name=value) and that the packages it includes lie beside it",
        code="xacro",
        file=str(path),
    )


def _check_xml(path: Path, content: bytes) -> None:
    """Before a process is started for it."""
    try:
        ParserCreate().Parse(content, True)
    except ExpatError as error:
        message = f"{path}, line {error.lineno}: is not well-formed XML ({ErrorString(error.code)}); correct it there"
        raise FormatError(message, file=str(path), line=error.lineno) from None


_EXPAND = """
import sys
from pathlib import Path
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
except (ImportError, OSError, ValueError):
    pass
from xacrodoc import XacroDoc, packages
path, *pairs = sys.argv[2:]
packages.walk_up_from(str(Path(path).parent))
above = Path(path).parents
for attempt in range(50):
    try:
        doc = XacroDoc.from_file(path, subargs=dict(p.split("=", 1) for p in pairs) or None, resolve_packages=False)
        break
    except Exception as error:
        name = str(error).partition("Package not found: ")[2].split()[:1]
        near = [f for a in above for f in (a, *(a / n for n in name)) if name and f.name == name[0] and f.is_dir()]
        if not near:
            raise
        packages.update_package_cache({name[0]: str(near[0])})
sys.stdout.buffer.write(doc.to_urdf_string().encode())
"""
_MISSING = re.compile(r"Package not found: (\S+)")


def _package(path: Path) -> str:
    """The folder that is probably the package of a file: the one above its folder urdf."""
    above = path.resolve().parent
    return above.parent.name if above.name == "urdf" else above.name


_RAISED = re.compile(r"^(?:[\w.]+(?:Error|Exception)):? ?", re.MULTILINE)


def _reason(text: str) -> str:
    """What the last error of a traceback says, which may go over several lines."""
    if MemoryError.__name__ in text:
        return f"expanding it takes more than {BYTES / 1e9:.0f} GB"
    words = " ".join(_RAISED.split(text)[-1].split()) or "it failed"
    return words if len(words) <= 200 else f"{words[:200]} ..."

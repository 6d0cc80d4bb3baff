"""xacro files, expanded by xacrodoc: ``arm.urdf.xacro``, with arguments as ``ur.urdf.xacro?ur_type=ur10e&name=ur``.

Packages that it includes are looked for beside it, in the folders above it and in ROS_PACKAGE_PATH.
"""

from __future__ import annotations

from pathlib import Path

from elastocal.errors import InputError
from elastocal.files.opened import read_bytes

EXTRA = "pip install 'elastocal[formats]'"


def split_arguments(word: str) -> tuple[str, dict[str, str]]:
    """The path and the arguments behind its question mark."""
    path, _, rest = word.partition("?")
    out: dict[str, str] = {}
    for pair in filter(None, rest.split("&")):
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError(f"{word}: {pair!r} is not understood; write arguments as ?name=value&other=value")
        out[name] = value
    return path, out


def expanded(path: Path, arguments: dict[str, str]) -> bytes:
    """The URDF that a xacro file stands for."""
    read_bytes(path)
    try:
        from xacrodoc import XacroDoc, packages
    except ImportError:
        raise InputError(
            f"{path}: expanding xacro needs xacrodoc; {EXTRA}, or give a .urdf file",
            code="extra-missing",
            file=str(path),
        ) from None
    packages.walk_up_from(str(path.resolve().parent))
    try:
        doc = XacroDoc.from_file(str(path.resolve()), subargs=arguments or None, resolve_packages=False)
        return str(doc.to_urdf_string()).encode()
    except Exception as error:
        raise InputError(
            f"{path}: cannot be expanded ({type(error).__name__}: {_one_line(error)}); check its arguments "
            "(FILE.xacro?name=value) and that the packages it includes lie beside it",
            code="xacro",
            file=str(path),
        ) from None


def _one_line(error: Exception) -> str:
    words = " ".join(str(error).split())
    return words if len(words) <= 200 else f"{words[:200]} ..."

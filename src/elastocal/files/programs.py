"""The files of one robot program: what belongs to it is found beside it, and corrected files go elsewhere.

Loads may be given by line of the program in a CSV file, from each line on, until the next one:

    line,fx_N,fy_N,fz_N,payload_kg
    1,0,0,0,20
    40,-400,0,-150,20
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.arguments import checked
from elastocal.compensation.posts.post import OTHERS, is_program, parsed, post_for, post_in, post_kinds, post_of
from elastocal.compensation.process import LineLoads
from elastocal.compensation.program import Given, Program
from elastocal.errors import (
    ConflictError,
    FileError,
    InfeasibleError,
    InputError,
    MissingError,
    RangeError,
    TooFewError,
)
from elastocal.files.opened import read_bytes
from elastocal.files.tables.configurations import WRENCH
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.raw import Field, add_once, quantity_of, si_columns
from elastocal.files.units import DIMENSIONS, FORCE, MOMENT
from elastocal.files.write import make_folder, write_files
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

if TYPE_CHECKING:
    from elastocal.compensation.correction import Correction
    from elastocal.model.robot import Robot


SHARED = ("$config.dat",)
"""Files of a controller that hold the frames of all its programs."""


@checked()
def read_program(
    source: str | PathLike[str] | Mapping[str, bytes | str], language: str = "", *,
    bases: Mapping[str, Pose] | None = None, tools: Mapping[str, Pose] | None = None, orientation: Array | None = None,
    rotary: str = "",
) -> Program:  # fmt: skip
    """A robot program from a file with all that belongs to it, from a text, or from contents by file name.

    A text (of several lines) needs its ``language``.  ``bases`` (in the robot's base; of FANUC and Yaskawa in the
    controller's own, as the pendant shows them) and ``tools`` (on the flange) are frames that the files leave open, by
    the names that the program uses; ``orientation`` (3, 3) is that of the tool where the program gives points only,
    ``rotary`` says what A B C of G-code turn.
    """
    given = Given(dict(bases or {}), dict(tools or {}), orientation, rotary)
    if isinstance(source, Mapping):
        files = {name: text.encode() if isinstance(text, str) else bytes(text) for name, text in source.items()}
        return parsed(files, given, language)
    if isinstance(source, str) and len(source.splitlines()) > 1:
        if not language:
            raise MissingError(
                f"a program as text needs its language, one of {', '.join(post_kinds())}",
                parameter="language",
                allowed=tuple(post_kinds()),
            )
        name = f"program{post_in(language).suffixes[0]}"
        return parsed({name: source.encode()}, given, language)
    if not str(source):
        raise MissingError(
            "the program has no name and no text; give its path or its lines", parameter="source", value=""
        )
    path = Path(source)
    found = program_files(path, language)
    given = replace(given, beside=called_files(path, found, language))
    return parsed({p.name: data for p, data in found.items()}, given, language, str(path.parent))


def program_files(path: Path, language: str = "") -> dict[Path, bytes]:
    """The bytes of every file: the program, its companions of the same name, shared data."""
    post = (post_of(language) if language else None) or post_for(path.name)
    files = {path: read_bytes(path)}
    if post.companions:
        stem, endings = path.stem.lower(), (*post.suffixes, *post.companions)
        near = sorted(p for p in path.parent.iterdir() if p.is_file() and not p.samefile(path))
        for other in near:
            belongs = other.stem.lower() == stem and other.suffix.lower() in endings
            if belongs or other.name.lower() in SHARED:
                files[other] = read_bytes(other)
    return files


def called_files(path: Path, files: Mapping[Path, bytes], language: str = "") -> dict[str, bytes]:
    """Files beside a program whose routines it calls, or these call, with what belongs to them, by name."""
    post = (post_of(language) if language else None) or post_for(path.name)
    endings, out = (*post.suffixes, *post.companions), dict[str, bytes]()
    names = {name for data in files.values() for name in post.calls(data)}
    if not names:
        return {}
    others = [p for p in sorted(path.parent.iterdir()) if p.suffix.lower() in endings and p.is_file()]
    others = [p for p in others if p.name not in {f.name for f in files}]
    while new := [p for p in others if p.stem.upper() in names and p.name not in out]:
        for other in new:
            out[other.name] = read_bytes(other)
            names |= post.calls(out[other.name])
    return out


def corrected_program(
    path: Path, given: Given, out: Path | None, correct: Callable[..., Correction], near: Array | None = None,
    truth: Robot | None = None, progress: Callable[[int, int, str], None] | None = None,
) -> Correction:  # fmt: skip
    """The correction of a program file by ``correct``, which takes a program; of a very long one piece by piece."""
    from elastocal.compensation.streamed import streamed

    found, origin = program_files(path), str(path.parent)
    files, given = {p.name: data for p, data in found.items()}, replace(given, beside=called_files(path, found))
    if out is not None:
        corrected_places(out, [path.parent / name for name in files], dict.fromkeys(files, False))
    load, post = correct.keywords["load"], post_for(path.name)  # type: ignore[attr-defined]
    whole = load.lines or load.lead_lines or load.lead_length or load.by_line is not None
    run = None if whole else post.long(files)
    if run is not None:
        correction = streamed(
            run, given, origin,
            lambda program, start: correct(program, near=near if start is None else start, judged=False),
            lambda program, _: correct(program, near=near, truth=truth), progress,
        )  # fmt: skip
        if correction is not None:
            return correction
    return correct(parsed(files, given, post.kind, origin), near=near, truth=truth, progress=progress)


def write_correction(correction: Correction, out: str | PathLike[str]) -> tuple[Path, ...]:
    """Write a corrected program into a folder, or one file, never over the old one."""
    places = correction_files(correction, Path(out))
    for folder in {place.parent for place in places}:
        make_folder(folder)
    write_files(places)
    return tuple(places)


def correction_files(correction: Correction, out: Path) -> dict[Path, bytes]:
    """Contents of a corrected program by the place where they go; one of which nothing is corrected is refused."""
    program, new = correction.program, correction.files
    if correction.unchanged:
        raise InfeasibleError(
            f"{', '.join(program.files)}: no motion could be corrected, so there is no program to write",
            code="nothing-corrected", file=str(Path(program.origin) / next(iter(program.files))),
        )  # fmt: skip
    sources = [Path(program.origin) / name for name in program.files]
    changed = {name: new[name] != data for name, data in program.files.items()}
    return {place: new[name] for name, place in corrected_places(out, sources, changed).items()}


def programs_in(folder: Path) -> tuple[Path, ...]:
    """Programs of any known language, by name; what belongs to them is not among them."""
    return tuple(sorted(p for p in folder.iterdir() if p.is_file() and is_program(p.name)))


def unread_in(folder: Path) -> tuple[str, ...]:
    """Programs of languages that are not read, each with its language, by name: ``part.drl is Doosan DRL``."""
    files = sorted(p for p in folder.iterdir() if p.is_file() and p.suffix.lower() in OTHERS)
    return tuple(f"{p.name} is {OTHERS[p.suffix.lower()]}" for p in files)


def corrected_places(out: Path, sources: Iterable[Path], changed: Mapping[str, bool]) -> dict[str, Path]:
    """Where the files of the corrected program go, by name: one file, or a folder for several.

    Shared data is written only where it changes.
    """
    files = [p for p in sources if p.name.lower() not in SHARED or changed[p.name]]
    folder = out.is_dir() or not out.suffix
    if not folder and len(files) > 1:
        raise FileError(
            f"{out}: the program has {len(files)} files ({', '.join(p.name for p in files)}); name a folder",
            file=str(out),
            parameter="out",
        )
    places = {p.name: (out / p.name if folder else out) for p in files}
    for source in files:
        target = places[source.name]
        if target.exists() and source.exists() and target.samefile(source):
            raise InputError(
                f"{out}: would write over {source}; name another folder or file",
                code="would-replace",
                file=str(source),
                parameter="out",
            )
    return places


LINE, PAYLOAD = "line", "payload"


def read_line_loads(path: Path) -> LineLoads:
    import numpy as np

    raw = read_csv(path)
    units: dict[str, Mapping[str, float]] = {w: FORCE if w[0] == "f" else MOMENT for w in WRENCH}
    units[PAYLOAD] = DIMENSIONS["mass"]
    fields: dict[str, Field] = {}
    for place, column in enumerate(raw.header):
        name, factor = (LINE, 1.0) if column == LINE else quantity_of(raw, column, units, (LINE,))
        add_once(raw, fields, name, Field(place, factor))
    if LINE not in fields or not raw.rows:
        raise TooFewError(f"{raw.top}: needs a column line and at least one row, such as line,fx_N and 1,-400")
    first = si_columns(raw, [fields[LINE]])[:, 0]
    if np.any(np.diff(first) <= 0):
        row = int(np.argmax(np.diff(first) <= 0)) + 1
        raise ConflictError(
            f"{raw.file}, line {raw.lines[row]}: line {first[row]:g} does not follow {first[row - 1]:g}"
        )
    wrench = np.zeros((len(raw.rows), 6))
    there = [i for i, w in enumerate(WRENCH) if w in fields]
    wrench[:, there] = si_columns(raw, [fields[WRENCH[i]] for i in there])
    mass = si_columns(raw, [fields[PAYLOAD]])[:, 0] if PAYLOAD in fields else np.full(len(raw.rows), np.nan)
    if np.any(mass < 0):
        row = int(np.argmax(mass < 0))
        raise RangeError(f"{raw.file}, line {raw.lines[row]}: a payload of {mass[row]:g} kg; give a mass, not below 0")
    return LineLoads(raw.file, first, wrench, mass)

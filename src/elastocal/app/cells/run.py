"""A command called for what was typed: on a cell once for every program, each run with its trace.

The label of a run in the cell's own places is the command and, for programs, the program: ``compensate-part.src``.
A result that goes elsewhere must not replace the record and the report of the one that stands in the cell, so its
place is part of the label: ``compensate-part.src-trial`` after ``--out trial``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, get_type_hints

import typer

from elastocal.app.cells.roles import TARGETS, Command, Uses
from elastocal.app.cells.trace import running
from elastocal.app.cells.values import (
    Chosen,
    check_given,
    check_needed,
    each,
    filled,
    home_of,
    resolved,
    seen_from_cell,
    usual_place,
    with_options,
)
from elastocal.app.cli import options as o
from elastocal.errors import InputError, MissingError
from elastocal.files.cell import CellFolder


def run_command(context: typer.Context, command: Command, uses: Uses, values: dict[str, Any], typed: set[str]) -> None:
    name = command.__name__
    check_given(context, uses, values)
    home = home_of(uses, values)
    if home is None:
        check_needed(context, command, values)
        with running((name, *_words(context, values, typed))):
            command(**values)
        return
    try:
        _run_in(home, context, command, uses, values, typed)
    except InputError as error:
        raise error.reworded(f"{home.folder}: {error}" if home.folder != Path() else str(error)) from None


def _run_in(
    home: CellFolder, context: typer.Context, command: Command, uses: Uses, values: dict[str, Any], typed: set[str]
) -> None:
    from elastocal.app.cli.output import gathered_answers

    name = command.__name__
    chosen = resolved(home, name, uses, seen_from_cell(values, home))
    words = (name, *_words(context, seen_from_cell(values, home), typed))
    programs = _programs(home, chosen) if "program" in uses.roles else (None,)
    chosen = _with_unread(home, chosen) if "program" in uses.roles else chosen
    with gathered_answers("programs") if len(programs) > 1 else nullcontext():
        for program in programs:
            one = chosen if program is None else replace(chosen, values={**chosen.values, "program": program})
            one = with_options(home, command, one, typed, program)
            label = run_label(home, name, uses, one.values, typed)
            one = filled(home, uses, one, label)
            check_needed(context, command, one.values)
            seed, notes = one.values.get("seed"), (*one.notes, *_not_used(home, uses))
            settings, places = _settings(home, name, one), _elsewhere(home, command, one, typed)
            with running(
                words, home, label=label, seed=seed, settings=settings, notes=notes, typed=places, alone=uses.alone
            ):
                _make_folders(uses, one)
                with _named_in_cell(home, one):
                    command(**one.values)


@contextmanager
def _named_in_cell(home: CellFolder, chosen: Chosen) -> Iterator[None]:
    """An error of an option that stands in cell.yaml says so."""
    try:
        yield
    except InputError as error:
        if error.parameter not in chosen.stated:
            raise
        option = f"--{error.parameter.replace('_', '-')}"
        raise error.reworded(f"{error} ({option} stands in cell.yaml)") from None


def _elsewhere(home: CellFolder, command: Command, chosen: Chosen, typed: set[str]) -> tuple[Path, ...]:
    """Places to write to that the user has typed and that lie outside of the cell, by their names alone."""
    hints = get_type_hints(command, include_extras=True)
    written = [p for p, h in hints.items() if {o.WRITTEN, o.FOLDER} & set(getattr(h, "__metadata__", ()))]
    given = [Path(os.path.normpath(home.root / v)) for p in written if p in typed for v in each(chosen.values[p])]
    return tuple(path for path in given if not path.is_relative_to(home.root))


def _programs(home: CellFolder, chosen: Chosen) -> tuple[Path, ...]:
    """The program that was named, or all in the folder of programs."""
    from elastocal.files.programs import programs_in

    place = Path(chosen.values["program"])
    folder = home.root / place
    if not folder.is_dir():
        return (place,)
    programs = tuple(place / p.name for p in programs_in(folder))
    if not programs:
        raise MissingError(
            f"{place.as_posix()} holds no program that can be corrected; put one there (docs/programs.md)"
        )
    return programs


def _with_unread(home: CellFolder, chosen: Chosen) -> Chosen:
    """A note on programs in the folder that no post reads."""
    from elastocal.files.programs import unread_in

    folder = home.root / Path(chosen.values["program"])
    left = unread_in(folder) if folder.is_dir() else ()
    notes = (f"Not corrected, since its language is not read: {'; '.join(left)}.",) if left else ()
    return replace(chosen, notes=(*chosen.notes, *notes))


def _settings(home: CellFolder, name: str, chosen: Chosen) -> dict[str, Any]:
    from elastocal.app.cells.freshness import setting, usual_settings

    return {key: setting(home, key, name) for key in dict.fromkeys((*chosen.keys, *usual_settings(name)))}


def _not_used(home: CellFolder, uses: Uses) -> tuple[str, ...]:
    """What an answer from the robot file does without."""
    if not (uses.nominal and home.path("calibration").exists()):
        return ()
    place = home.places["calibration"].as_posix()
    return (
        f"{place} exists and is not used here; predict uses it, and 'export --yaml' writes a calibrated robot file.",
    )


def _make_folders(uses: Uses, chosen: Chosen) -> None:
    """Git keeps no empty folders: those of the results are made again."""
    from elastocal.files.write import make_folder

    outputs = {f.parameter: f for f in uses.fills if f.output}
    for parameter in (*outputs, "report", "csv", "out"):
        value = chosen.values.get(parameter)
        if isinstance(value, Path) and ".." not in value.parts and not value.is_absolute():
            whole = parameter in outputs and not value.suffix
            make_folder(value if whole else value.parent)


def _words(context: typer.Context, values: Mapping[str, Any], typed: set[str]) -> Iterator[str]:
    """What was typed after the name of the command, in the order of its help."""
    for parameter in context.command.params:
        if parameter.name not in typed:
            continue
        value, option = values[parameter.name], parameter.opts[0]
        if parameter.param_type_name == "argument":
            yield from map(_word, each(value))
        elif isinstance(value, tuple):
            yield from (option, *map(_word, value))
        else:
            yield from (w for v in each(value) for w in ((option,) if v is True else (option, _word(v))))


def _word(value: Any) -> str:
    """As it can be typed on any system."""
    return value.as_posix() if isinstance(value, PurePath) else str(value)


def run_label(home: CellFolder, name: str, uses: Uses, values: Mapping[str, Any], typed: set[str]) -> str:
    """``values`` are seen from the cell, with one program where the command takes programs."""
    program = values.get("program") if "program" in uses.roles else None
    usual = name if program is None else f"{name}-{Path(program).name}"
    own = _own_place(home, uses, values, typed, usual)
    return usual if own is None else "-".join((usual, *_place_words(home, own)))


def _own_place(home: CellFolder, uses: Uses, values: Mapping[str, Any], typed: set[str], usual: str) -> Path | None:
    """The first typed place that is not the cell's; what only adds to results in the cell is no place of its own."""
    given = {p: Path(values[p]) for p in TARGETS if p in typed and p not in uses.roles and values[p] is not None}
    fills = [f for f in uses.fills if f.output and not any(p in given for p in f.unless)]
    for fill in fills:
        if given.get(fill.parameter, usual_place(home, fill, usual)) != usual_place(home, fill, usual):
            return given[fill.parameter]
    return None if fills else next(iter(given.values()), None)


def _place_words(home: CellFolder, place: Path) -> tuple[str, ...]:
    """The folders that lead to a place from the cell, but for those of its reports, and its name without an ending."""
    known = home.place("reports")
    seen = place.relative_to(known) if place.is_relative_to(known) else place
    folders = (p for p in seen.parent.parts if p not in ("..", seen.anchor))
    return (*folders, seen.stem if seen.suffix else seen.name)

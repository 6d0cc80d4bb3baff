"""The values that a command is called with on a cell: what was typed, then cell.yaml, then the places of the cell.

What was typed is looked at before anything is computed: words in the wrong order, files that are not there, gaps.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_type_hints

import typer

from elastocal.app.cells.roles import FIRST, USES, Fill, Uses
from elastocal.app.cli.command import declared, example
from elastocal.errors import ConflictError, FormatError, InputError, MissingError, RangeError, UnknownNameError
from elastocal.files.cell import CellFolder, is_cell, read_cell, tables_in
from elastocal.files.opened import path_of, seen_from
from elastocal.files.typed import Misfit, of_type
from elastocal.untrusted import shell_line
from elastocal.values import dataclass

WORDS = ("robot", "truth", "source")
"""Parameters whose text may be the path of a robot or plan file."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """Values for a command, the keys of cell.yaml that gave some of them, and what is to be said of its options.

    ``stated`` are parameters that cell.yaml gives.
    """

    values: Mapping[str, Any]
    keys: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()

    def with_value(self, parameter: str, value: Any, key: str) -> Chosen:
        return replace(self, values={**self.values, parameter: value}, keys=tuple(dict.fromkeys((*self.keys, key))))


KNOWN = ("calibration", "robot")
"""What a program is corrected by."""


def home_of(uses: Uses, values: Mapping[str, Any]) -> CellFolder | None:
    """The first cell that is named; results go there.  A program alone is of the cell that it lies in."""
    for parameter in uses.roles:
        for value in each(values.get(parameter)):
            if is_cell(Path(value)):
                return read_cell(Path(value))
    if "program" not in uses.roles or values.get("program") is None or any(values.get(p) for p in KNOWN):
        return None
    folders = Path(values["program"]).parents
    return next((read_cell(folder) for folder in folders if is_cell(folder)), None)


def each(value: Any) -> tuple[Any, ...]:
    return () if value is None else tuple(value) if isinstance(value, list) else (value,)


def seen_from_cell(values: Mapping[str, Any], home: CellFolder) -> dict[str, Any]:
    """Paths as typed, seen from the folder of the cell."""
    return {k: _move(k, v, home.folder) for k, v in values.items()}


def _move(parameter: str, value: Any, folder: Path) -> Any:
    from elastocal.files.robot.read import robot_file

    if isinstance(value, list):
        return [_move(parameter, v, folder) for v in value]
    if isinstance(value, Path):
        return Path(_from_cell(value, folder))
    if isinstance(value, str) and parameter in WORDS and (robot_file(value) is not None or is_cell(Path(value))):
        return _from_cell(value, folder)
    return value


def _from_cell(path: Path | str, folder: Path) -> str:
    """Within the cell by its name; elsewhere from where the cell really stands, which may be behind a link."""
    within = seen_from(path, folder)
    if not within.startswith(".."):
        return within
    whole = Path(os.path.abspath(path))
    return seen_from(whole.parent.resolve() / whole.name, folder.resolve())


def resolved(home: CellFolder, name: str, uses: Uses, values: Mapping[str, Any]) -> Chosen:
    """Every folder of a cell replaced by what it stands for."""
    out = Chosen(values)
    if name == "calibrate" and (bare := _bare_tables(home, values)):
        values = {**values, "tables": list(bare)}
        out = Chosen(
            values, notes=(f"There is no {home.places['campaign'].as_posix()}; the tables beside it are read.",)
        )
    for parameter, role in uses.roles.items():
        value = values.get(parameter)
        places = [home.root / Path(v) for v in each(value)]
        if not any(is_cell(folder) for folder in places):
            continue
        role = "robot" if _of_robot(name, values) else role
        new = [_place(home, folder, role, parameter) for folder in places]
        kind: Any = Path.as_posix if isinstance(each(value)[0], str) else Path
        listed = [kind(t) for p in new for t in _tables(home, p)] if isinstance(value, list) else kind(new[0])
        out = out.with_value(parameter, listed, role)
    return out


def _of_robot(name: str, values: Mapping[str, Any]) -> bool:
    """Whether the cell stands for its robot: where a plan, or bare tables, are given beside it."""
    from elastocal.files.tables.records import is_campaign

    tables = [Path(t) for t in each(values.get("tables"))]
    bare = name == "calibrate" and bool(tables) and not any(is_campaign(t) for t in tables)
    return bare or (name == "assess" and values.get("plan") is not None)


def _bare_tables(home: CellFolder, values: Mapping[str, Any]) -> tuple[Path, ...]:
    """Tables in the folder of campaigns, where it holds no campaign file and none was typed."""
    own = Path(values["campaign"])
    if values.get("tables") or not is_cell(home.root / own) or home.path("campaign").exists():
        return ()
    folder = home.place("campaign").parent
    return tables_in(home, folder) if (home.root / folder).is_dir() else ()


def _place(home: CellFolder, folder: Path, role: str, parameter: str) -> Path:
    """The place of a cell, seen from the home cell; a plain path stays."""
    if not is_cell(folder):
        return Path(seen_from(folder, home.root))
    cell = home if folder.samefile(home.root) else read_cell(folder)
    if parameter != "out" and not cell.path(role).exists():
        raise _absent(cell, role)
    return Path(seen_from(cell.path(role), home.root))


def _tables(home: CellFolder, place: Path) -> tuple[Path, ...]:
    tables = tables_in(home, place)
    if not tables:
        message = f"{place.as_posix()} holds no table; put CSV files there"
        raise InputError(message, code="no-file", file=place.as_posix())
    return tables


def _absent(cell: CellFolder, role: str) -> InputError:
    place, todo = cell.places[role].as_posix(), FIRST.get(role, "put the table there")
    message = f"{place} is not there; {todo} (another place can be named under '{role}' in cell.yaml)"
    return InputError(message, code="no-file", file=place, value=role)


PROGRAMS = "programs"
"""Key of the options of single programs, by their file names."""


def with_options(
    home: CellFolder, command: Callable[..., None], chosen: Chosen, typed: set[str], program: Path | None = None
) -> Chosen:
    """Options of cell.yaml for what was not typed, neither itself nor in another way: first those of the program."""
    name = command.__name__
    for other in home.options:
        declared(other)
        if other not in USES:
            declared()
            where = ("options", other)
            raise UnknownNameError(
                "command", other, sorted(USES), home.located.where(where), **home.located.place(where)
            )
    options = home.options.get(name, {})
    own = {} if program is None else _of_program(home, name, program)
    place: tuple[str, ...] = ("options", name)
    if own:
        chosen = _with_some(home, command, chosen, typed, own, (*place, PROGRAMS, program.name if program else ""))
    general = {k: v for k, v in options.items() if k != PROGRAMS or program is None}
    bound = next((k for k in general if str(k).replace("-", "_") in USES[name].by_line), None)
    if bound is not None:
        known = program.name if program else "part.src"
        message = f"{bound} is of one program: write it under {PROGRAMS}, as {PROGRAMS}: {{{known}: {{{bound}: ...}}}}"
        raise home.located.error((*place, bound), message, ConflictError)
    return _with_some(home, command, chosen, typed | {str(k).replace("-", "_") for k in own}, general, place)


def _of_program(home: CellFolder, name: str, program: Path) -> Mapping[str, Any]:
    """Options for one program; every program that is named must be in the cell."""
    place = ("options", name, PROGRAMS)
    stated = home.options.get(name, {}).get(PROGRAMS, {})
    if not isinstance(stated, dict) or not all(isinstance(v, dict) for v in stated.values()):
        raise home.located.error(
            place, "write the name of a program and its options: {part.src: {force: ...}}", FormatError
        )
    folder = home.path("programs")
    for key in stated:
        if key != program.name and not (folder / str(key)).is_file():
            there = [p.name for p in sorted(folder.iterdir()) if p.is_file()] if folder.is_dir() else []
            where = (*place, str(key))
            raise UnknownNameError("program", str(key), there, home.located.where(where), **home.located.place(where))
    return dict(stated.get(program.name, {}))


def _with_some(
    home: CellFolder, command: Callable[..., None], chosen: Chosen, typed: set[str], options: Mapping[str, Any],
    whole: tuple[str, ...],
) -> Chosen:  # fmt: skip
    """Options that stand in one ``place`` of cell.yaml."""
    name = command.__name__
    taken, left = [], []
    hints = get_type_hints(command)
    hints.pop("return", None)
    for key, value in options.items():
        parameter = str(key).replace("-", "_")
        place = (*whole, key)
        main = next(iter(USES[name].roles), "")  # what the cell itself stands for
        if parameter not in hints or parameter in (main, "json"):
            valid = [h for h in hints if h not in (main, "json")]
            raise UnknownNameError("option", key, valid, home.located.where(place), **home.located.place(place))
        given = _option(home, place, hints[parameter], value)
        if others := USES[name].other_ways(parameter, typed):
            left.append(f"--{parameter.replace('_', '-')} of cell.yaml is not used, since {_typed(others)} was typed.")
        elif parameter not in typed:
            taken += [f"--{parameter.replace('_', '-')} {v}" for v in each(value)]
            chosen = chosen.with_value(parameter, given, "options")
            chosen = replace(chosen, stated=(*chosen.stated, parameter))
    notes = (f"From cell.yaml: {'; '.join(taken)}.",) if taken else ()
    return replace(chosen, notes=(*chosen.notes, *notes, *left))


def _typed(parameters: tuple[str, ...]) -> str:
    return " and ".join(f"--{p.replace('_', '-')}" for p in parameters)


def _option(home: CellFolder, place: tuple[str, ...], hint: Any, value: Any) -> Any:
    words = [str(v) if _number(v) and "str" in str(hint) else v for v in each(value)]
    given = words if "list" in str(hint) or isinstance(value, list) else words[0] if words else value
    try:
        converted = of_type(hint, given)
    except Misfit:
        converted = _converted(home, place, hint, given, value)
    return [_here(v) for v in converted] if isinstance(converted, list) else _here(converted)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _converted(home: CellFolder, place: tuple[str, ...], hint: Any, given: Any, value: Any) -> Any:
    """By pydantic, which takes time to load; ``value`` is what stands in the file."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(hint).validate_python(given)
    except ValidationError as error:
        message = error.errors()[0]["msg"].replace("Input should be", "write")
        raise home.located.error(place, f"{value!r} does not fit; {message}", RangeError) from None


def _here(value: Any) -> Any:
    return path_of(str(value)) if isinstance(value, Path) else value


def filled(home: CellFolder, uses: Uses, chosen: Chosen, label: str) -> Chosen:
    """Places of the cell for what is still open; ``label`` is that of the run."""
    for fill in uses.fills:
        if any(chosen.values.get(p) is not None for p in (fill.parameter, *fill.unless)):
            continue
        if not fill.output and not home.path(fill.place).exists():
            raise _absent(home, fill.place)
        kind: Any = Path.as_posix if fill.parameter in WORDS else Path
        chosen = chosen.with_value(fill.parameter, kind(usual_place(home, fill, label)), fill.place)
    return chosen


def usual_place(home: CellFolder, fill: Fill, label: str) -> Path:
    """Where the cell keeps what a parameter names."""
    place = home.place(fill.place)
    folder = place.parent if fill.parent else place
    return folder / fill.name.format(label) if fill.name else folder


def check_given(context: typer.Context, uses: Uses, values: Mapping[str, Any]) -> None:
    """Refuse what cannot be right, whatever else is missing."""
    _check_order(context, values)
    for parameter, role in uses.roles.items():
        if parameter == "out" or (parameter == "robot" and values.get("plan", "") is None):
            continue  # a campaign alone may stand where assess takes a robot and a plan
        for value in each(values.get(parameter)):
            if isinstance(value, Path) and not (values.get("tables") and not value.suffix):
                _check_there(value)
            elif role in ("calibration", "plan") and Path(value).suffix.lower() == ".json":
                _check_there(Path(value))
            elif not is_cell(Path(value)):
                _check_robot(str(value))  # also where tables follow a robot in place of a campaign


def check_needed(context: typer.Context, command: Any, values: Mapping[str, Any]) -> None:
    """Refuse what neither the command line nor a cell gave."""
    needed = [p.name for p in inspect.signature(command).parameters.values() if p.default is inspect.Parameter.empty]
    for name in (p for p in needed if values[p] is None):
        shown = f"--{name}" if name == "out" else name.upper()
        message = f"{shown} is missing; give it, or a cell{example(context.command)}"
        raise MissingError(message, parameter=name)


def _check_order(context: typer.Context, values: Mapping[str, Any]) -> None:
    """A robot and a table that have changed places."""
    given = {p.name: values[p.name] for p in context.command.params if p.param_type_name == "argument"}
    robot = given.pop("robot", None)
    others = [str(v) for v in given.values() if v is not None]
    if robot is not None and others and _is_robot(others[0]) and not _is_robot(robot):
        raise FormatError(f"{robot} stands where a robot is meant, and {others[0]} is one{example(context.command)}")


def _is_robot(word: str) -> bool:
    from elastocal.files.robot.read import robot_file, shipped_robots

    return robot_file(word) is not None or word in shipped_robots() or is_cell(Path(word))


def _check_there(path: Path) -> None:
    if not path.exists():
        raise InputError(f"{path}: no such file; check the name", code="no-file", file=str(path))
    if path.is_dir() and not is_cell(path):
        made = shell_line("new", path, "--robot", "ROBOT")
        message = f"{path}: is a folder and not a cell; give a file, or make a cell by: {made}"
        raise InputError(message, code="no-cell", file=str(path))


def _check_robot(word: str) -> None:
    from elastocal.files.robot.read import check_word, robot_file

    if robot_file(word) is not None or (Path(word).is_dir() and not _is_robot(word)):
        _check_there(Path(word))
    else:
        check_word(word, Path(word))

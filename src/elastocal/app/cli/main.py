"""The command line: all commands of ``app/commands``, grouped in the help, and how it ends.

An exit code, and one sentence on stderr for what a user can put right.
"""

from __future__ import annotations

import io
import os
import re
import sys
from functools import cache
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from elastocal import __version__
from elastocal.app.cells.roles import in_cell
from elastocal.app.cli.command import COMMANDS, GROUPS, command_names, declared, example, on_command_line
from elastocal.app.cli.console import PLAINER
from elastocal.app.cli.words import PlainValues
from elastocal.errors import InputError
from elastocal.spatial.threads import hold_process
from elastocal.untrusted import in_brief, shell_word

hold_process()


class _Grouped(TyperGroup):
    """Help with one list for every group of commands."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        longest = max(len(name) for name in self.commands)
        for group, title in GROUPS.items():
            names = [c.name for c in COMMANDS.values() if c.group == group]
            shown = [(n, self.commands[n]) for n in self.list_commands(ctx) if n in names]
            with formatter.section(title):
                formatter.write_dl([(f"{n:<{longest}}", c.get_short_help_str(200)) for n, c in shown])


_VERSION = f"elastocal {__version__}"


def _version(asked: bool) -> None:
    if asked:
        typer.echo(_VERSION)
        raise typer.Exit


def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


def _line(options: bool) -> typer.Typer:
    """The command line without any command; ``options`` are those that may stand before one."""
    app = typer.Typer(
        name="elastocal",
        cls=_Grouped,
        help="Calibration of serial robots that must be accurate under load. Start with: elastocal demo",
        no_args_is_help=True,
        add_completion=False,
        add_help_option=options,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    app.callback()(_top if options else lambda: None)
    return app


@cache
def command_line(only: str = "") -> typer.Typer:
    """All commands, or one of them alone: then nothing stands before it, and no value but its own is parsed."""
    app = _line(options=not only)
    for command in declared(only):
        app.command(cls=PlainValues)(in_cell(on_command_line(command), command.cell))
    return app


def _contents() -> typer.Typer:
    """All commands by name and help, without their options, which take longer to make than to import."""
    app = _line(options=True)
    for command in declared():
        app.command(command.name, help=command.function.__doc__)(lambda: None)
    return app


def __getattr__(name: str) -> typer.Typer:
    """``app``: all commands, made when somebody asks for them."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return command_line()


_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?[,;]?")
_NOT_A_NUMBER = re.compile(r"(Input should be|'[^']*' is not) a valid (?P<kind>integer|number|float).*")
_LISTS = ("--at", "--force", "--moment", "--torque", "--position", "--rpy", "--near")


def main() -> NoReturn:
    """Run the words of the command line and leave; 0 done, 2 a user's mistake, 130 stopped, 141 nobody reads."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAINER)  # a console of another encoding must not break the answer
    try:
        code = run_words(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader has gone: keep the interpreter from complaining when it flushes stdout at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    sys.exit(code)


def run_words(words: list[str]) -> int:
    """The exit code of ``elastocal words``: one sentence instead of a traceback for what a user can put right."""
    if words == ["--version"]:  # by itself without the parser, which would have to know all commands
        print(_VERSION)
        return 0
    command = _parser(words[0] if words and words[0] in command_names() else "")
    try:
        with command.make_context("elastocal", list(words)) as context:
            command.invoke(context)
    except typer.Exit as left:
        return int(left.exit_code)
    except InputError as error:
        return _failed(_with_option(error, command, words), 2)
    except (KeyboardInterrupt, typer.Abort):
        return _failed("stopped", 130)
    except BrokenPipeError:
        raise
    except MemoryError:
        message = (
            "the memory of this machine is not enough for it; give fewer rows, poses or candidates, or a smaller map"
        )
        return _failed(message, 2)
    except RecursionError:
        return _failed("something in the input is nested too deeply; write it out plainly", 2)
    except OSError as error:
        return _failed(f"{error.filename or 'file'}: {error.strerror or error}", 2)
    except Exception as error:
        if not hasattr(error, "format_message"):  # what the parser of the command line raises
            raise
        if _means_this_cell(error, words):
            return run_words([*words, "."])
        if (named := _named(error, words)) is not None:
            return run_words(named)
        return _misused(error, words)
    return 0


def _means_this_cell(error: Any, words: list[str]) -> bool:
    """Whether a cell was left out by someone who stands in its folder."""
    param = getattr(error, "param", None)
    missing = type(error).__name__ == "MissingParameter" and getattr(param, "param_type_name", "") == "argument"
    may_be_cell = "CELL" in str(getattr(param, "metavar", ""))
    return missing and may_be_cell and "." not in words and os.path.isfile("cell.yaml")


def _named(error: Any, words: list[str]) -> list[str] | None:
    """The words with the option that a robot or a calibration belongs to, where one was typed as a further argument."""
    from elastocal.app.cli.words import with_options

    context = getattr(error, "ctx", None)
    if context is None or type(error).__name__ != "UsageError":
        return None
    return with_options(words, [flag for p in context.command.params for flag in p.opts])


def _with_option(error: InputError, group: Any, words: list[str]) -> str:
    """The sentence, with the option of the command that the library knows as a parameter."""
    name = next((w for w in words if w in group.commands), "")
    params = group.commands[name].params if name else ()
    flags = {p.name: (p.opts[0], p.metavar or "") for p in params if p.param_type_name == "option"}
    parameter, sentence = getattr(error, "parameter", ""), str(error)
    flag, form = flags.get(parameter, (None, ""))
    suggested = [(flags[p][0], v) for p, vs in getattr(error, "suggested", {}).items() if p in flags for v in vs]
    typed = " ".join(f"{flag} {shell_word(v)}" for flag, v in suggested)
    if typed:
        return f"{sentence}; with your own numbers, such as: {typed}"
    if flag is None or flag in sentence:
        return sentence
    stated = f"{parameter} "
    typed = flag if any(w.partition("=")[0] == flag for w in words) else f"{flag} {form}".rstrip()
    return f"{flag} {sentence.removeprefix(stated)}" if sentence.startswith(stated) else f"{sentence} ({typed})"


@cache
def _parser(only: str) -> Any:
    """One command with its options, or what all are for; they keep nothing of a run."""
    return typer.main.get_command(command_line(only) if only else _contents())


def _misused(error: Any, words: list[str]) -> int:
    """A wrong command, option or value; without any word the parser's message is the help."""
    if not words:
        print(error.format_message())
        return 2
    unquoted = _unquoted(words)
    message = _NOT_A_NUMBER.sub(_number_wanted, " ".join(str(error.format_message()).split()).rstrip("."))
    context = getattr(error, "ctx", None)
    asked = "elastocal --help" if context is None else f"{context.command_path} --help"
    shown = "" if context is None or type(error).__name__ != "MissingParameter" else example(context.command)
    return _failed(unquoted or f"{message[:1].lower()}{message[1:]}{shown or f'; see {asked}'}", 2)


def _number_wanted(parser: re.Match[str]) -> str:
    return "give a whole number" if parser["kind"] == "integer" else "give a number, without a unit"


def _unquoted(words: list[str]) -> str:
    """A hint where numbers that belong together were typed as words of their own: --at 0 -90 90."""
    for i, word in enumerate(words):
        if word in _LISTS:
            rest = words[i + 1 :]
            count = next((n for n, w in enumerate(rest) if not _NUMBER.fullmatch(w)), len(rest))
            if count > 1:
                return f'put the values of {word} in quotes: {word} "{" ".join(rest[:count])}"'
    return ""


def _failed(sentence: str, code: int) -> int:
    print(f"elastocal: {in_brief(sentence)}", file=sys.stderr)
    return code

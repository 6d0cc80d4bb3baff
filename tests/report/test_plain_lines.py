"""Text for a pipe or a file is printed without rich, and is what rich prints there; where colours are asked for it is
loaded."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from report.samples import EVERY_BLOCK
from rich.console import Console

from elastocal.app.cli.output import COLOURS, print_text
from elastocal.report.blocks import Code

REPORT = replace(
    EVERY_BLOCK, notes=("WARNING ONE: a tab\there, and \x1b[31mred\x1b[0m.",), hint="[bold]Hint[/bold] :ok:"
)
TABBED = Code("program", "PTP\t{A1 0}\n\tLIN {X 1}\n")


@pytest.fixture(autouse=True)
def without_a_wish(monkeypatch):
    for name in COLOURS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "90")


def printed(capsys) -> str:
    section = REPORT.sections[0]
    print_text(replace(REPORT, sections=(replace(section, blocks=(*section.blocks, TABBED)), *REPORT.sections[1:])))
    return capsys.readouterr().out


def test_it_is_what_rich_prints(capsys, monkeypatch):
    plain = printed(capsys)
    monkeypatch.setattr("elastocal.app.cli.output._Plain", lambda width: Console(width=width, highlight=False))
    assert plain == printed(capsys)
    assert "PTP     {A1 0}" in plain
    assert "\\x1b[31mred" in plain


def test_rich_is_loaded_for_colours_alone(capsys, monkeypatch):
    for module in [m for m in sys.modules if m.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, module)
    assert "\x1b[" not in printed(capsys)
    assert "rich" not in sys.modules
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m" in printed(capsys)
    assert "rich" in sys.modules

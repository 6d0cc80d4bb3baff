"""The tables of docs/campaigns.md are complete, and their examples can be read."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from files.campaign_desk import DEFLECTION, Desk
from oracle.refusals import refused

from elastocal.files.campaign.column_titles import GROUPS
from elastocal.files.campaign.file import CampaignEntry
from elastocal.measure.sources.source import source_kinds

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "campaigns.md").read_text(encoding="utf-8")
SOURCES = re.findall(r"^\| `(\w+)` \| (.*) \| .* \| `(\{kind: .*\})` \|$", PAGE, re.MULTILINE)

OTHERS = re.findall(r"^\| `(\w+)` \| (.*) \| (\w+) \| .*\(\w+\.md\)\) \|$", PAGE, re.MULTILINE)
"""Sources of logs and contacts, which have pages of their own."""


def part(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_key_has_a_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", part("The campaign file"), re.MULTILINE)
    assert sorted(rows) == sorted(f.name for f in dataclasses.fields(CampaignEntry))


def test_every_column_has_a_row() -> None:
    cells = " ".join(re.findall(r"^\| ([^|]*) \|", part("The table"), re.MULTILINE))
    named = set(re.findall(r"`(\w+)`", cells))
    assert {q for triples in GROUPS.values() for triple in triples for q in triple} <= named
    assert {"fx", "mz", "name", "marker"} <= named


def test_every_source_has_a_row_with_all_its_keys() -> None:
    assert sorted(kind for kind, _, _ in (*SOURCES, *OTHERS)) == sorted(source_kinds())
    for kind, keys, _ in (*SOURCES, *OTHERS):
        assert sorted(re.findall(r"`(\w+)`", keys)) == sorted(f.name for f in dataclasses.fields(source_kinds()[kind]))  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "example"), [(k, e) for k, _, e in SOURCES], ids=[k for k, _, _ in SOURCES])
def test_examples_are_sources(tmp_path: Path, kind: str, example: str) -> None:
    (source,) = Desk(tmp_path).read(f"{DEFLECTION}errors: [{example}]\n").campaign.sources
    assert source.kind == kind
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{kind}` |"))
    assert ("campaign" if source.common else "reading") in row.split("|")[3]


@pytest.mark.parametrize(("kind", "per"), [(k, p) for k, _, p in OTHERS], ids=[k for k, _, _ in OTHERS])
def test_sources_of_other_readings_are_refused_by_markers(tmp_path: Path, kind: str, per: str) -> None:
    """Whatever the reader or the fit says, it names the source; and the table says whether it is drawn anew."""
    fields = {f.name: f for f in dataclasses.fields(source_kinds()[kind])}  # type: ignore[arg-type]
    source = source_kinds()[kind](**({"sd": 1.0} if "sd" in fields else {}))
    assert per == ("campaign" if source.common else "reading")
    read = Desk(tmp_path).read(DEFLECTION)
    with refused("unsupported", "deflection"):
        source.unknowns(read.campaign.measurement, read.model)

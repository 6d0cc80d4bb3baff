"""Files of other systems: the line ends, marks and encodings that spreadsheets, editors and controllers write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from files.campaign_desk import DEFLECTION, ERRORS, ROBOT, TABLE
from oracle.refusals import refused

from elastocal.files.campaign.read import read_campaign
from elastocal.files.log.read import read_log
from elastocal.files.robot.read import read_robot
from elastocal.files.tables.csv_file import read_csv
from elastocal.record.simulated import telegram_at

SAVED: dict[str, Callable[[str], bytes]] = {
    "Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "old Mac": lambda text: text.replace("\n", "\r").encode(),
    "UTF-8 with a mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "UTF-16 of a spreadsheet": lambda text: b"\xff\xfe" + text.replace("\n", "\r\n").encode("utf-16-le"),
    "UTF-16 the other way round": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
}
SPOILED: dict[str, tuple[str, str, int | None, int | None]] = {
    "UTF-16 without a mark": ("utf-16-le", "not-text", None, None),
    "cp1252": ("cp1252", "encoding", ord("ö"), 1),
}
"""How it is encoded; code, value and line of the error."""
AXES = [f"actual_q_{i}" for i in range(6)]
RTDE = " ".join(["timestamp", *AXES]) + "\n" + "".join(f"{k} 0.1 0.2 0.3 0.4 0.5 {k}\n" for k in range(4))
RSI = "".join(telegram_at(step, 4).decode() + "\n" for step in range(4))


def campaign(folder: Path, **saved: Callable[[str], bytes]) -> Any:
    texts = {"arm.yaml": ROBOT, "readings.csv": TABLE, "campaign.yaml": DEFLECTION + ERRORS}
    for name, text in texts.items():
        save = saved.get(name.partition(".")[0], str.encode)
        (folder / name).write_bytes(save("# Größe in µm, °\n" + text))
    return read_campaign(folder / "campaign.yaml")


@pytest.mark.parametrize("how", SAVED)
@pytest.mark.parametrize("which", ["arm", "readings", "campaign"])
def test_robots_tables_and_campaigns_are_the_same_however_saved(tmp_path: Path, which: str, how: str) -> None:
    plain, found = campaign(tmp_path), campaign(tmp_path, **{which: SAVED[how]})
    assert (found.campaign.readings == plain.campaign.readings).all()
    assert plain.campaign.readings.any()
    assert found.model.parameters.names == plain.model.parameters.names


def test_a_table_of_windows_is_read_and_told(tmp_path: Path) -> None:
    found = campaign(tmp_path, readings=lambda text: text.encode("cp1252"))
    assert (found.campaign.readings == campaign(tmp_path).campaign.readings).all()
    told = [n for n in found.notes if n.startswith("readings.csv: is not UTF-8; its letters are read as cp1252")]
    assert len(told) == 1


@pytest.mark.parametrize(
    ("which", "how"),
    [(w, h) for w in ("arm", "readings", "campaign") for h in SPOILED if (w, h) != ("readings", "cp1252")],
)
def test_what_cannot_be_told_is_refused_in_one_sentence(tmp_path: Path, which: str, how: str) -> None:
    encoding, code, value, line = SPOILED[how]
    file = f"{which}.csv" if which == "readings" else f"{which}.yaml"
    with refused(code, value, file=file, line=line):
        campaign(tmp_path, **{which: lambda text: text.encode(encoding)})


@pytest.mark.parametrize("how", SAVED)
def test_logs_of_a_universal_robot(tmp_path: Path, how: str) -> None:
    (tmp_path / "log.csv").write_bytes(SAVED[how](RTDE))
    log = read_log(tmp_path / "log.csv", read_robot("kuka-kr5"))
    assert log.notes[0].endswith("log.csv is read as UR RTDE record, separated by spaces.")
    assert log.q.shape == (4, 6)


@pytest.mark.parametrize("how", SAVED)
def test_logs_of_telegrams(tmp_path: Path, how: str) -> None:
    (tmp_path / "log.xml").write_bytes(SAVED[how](RSI))
    if "16" in how:
        with refused("utf-16"):
            read_log(tmp_path / "log.xml", read_robot("kuka-kr5"))
    else:
        assert read_log(tmp_path / "log.xml", read_robot("kuka-kr5")).q.shape == (4, 6)


@pytest.mark.parametrize("told", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_spreadsheet_may_tell_its_separator(tmp_path: Path, told: str) -> None:
    (tmp_path / "t.csv").write_bytes(f"{told}\r\nA1_deg;x_mm\r\n1,5;2\r\n".encode())
    raw = read_csv(tmp_path / "t.csv")
    assert (raw.header, raw.header_line, tuple(raw.rows)) == (("A1_deg", "x_mm"), 2, ((3, ("1,5", "2")),))

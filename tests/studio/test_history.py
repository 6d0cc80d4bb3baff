"""The history in the studio: recorded, checked, released with a certificate; two at once, killed, spoken to in SQL."""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from studio.studio_desk import Studio, at_new_poses, served, start
from studio.test_guard import posted

import elastocal as ec
from elastocal.files.cell import Stated
from elastocal.studio.rest import STORE

SQL = "x'); DROP TABLE entry; --"
RELEASE = {"number": "1", "title": "2026-11", "reason": "service", "who": "Kurz", "certified": "yes"}


@pytest.fixture(scope="module")
def cell(calibrated_cell: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """Every test has a cell of its own."""
    folder = tmp_path_factory.mktemp("cells")
    for name in ("certified", "checked", "twice", "sql"):
        copied(calibrated_cell, folder / name)
    with served(folder) as running:
        yield running


def copied(cell: Path, to: Path) -> None:
    shutil.copytree(cell, to)
    text = (to / "cell.yaml").read_text(encoding="utf-8")
    named = re.sub(r"(?m)^name: .*$", f"name: {to.name}", text)
    (to / "cell.yaml").write_text(named, encoding="utf-8")


def store(folder: Path) -> ec.desk.History:
    return ec.history(folder / STORE, create=False)


def test_a_release_has_the_certificate_that_its_readings_decide(cell: Studio) -> None:
    given = {"tolerance_mm": "50", "operator": "Meier", "customer": "<b>Werk 3</b>"}
    assert posted(cell, "/cell/certified/certificate", given)[0] == 303
    assert posted(cell, "/cell/certified/history/record", {"who": "Meier", "reason": "yearly"})[0] == 303
    table = at_new_poses(cell.folder / "certified" / "campaign" / "readings.csv")
    told = {**RELEASE, "seen": "1", "due": "2020-01-01"}
    status, _, text = posted(cell, "/cell/certified/history/release", {**told, "certified": ""}, ("check.csv", table))
    assert (status, "tick it" in text) == (422, True)  # nothing that was given is dropped silently
    assert posted(cell, "/cell/certified/history/release", told, ("check.csv", table))[0] == 303
    text = cell.get("/cell/certified/history")
    assert "Warning (overdue)" in text
    for kind in ("html", "json", "pdf"):
        assert f"/history/certificate/2/{kind}" in text
    _, headers, shown = cell.ask("/cell/certified/history/certificate/2/html", headers={"Cookie": cell.cookie})
    assert "PASS" in shown
    assert "<b>Werk 3" not in shown
    assert "sandbox" in headers["content-security-policy"]
    said = json.loads(cell.get("/cell/certified/history/certificate/2/json"))["certificate"]
    assert (said["outcome"], said["stated"]["authorised_by"]) == ("PASS", "Kurz")
    bearer = {"Authorization": f"Bearer {cell.token}"}
    assert cell.ask("/api/robots/certified/certificate", headers=bearer)[2].startswith("%PDF-")
    assert cell.ask("/api/robots/certified/certificate?number=1", headers=bearer)[0] == 422
    assert list((cell.folder / "certified" / ".studio" / "dropped").iterdir()) == []


def test_readings_at_check_poses_are_recorded_against_the_release(cell: Studio) -> None:
    table = (cell.folder / "checked" / "campaign" / "readings.csv").read_bytes()
    assert (
        posted(cell, "/cell/checked/history/check", {}, ("check.csv", table))[0] == 422
    )  # nothing to compare with yet
    assert posted(cell, "/cell/checked/history/record", {})[0] == 303
    assert posted(cell, "/cell/checked/history/check", {})[0] == 422
    assert posted(cell, "/cell/checked/history/check", {"reason": "monthly"}, ("check.csv", b"u,v\n1,2\n"))[0] == 422
    assert posted(cell, "/cell/checked/history/check", {"reason": "monthly"}, ("check.csv", table))[0] == 303
    with store(cell.folder) as histories:
        (made,) = histories["checked"].checks
        assert made.check is not None
        assert (made.check.of, made.reason, list(made.inputs)) == (1, "monthly", ["check.csv"])
        calibrated = ec.read_calibration(cell.folder / "checked" / "calibration" / "calibration.json")
        data = ec.read_campaign(cell.folder / "checked" / "campaign" / "campaign.yaml")[1]
        assert made.check.after.mean == pytest.approx(calibrated.validate(data).after.mean, rel=1e-6)
    assert "monthly" in cell.get("/cell/checked/history")


def test_what_has_changed_unseen_is_not_released_over(cell: Studio) -> None:
    """Two browsers: both have read the page with one entry."""
    assert posted(cell, "/cell/twice/history/record", {})[0] == 303
    plain = {**RELEASE, "seen": "1", "certified": ""}
    assert posted(cell, "/cell/twice/history/release", plain)[0] == 303
    status, _, text = posted(cell, "/cell/twice/history/release", {**plain, "title": "mine"})
    assert (status, "has changed since number" in text) == (422, True)
    with store(cell.folder) as histories:
        assert [e.release.name for e in histories["twice"].entries if e.release] == ["2026-11"]


def test_a_value_of_no_use_gets_one_sentence(cell: Studio) -> None:
    for path, said in (("history?until=soon", "until: input should be a valid integer"),
                       ("history/compare?first=1", "second: field required")):  # fmt: skip
        status, _, text = cell.ask(f"/cell/sql/{path}", headers={"Cookie": cell.cookie, "Accept": "text/html"})
        assert (status, said in text) == (422, True)


def test_a_server_that_is_killed_while_it_releases_leaves_whole_releases(calibrated_cell: Path, tmp_path: Path) -> None:
    copied(calibrated_cell, tmp_path / "one")
    with ec.history(tmp_path / STORE) as histories:
        histories.import_cell(tmp_path / "one")
    for wait in (0.15, 0.8):
        running = start(tmp_path)
        count = len(_releases(tmp_path))
        asked = threading.Thread(target=_release, args=(running, f"{wait}", count + 1), daemon=True)
        asked.start()
        time.sleep(wait)
        running.kill()
        assert running.process.stdout is not None
        running.process.stdout.close()
        asked.join(30)
        with store(tmp_path) as histories:
            assert histories.verify() == ()
            for entry in histories["one"].entries:
                if entry.release is not None:  # all of it is there, or nothing
                    assert b"Kurz" in histories.certificate("one", entry.number)
            histories.release("one", name=f"after {wait}", reason="again", who="Kurz", stated=Stated())
            assert histories["one"].released is not None


def _release(of: Studio, title: str, seen: int) -> None:
    with suppress(OSError):
        posted(of, "/cell/one/history/release", {**RELEASE, "title": title, "seen": str(seen)})


def _releases(folder: Path) -> list[str]:
    with store(folder) as histories:
        return [e.release.name for e in histories["one"].entries if e.release]


def test_sql_in_every_field_is_text(cell: Studio) -> None:
    """Every form of every page, all of its fields at once; nothing breaks and nothing is lost."""
    assert posted(cell, "/cell/sql/history/record", {"who": SQL, "reason": SQL})[0] == 303
    told = {**RELEASE, "title": SQL, "reason": SQL, "who": SQL, "certified": "", "seen": "1"}
    assert posted(cell, "/cell/sql/history/release", told)[0] == 303
    pages = ["/", "/history", *(f"/cell/sql/{p}" for p in ("", "robot", "plan", "readings", "calibrate", "program"))]
    done = set()
    for page in [*pages, "/cell/sql/history"]:
        for form in re.findall(r"<form[^>]*method=\"post\".*?</form>", cell.get(page), re.DOTALL):
            (action,) = re.findall(r'action="([^"#]*)', form)[:1]
            names = set(re.findall(r'name="(\w+)"', form)) - {"form_mark", "file"}
            status, _, text = posted(cell, action, dict.fromkeys(sorted(names), SQL))
            assert status in (303, 422), (action, status)
            assert "Traceback" not in text
            done.add(action.removeprefix("/cell/sql"))
    assert {"/cells", "/certificate", "/plan", "/robot", "/readings", "/calibrate", "/history/withdraw"} <= done
    bearer = {"Authorization": f"Bearer {cell.token}", "Content-Type": "application/json"}
    for path in ("/api/robots/x%27%20OR%201=1", "/api/robots/sql/calibration?number=1%20OR%201=1"):
        assert cell.ask(path, headers=bearer)[0] in (404, 422)
    with store(cell.folder) as histories:
        found = histories["sql"]
        assert histories.verify() == ()
        assert (found.entry(1).who, found.entry(2).release.name) == (SQL, SQL)  # type: ignore[union-attr]

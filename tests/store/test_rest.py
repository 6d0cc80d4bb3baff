"""The history in the studio and for other programs: as the library answers, behind the token."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from store.readings import calibrated

import elastocal as ec
from elastocal.studio import rest
from elastocal.studio.guard import Key
from elastocal.studio.serve import create_app

TOKEN = {"Authorization": "Bearer word"}
SCRIPT = "<script>alert(1)</script>"
PROGRAM = """DEF part()
$BASE = {X 0,Y 0,Z 0,A 0,B 0,C 0}
$TOOL = {X 0,Y 0,Z 0,A 0,B 0,C 0}
PTP {A1 0,A2 -90,A3 90,A4 0,A5 30,A6 0}
LIN {X 1900,Y 100,Z 1300,A 0,B 90,C 0}
END
"""


class Client:
    """Asks the application as a server would."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def request(self, method: str, path: str, **words: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
                return await client.request(method, path, **{"headers": TOKEN, **words})

        return asyncio.run(ask())

    def get(self, path: str) -> httpx.Response:
        return self.request("GET", path)

    def post(self, path: str, **words: Any) -> httpx.Response:
        return self.request("POST", path, **words)


@pytest.fixture
def studio(
    store: str, cals: tuple[ec.Calibration, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    """A studio of one cell; on both databases."""
    monkeypatch.setenv("ELASTOCAL_STORE", store)
    folder = tmp_path / "cells"
    (folder / "c7" / "calibration").mkdir(parents=True)
    (folder / "c7" / "cell.yaml").write_text("format: elastocal-cell/1\nname: cell-7\n")
    cals[0].save(folder / "c7" / "calibration" / "calibration.json")
    app = create_app(folder, Key(frozenset({"testserver"}), "word"))
    yield Client(app)
    if getattr(app.state, "histories", None) is not None:
        app.state.histories.close()


def form(studio: Client, action: str, **values: str) -> int:
    return studio.post(f"/cell/c7/history/{action}", data=values).status_code


def test_from_a_cell_to_a_release_in_the_browser(studio: Client) -> None:
    assert "Nothing is recorded" in studio.get("/cell/c7/history").text
    assert form(studio, "record", who=SCRIPT, reason="yearly") == 303
    assert form(studio, "record") == 422  # there already
    assert form(studio, "release", number="1", title="2026", reason="begin", who="Meier", seen="0") == 422
    assert form(studio, "release", number="1", title="2026", reason="", who="Meier", seen="1") == 422
    assert form(studio, "release", number="1", title=SCRIPT, reason="x", who="M", seen="1", due="2020-01-01") == 303
    page = studio.get("/cell/c7/history").text
    assert SCRIPT not in page
    assert "Warning (overdue)" in page
    assert "mean, last calibration" in page
    assert "cell-7" in studio.get("/history").text
    assert form(studio, "withdraw", number="2", reason="wrong", who="Meier") == 303
    assert "Nothing is released" in studio.get("/cell/c7/history").text


def test_two_are_compared(studio: Client, cals: tuple[ec.Calibration, ...], store: str) -> None:
    with ec.history(store) as histories:
        histories.add("cell-7", cals[0])
        histories.add("cell-7", calibrated(4, 2.4e-7))
    answer = studio.get("/cell/c7/history/compare?first=1&second=2")
    assert answer.status_code == 200
    assert "DIFFERS" in answer.text


def test_other_programs_get_what_the_library_says(studio: Client, cals: tuple[ec.Calibration, ...], store: str) -> None:
    with ec.history(store) as histories:
        histories.add("cell-7", cals[0])
        histories.add("cell-7", cals[1])
        histories.release("cell-7", 2, name="n", reason="r", who="w")
    ask = {"q": [[300, 30, 600]], "wrench": [0, 0, -900, 0, 0, 0], "angle": "deg", "length": "mm"}
    said = studio.post("/api/robots/cell-7/predict", json=ask).json()
    own = cals[1].predict([[300, 30, 600]], [[0, 0, -900, 0, 0, 0]], angle="deg", length="mm", axes="base")
    np.testing.assert_allclose(said["deflection"], own.deflection, rtol=1e-12)
    assert np.abs(own.deflection).max() > 1e-5
    other = studio.post("/api/robots/cell-7/predict", json={**ask, "number": 1}).json()
    assert other["deflection"] != said["deflection"]
    assert json.loads(studio.get("/api/robots/cell-7/calibration").content)["format"] == "elastocal-calibration/2"
    (line,) = studio.get("/api/robots").json()["robots"]
    assert (line["robot"], line["entries"], line["released"]["name"]) == ("cell-7", 3, "n")
    whole = studio.get("/api/robots/cell-7").json()
    assert [e["kind"] for e in whole["entries"]] == ["calibration", "calibration", "release"]
    assert {c["chart"] for c in whole["drift"]["charts"]} == set(cals[0].names)
    part = studio.get("/api/robots/cell-7?until=2&count=1").json()
    assert (part["count"], part["entries"]) == (3, whole["entries"][1:2])
    assert [c["values"] for c in part["drift"]["charts"]] == [c["values"][1:] for c in whole["drift"]["charts"]]
    assert {tuple(c["numbers"]) for c in part["drift"]["charts"]} == {(2,)}
    (bare,) = studio.post("/api/robots/cell-7/predict", json={**ask, "angle": "grad"}).json()["error"].splitlines()
    assert "deg" in bare


def test_answers_keep_to_what_openapi_says(studio: Client, cals: tuple[ec.Calibration, ...], store: str) -> None:
    """As a generated client would hold them to it."""
    with ec.history(store) as histories:
        for cal in cals[:3]:
            histories.add("cell-7", cal)
        histories.release("cell-7", 2, name="n", reason="r", who="w")
    described = studio.get("/api/openapi.json").json()
    assert described["security"] == [{"token": []}]
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    ask = {"q": [[300, 30, 600]], "wrench": [0, 0, -900, 0, 0, 0], "angle": "deg", "length": "mm"}
    asked = {
        ("get", "/api/robots"): studio.get("/api/robots"),
        ("get", "/api/robots/{robot}"): studio.get("/api/robots/cell-7"),
        ("post", "/api/robots/{robot}/predict"): studio.post("/api/robots/cell-7/predict", json=ask),
        ("post", "/api/robots/{robot}/correct"): studio.post("/api/robots/cell-7/correct", json={"files": {"a": "x"}}),
    }
    codes = []
    for (method, path), answer in asked.items():
        says = described["paths"][path][method]["responses"][str(answer.status_code)]
        name = says["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        getattr(rest, name).model_validate(answer.json(), strict=True)
        whole = set(described["components"]["schemas"][name]["properties"])
        assert set(answer.json()) <= whole  # nothing that is not described
        codes.append(answer.status_code)
    assert codes == [200, 200, 200, 422]


def test_corrected_targets_are_those_of_compensate(studio: Client, store: str) -> None:
    robot, rng = ec.read_robot("kuka-kr270"), np.random.default_rng(1)
    q = np.radians(rng.uniform([-60, -100, 60, -90, -60, -90], [60, -40, 120, 90, 60, 90], (12, 6)))
    wrench = np.hstack([rng.uniform(-1500, 1500, (12, 3)), np.zeros((12, 3))])
    read = robot.deflection(q, wrench).translation + rng.normal(0, 2e-5, (12, 3))
    data = ec.Campaign(q=q, deflection=read, wrench=wrench, length="m", angle="rad", noise=2e-5 / np.sqrt(2))
    arm = ec.calibrate(robot, data, ["compliance"])
    with ec.history(store) as histories:
        histories.add("arm", arm)
    ask = {"files": {"part.src": PROGRAM}, "number": 1, "wrench": [0, 0, -900, 0, 0, 0]}
    answer = studio.post("/api/robots/arm/correct", json=ask)
    assert answer.status_code == 200, answer.text
    done = ec.compensate(arm, ec.read_program({"part.src": PROGRAM}), [0, 0, -900, 0, 0, 0])
    assert answer.json()["files"] == {k: v.decode() for k, v in done.files.items()}
    assert answer.json()["files"]["part.src"] != PROGRAM
    assert [t["status"] for t in answer.json()["targets"]] == [r["status"] for r in done.rows()]


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("GET", "/api/robots/none", None, 404),
        ("GET", "/api/robots/cell-7/calibration", None, 422),
        ("GET", "/api/robots/cell-7/calibration?number=9", None, 422),
        ("POST", "/api/robots/cell-7/predict", {"q": [[1]], "angle": "deg", "length": "mm", "number": 1}, 422),
        ("POST", "/api/robots/cell-7/predict", {"q": [[1, 2, 3]], "length": "mm"}, 422),
        ("POST", "/api/robots/cell-7/predict", {"q": [[0, 0, 0]] * 10001, "angle": "deg", "length": "mm"}, 422),
        ("POST", "/api/robots/cell-7/correct", {"files": {}}, 422),
        ("POST", "/api/robots/cell-7/correct", {"files": {"a.src": "x"}, "number": 1}, 422),
        ("GET", "/api/robots/x'%20OR%201=1%20--", None, 404),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_refused(
    studio: Client, cals: tuple[ec.Calibration, ...], store: str, method: str, path: str, body: object, code: int
) -> None:
    with ec.history(store) as histories:
        histories.add("cell-7", cals[0])
    assert studio.request(method, path, json=body).status_code == code
    bare = studio.request(method, path, json=body, headers={"Authorization": "Bearer other"})
    assert bare.status_code == 403

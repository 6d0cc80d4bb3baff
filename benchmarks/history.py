"""Histories at size: 100 robots with 1 000 calibrations each, their pages, and many readers and predictors at once.

    python -m benchmarks.history [FOLDER] [SECONDS]

The store is made in FOLDER, once.  Server time is that of the processor; latencies are of real requests on loopback.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
from fastapi import FastAPI

import elastocal as ec
from elastocal.app.commands.new import new
from elastocal.store.entry import document, sha256
from elastocal.store.rows import contents, entries
from elastocal.studio.guard import Key
from elastocal.studio.serve import create_app

ROBOTS, CALIBRATIONS, READERS, PREDICTORS = 100, 1000, 50, 10
TOKEN, HOST, ROBOT = "benchmark", "127.0.0.1:8799", "robot-042"


def fill(store: Path) -> None:
    """Real calibrations of a KR 270, its parameters drawn about them, chained and marked as the store does."""
    robot, rng = ec.read_robot("kuka-kr270"), np.random.default_rng(1)
    low, high = [-60, -100, 60, -90, -60, -90], [60, -40, 120, 90, 60, 90]
    q = np.radians(rng.uniform(low, high, (12, 6)))
    wrench = np.hstack([rng.uniform(-1500, 1500, (12, 3)), np.zeros((12, 3))])
    truth = robot.with_parameters({p.name: 1.4 * p.value for p in robot.parameters if p.kind == "joint_compliance"})
    read = truth.deflection(q, wrench).translation + rng.normal(0, 2e-5, (12, 3))
    data = ec.Campaign(q=q, deflection=read, wrench=wrench, length="m", angle="rad", noise=2e-5 / np.sqrt(2))
    cal = ec.calibrate(robot, data, ["compliance"])
    assert cal.names, "a history without parameters is no measure"
    with ec.history(store) as histories:
        for r in range(ROBOTS):
            name = f"robot-{r:03d}"
            first = histories.add(name, cal, who="Meier", reason="first", time="2020-01-01", temperature=20.0)
            _more(histories, name, first, rng)
            histories.release(name, 1, name="first", reason="begin", who="Meier", due="2030-01-01")


def _more(histories: ec.desk.History, name: str, first: object, rng: np.random.Generator) -> None:
    found = histories[name]
    entry, mark, rows, files = found.entries[0], found.mark, [], []
    own = entry.calibration
    assert own is not None
    values, sd, points = np.array(own.parameters.values), np.array(own.parameters.sd), np.array(own.points)
    for k in range(2, CALIBRATIONS + 1):
        file = sha256(f"{name} {k}")
        drawn = replace(own.parameters, values=tuple((values + sd * rng.normal(size=len(sd))).tolist()))
        moved = tuple(map(tuple, (points + rng.normal(0, 1e-5, points.shape)).tolist()))
        day = (date(2020, 1, 1) + timedelta(days=k)).isoformat()
        made = replace(entry, number=k, previous=mark, time=f"{day}T00:00:00Z", reason="monthly",
                       calibration=replace(own, file=file, parameters=drawn, points=moved))  # fmt: skip
        text = document(made)
        mark = sha256(text)
        files.append({"sha256": file, "size": 0, "bytes": b""})
        rows.append({"robot": int(name[-3:]) + 1, "number": k, "sha256": mark, "kind": "calibration",
                     "time": made.time, "file": file, "document": text})  # fmt: skip
    with histories._database.writing() as connection:
        connection.execute(contents.insert(), files)
        connection.execute(entries.insert(), rows)


def server_time(folder: Path, store: Path) -> None:
    """Of whole requests: routing, database, drift, charts and HTML; cold where nothing of the robot is in memory."""
    os.environ["ELASTOCAL_STORE"] = str(store)
    app = create_app(folder, Key(frozenset([HOST]), TOKEN))
    pages = {
        "list of all robots": "/history", "history of one robot": f"/cell/{ROBOT}/history",
        "its first hundred entries": f"/cell/{ROBOT}/history?until=100", "the same as JSON": f"/api/robots/{ROBOT}",
    }  # fmt: skip
    for name, path in pages.items():
        asyncio.run(_answer(app, path))
        warm, cold = (min(_seconds(app, path, forget=f) for _ in range(5)) for f in (False, True))
        print(f"  {name:<28} {1e3 * warm:6.0f} ms of processor time, {1e3 * cold:6.0f} ms cold", flush=True)


def _seconds(app: FastAPI, path: str, *, forget: bool) -> float:
    if forget:
        app.state.histories._known.clear()
    start = time.process_time()
    asyncio.run(_answer(app, path))
    return time.process_time() - start


async def _answer(app: FastAPI, path: str) -> None:
    place, _, query = path.partition("?")
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", HOST.encode()), (b"authorization", f"Bearer {TOKEN}".encode()), (b"accept", b"text/html")]
    scope = {"type": "http", "method": "GET", "path": place, "raw_path": place.encode(), "query_string": query.encode(),
             "headers": headers, "http_version": "1.1", "scheme": "http", "server": ("127.0.0.1", 80)}  # fmt: skip
    await app(scope, receive, send)
    assert sent[0]["status"] == 200, path


def crowd(folder: Path, store: Path, seconds: float) -> None:
    """Readers of the released calibration file, and predictors of one pose, each in a loop without a pause."""
    code = (
        "import sys, uvicorn; from pathlib import Path\n"
        "from elastocal.studio.serve import create_app; from elastocal.studio.guard import Key\n"
        f"app = create_app(Path(sys.argv[1]), Key(frozenset(['{HOST}']), '{TOKEN}'))\n"
        "uvicorn.run(app, host='127.0.0.1', port=8799, log_level='error')\n"
    )
    before = os.times()
    server = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], env={**os.environ, "ELASTOCAL_STORE": str(store)}
    )
    try:
        _wait()
        ask = json.dumps(
            {"q": [[0, -90, 90, 0, 30, 0]], "angle": "deg", "length": "mm", "wrench": [0, 0, -900, 0, 0, 0]}
        )
        taken: dict[str, list[float]] = {"readers": [], "predictors": []}
        until = time.monotonic() + seconds

        def loop(kind: str, method: str, path: str, body: str | None) -> None:
            while time.monotonic() < until:
                start = time.perf_counter()
                assert _ask(method, path, body) == 200
                taken[kind].append(time.perf_counter() - start)

        crowd = [("readers", "GET", f"/api/robots/{ROBOT}/calibration", None)] * READERS
        crowd += [("predictors", "POST", f"/api/robots/{ROBOT}/predict", ask)] * PREDICTORS
        threads = [threading.Thread(target=loop, args=one) for one in crowd]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for kind, values in taken.items():
            p50, p95, p99 = (1e3 * np.quantile(values, p) for p in (0.5, 0.95, 0.99))
            shown = f"{p50:.0f} / {p95:.0f} / {p99:.0f} ms (50 / 95 / 99 %)"
            print(f"  {kind:<12} {len(values):6d} requests in {seconds:g} s: {shown}")
    finally:
        server.terminate()
        server.wait(30)
    used = os.times().children_user + os.times().children_system - before.children_user - before.children_system
    each = 1e3 * used / sum(map(len, taken.values()))
    print(
        f"  the server had {100 * used / seconds:.0f} % of one core, {each:.1f} ms of it per request, start included;"
    )
    print("  all clients are threads of one other process")


def _ask(method: str, path: str, body: str | None) -> int:
    connection = http.client.HTTPConnection(HOST, timeout=120)
    head = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    connection.request(method, path, body, head)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def _wait() -> None:
    for _ in range(200):
        try:
            _ask("GET", "/api/openapi.json", None)
            return
        except OSError:
            time.sleep(0.3)
    raise RuntimeError("the studio did not start")


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(gettempdir()) / "elastocal-history"
    place.mkdir(parents=True, exist_ok=True)
    if not (place / "history.db").exists():
        fill(place / "history.db")
    if not (place / ROBOT).exists():
        new(place / ROBOT, "kuka-kr270")
    server_time(place, place / "history.db")
    crowd(place, place / "history.db", float(sys.argv[2]) if len(sys.argv) > 2 else 60.0)

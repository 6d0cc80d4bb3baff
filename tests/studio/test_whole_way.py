"""In Chromium, as somebody would who has never seen a terminal: from an empty folder to a released certificate."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from report.browser import COARSE, PATIENCE, STAND_IN, browser, driver, faint, overflow, skipped
from studio.studio_desk import Studio, at_new_poses, studio


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with driver() as started, browser(started) as running:
        yield running


PAGES = ("", "robot", "plan", "readings", "calibrate", "program", "history")
UNNAMED = """() => [...document.querySelectorAll("input, select, textarea, button, a, iframe")]
    .filter((e) => e.type !== "hidden" && !(e.labels && e.labels.length))
    .filter((e) => !e.ariaLabel && !e.title && !e.textContent.trim())
    .map((e) => e.outerHTML.slice(0, 80))"""
"""What a screen reader would have no word for."""


class Visitor:
    """A browser of its own, which notes what it asks for and what its pages complain of."""

    def __init__(
        self, chromium: Any, of: Studio, width: int = 1280, scheme: str = "light", still: bool = False
    ) -> None:
        self.of, self.asked, self.complaints = of, [], []
        self.context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            device_scale_factor=1 if still else COARSE,
        )
        if still:  # pictures that turn are slow by software, and not what is looked at
            self.context.route("**/plotly.js", lambda route: route.abort())
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.on("request", lambda r: self.asked.append(r.url))
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        self.page.goto(of.opened)

    def draw_no_more(self) -> None:
        """Pictures that turn are slow by software: from here on they are not what is looked at."""
        answer = {"body": STAND_IN, "content_type": "text/javascript"}
        self.context.route("**/plotly.js", lambda route: route.fulfill(**answer))

    def go(self, path: str) -> Any:
        self.page.goto(f"{self.of.address}{path}")
        return self.page

    def done(self) -> None:
        """Until the work that is shown has ended."""
        self.page.wait_for_selector(".job[data-active='yes']", state="detached")

    @property
    def foreign(self) -> list[str]:
        return [u for u in self.asked if not u.startswith((self.of.address, "data:", "blob:"))]


@dataclass(frozen=True)
class Way:
    """Somebody on the way through the pages, each of which is reached by the links of the one before."""

    me: Visitor
    other: Visitor
    cell: Path

    @property
    def page(self) -> Any:
        return self.me.page

    def link(self, name: str) -> None:
        self.page.get_by_role("link", name=name, exact=True).first.click()

    def button(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()
        self.me.done()


def test_from_an_empty_folder_to_a_corrected_program_and_a_released_certificate(chromium: Any, tmp_path: Path) -> None:
    with studio(tmp_path) as running:
        me, other = Visitor(chromium, running), Visitor(chromium, running, 390, "dark", still=True)
        way = Way(me, other, tmp_path / "press 7")
        assert "token" not in me.page.url
        for step in (made, certificate_is_stated, robot_is_loaded, planned, measured, calibrated, corrected, released):
            step(way)
        record = json.loads((way.cell / "records" / "calibrate.json").read_text(encoding="utf-8"))
        assert record["command"] == ["calibrate", "."]  # a click can be repeated in a terminal
        every_page_fits_and_has_words(way, Visitor(chromium, running, 1920, "light", still=True))
        assert me.foreign == other.foreign == []
        assert me.complaints == []


def made(way: Way) -> None:
    way.page.get_by_label("Name").fill("press 7")
    way.page.get_by_role("combobox", name="Robot").select_option("abb-irb120")
    way.button("Make the cell")
    assert way.cell.is_dir()


def certificate_is_stated(way: Way) -> None:
    way.page.get_by_text("State what belongs on the certificate").click()
    way.page.get_by_label("tolerance in mm").fill("50")
    way.page.get_by_label("operator").fill("M. Meier")
    way.button("Keep")


def robot_is_loaded(way: Way) -> None:
    """By keyboard, by typing, and by pulling the ring at the end of the load."""
    page = way.page
    way.link("Robot")
    page.wait_for_selector(".scene.turned")
    page.get_by_label("axis2 by dragging").focus()
    before = page.locator("#numbers").inner_text()
    with page.expect_response(lambda r: "/robot/state" in r.url):
        page.keyboard.press("ArrowRight")
    with page.expect_response(lambda r: "/robot/state" in r.url and "-20" in r.url):
        page.get_by_label("fz [N]").fill("-20")
    page.wait_for_function("(old) => document.getElementById('numbers').innerText !== old", arg=before)
    page.wait_for_function("() => document.querySelector('.live').data.some((t) => (t.name || '').startsWith('bent'))")
    box = page.locator(".ring").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 60, steps=3)
    page.mouse.up()
    pulled = [float(v) for v in page.locator(".load-value").evaluate_all("(all) => all.map((i) => i.value)")]
    assert pulled[2] < -25  # down on the screen is down
    assert pulled[3:] == [0, 0, 0]
    after = page.locator(".ring").bounding_box()
    assert abs(after["y"] - box["y"] - 60) < 6
    assert abs(after["x"] - box["x"]) < 6


def planned(way: Way) -> None:
    """With fewer candidates than the plan file asks for; what a pose is worth; accuracy against their number."""
    page = way.page
    way.link("Plan")
    page.get_by_text("plan/plan.yaml").last.click()
    text = page.get_by_label("Text of the plan file")
    text.fill(re.sub(r"(?m)^candidates: .*$", "candidates: 120", text.input_value()))
    way.button("Check and save")
    way.button("Plan")
    frame = page.frame_locator("iframe.report")  # a report loads Plotly without any right
    frame.locator(".scene").first.scroll_into_view_if_needed()
    frame.locator(".scene.turned .live .main-svg").first.wait_for(state="attached")
    assert frame.get_by_text("number of poses").count() > 0
    page.get_by_text("Leave poses out, or add one").press("Enter")  # from here by keyboard
    page.get_by_label("Leave out P1", exact=True).press("Space")
    page.get_by_role("button", name="Show the effect").press("Enter")
    change = page.get_by_role("row", name=re.compile("axis2.k")).get_by_role("cell").last.inner_text()
    assert float(change.removesuffix("%")) > 0  # less is known without a pose
    before, after, growth = page.get_by_role("row", name=re.compile("^RMS")).get_by_role("cell").all_inner_texts()
    assert float(after) > float(before)  # and the tool is less accurate
    assert float(growth.removesuffix("%")) > 0
    report = json.loads((way.cell / "reports" / "plan.json").read_text(encoding="utf-8"))
    assert float(before) == pytest.approx(report["task"][0]["error_mm"], abs=1e-4)
    assert "P1," in (way.cell / "plan" / "plan.csv").read_text(encoding="utf-8")  # a trial changes nothing
    way.me.draw_no_more()


def measured(way: Way) -> None:
    way.link("Readings")
    way.button("Simulate readings")
    way.page.wait_for_selector(".scene.turned")


def calibrated(way: Way) -> None:
    """And once more without a reading, with a reason; one word off, with the error of both beside it."""
    page = way.page
    way.link("Calibrate")
    way.button("Calibrate")
    assert "predicts a pose it has not seen" in page.locator(".verdict").inner_text()
    assert "Calibration of" in page.frame_locator("iframe.report").locator("h1").inner_text()
    page.get_by_text("Calibrate again, with other effects").click()
    row = page.get_by_role("row", name=re.compile("^compliance"))
    with_it, without = (float(c) for c in row.get_by_role("cell").all_inner_texts())
    assert with_it < without
    page.get_by_role("checkbox", name="backlash").click()
    assert page.get_by_role("radio", name="These effects").is_checked()


def corrected(way: Way) -> None:
    page = way.page
    way.link("Program")
    way.button("Correct square.mod")
    with page.expect_download() as got:
        page.get_by_role("link", name="Download square.mod").click()
    new = Path(got.value.path()).read_text(encoding="utf-8").splitlines()
    old = (way.cell / "programs" / "square.mod").read_text(encoding="utf-8").splitlines()
    page.get_by_text("Difference by line").click()
    shown = (page.locator(f".diff .{of}").all_inner_texts() for of in ("old", "new"))
    changed = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert [(a.split("- ", 1)[1], b.split("+ ", 1)[1]) for a, b in zip(*shown, strict=True)] == changed
    assert changed


def released(way: Way) -> None:
    """A record, a release with its certificate; a second browser that comes too late."""
    page = way.page
    way.link("press 7")
    way.link("Record and release the calibration")
    way.button("Record it")
    page.locator("form[action$='/release']").wait_for()
    way.other.go("/cell/press 7/history")
    check = way.cell.parent / "check.csv"
    check.write_bytes(at_new_poses(way.cell / "campaign" / "readings.csv"))
    for visitor, name in ((way.me, "2026-11"), (way.other, "mine")):
        form = visitor.page.locator("form[action$='/release']")
        form.get_by_label("Name").fill(name)
        form.get_by_label("Why").fill("after service")
        assert form.get_by_label("Who").input_value() == "M. Meier"
        form.get_by_label("Due").fill("2099-12-31")
        form.get_by_label("Validation readings").set_input_files(check)
        form.get_by_role("button", name="Release").click()
        page.get_by_role("link", name="HTML certificate of 2026-11").wait_for()
    assert "has changed since number" in way.other.page.get_by_role("alert").inner_text()
    with way.me.context.expect_page() as opened:
        page.get_by_role("link", name="HTML certificate of 2026-11").click()
    assert "PASS" in opened.value.locator(".decision").inner_text()
    opened.value.close()
    with page.expect_download() as got:
        page.get_by_role("link", name="PDF certificate of 2026-11").click()
    assert Path(got.value.path()).read_bytes().startswith(b"%PDF-")


def every_page_fits_and_has_words(way: Way, wide: Visitor) -> None:
    for visitor in (way.other, wide):
        for address in ("/", "/history", *(f"/cell/press 7/{n}" for n in PAGES)):
            shown = visitor.go(address)
            assert overflow(shown) <= 0, address
            assert shown.evaluate(UNNAMED) == [], address
            assert faint(shown) == [], address
            assert skipped(shown) == [], address

"""In Chromium, as somebody would do it who has never seen a terminal: from an empty folder to a corrected program."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report.browser import PATIENCE, browser, driver, overflow
from studio.studio_desk import Studio, studio

PROGRAM = "x_mm,y_mm,z_mm\n400,0,300\n450,50,350\n500,100,400\n"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with driver() as started, browser(started) as running:
        yield running


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
        self.context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        if still:  # pictures that turn are slow by software, and not what is looked at
            self.context.route("**/plotly.js", lambda route: route.abort())
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.on("request", lambda r: self.asked.append(r.url))
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        self.page.goto(of.opened)

    def go(self, path: str) -> Any:
        self.page.goto(f"{self.of.address}{path}")
        return self.page

    def done(self) -> None:
        """Until the work that is shown has ended."""
        self.page.wait_for_selector(".job[data-active='yes']", state="detached")

    @property
    def foreign(self) -> list[str]:
        return [u for u in self.asked if not u.startswith((self.of.address, "data:", "blob:"))]


def released(me: Visitor, other: Visitor, cell: Path) -> None:
    """What belongs on the certificate, a record, a release with it; a second browser that comes too late."""
    page = me.page
    page.get_by_text("State what belongs on the certificate").click()
    page.get_by_label("tolerance in mm").fill("50")
    page.get_by_label("operator").fill("M. Meier")
    page.get_by_role("button", name="Keep").click()
    page.get_by_role("link", name="History", exact=True).click()
    page.get_by_role("button", name="Record it").click()
    page.locator("form[action$='/release']").wait_for()
    forms = [
        page.locator("form[action$='/release']"),
        other.go("/cell/one/history").locator("form[action$='/release']"),
    ]
    for form, name in zip(forms, ("2026-11", "mine"), strict=True):
        form.get_by_label("Name").fill(name)
        form.get_by_label("Why").fill("after service")
        assert form.get_by_label("Who").input_value() == "M. Meier"
        form.get_by_label("Due").fill("2099-12-31")
        form.get_by_label("Validation readings").set_input_files(cell / "campaign" / "readings.csv")
        form.get_by_role("button", name="Release").click()
        page.get_by_role("link", name="HTML certificate of 2026-11").wait_for()
    assert "has changed since number" in other.page.get_by_role("alert").inner_text()
    other.context.close()
    with me.context.expect_page() as opened:
        page.get_by_role("link", name="HTML certificate of 2026-11").click()
    assert "PASS" in opened.value.locator(".decision").inner_text()
    opened.value.close()
    with page.expect_download() as got:
        page.get_by_role("link", name="PDF certificate of 2026-11").click()
    assert Path(got.value.path()).read_bytes().startswith(b"%PDF-")


def test_a_calibration_is_released_with_its_certificate_by_the_first_of_two_browsers(
    chromium: Any, calibrated_cell: Path, tmp_path: Path
) -> None:
    shutil.copytree(calibrated_cell, tmp_path / "one")
    with studio(tmp_path) as running:
        me = Visitor(chromium, running, still=True)
        me.go("/cell/one/")
        released(me, Visitor(chromium, running, still=True), tmp_path / "one")
        assert me.foreign == []
        me.context.close()


def test_from_an_empty_folder_to_a_corrected_program(chromium: Any, tmp_path: Path) -> None:
    with studio(tmp_path) as running:
        me = Visitor(chromium, running)
        page = me.page
        assert "token" not in page.url
        page.get_by_label("Name").fill("press 7")
        page.get_by_role("combobox", name="Robot").select_option("abb-irb120")
        page.get_by_role("button", name="Make the cell").click()
        cell = tmp_path / "press 7"
        page.get_by_role("link", name="Robot", exact=True).click()
        page.wait_for_selector(".scene.turned")
        page.get_by_label("axis2 by dragging").focus()
        before = page.locator("#numbers").inner_text()
        with page.expect_response(lambda r: "/robot/state" in r.url):
            page.keyboard.press("ArrowRight")  # by keyboard
        with page.expect_response(lambda r: "/robot/state" in r.url and "-20" in r.url):
            page.get_by_label("fz [N]").fill("-20")
        page.wait_for_function("(old) => document.getElementById('numbers').innerText !== old", arg=before)
        page.wait_for_function(
            "() => document.querySelector('.live').data.some((t) => (t.name || '').startsWith('bent'))"
        )
        page.get_by_role("link", name="Plan", exact=True).click()
        request = cell / "plan" / "plan.yaml"
        text = request.read_text(encoding="utf-8")
        request.write_text(re.sub(r"(?m)^candidates: .*$", "candidates: 120", text), encoding="utf-8")
        page.get_by_label("Also draw accuracy").uncheck()
        page.get_by_role("button", name="Plan", exact=True).click()
        me.done()
        drawn = page.frame_locator("iframe.report").locator(".scene").first  # a report loads Plotly without any right
        drawn.scroll_into_view_if_needed()
        page.frame_locator("iframe.report").locator(".scene.turned .live .main-svg").first.wait_for(state="attached")
        page.get_by_label("Leave out P1", exact=True).check()
        page.get_by_role("button", name="Show the effect").click()
        change = page.get_by_role("row", name=re.compile("axis2.k")).get_by_role("cell").last.inner_text()
        assert float(change.removesuffix("%")) > 0  # less is known without a pose
        planned = (cell / "plan" / "plan.csv").read_text(encoding="utf-8")
        assert "P1," in planned  # a trial changes nothing
        page.get_by_role("link", name="Readings", exact=True).click()
        page.get_by_role("button", name="Simulate readings").click()
        me.done()
        page.wait_for_selector(".scene.turned")
        page.get_by_role("link", name="Calibrate", exact=True).first.click()
        page.get_by_role("button", name="Calibrate", exact=True).click()
        me.done()
        assert "predicts a pose it has not seen" in page.locator(".verdict").inner_text()
        frame = page.frame_locator("iframe.report")
        assert "Calibration of" in frame.locator("h1").inner_text()
        page.get_by_role("link", name="Program", exact=True).click()
        page.get_by_role("button", name="Correct square.mod").click()
        me.done()
        with page.expect_download() as got:
            page.get_by_role("link", name="Download square.mod").click()
        corrected = Path(got.value.path()).read_text(encoding="utf-8")
        before = (cell / "programs" / "square.mod").read_text(encoding="utf-8")
        assert corrected != before
        assert len(corrected.splitlines()) == len(before.splitlines())
        page.get_by_text("Difference by line").click()
        old, new = (page.locator(f".diff .{of}").all_inner_texts() for of in ("old", "new"))
        changed = [(a, b) for a, b in zip(before.splitlines(), corrected.splitlines(), strict=True) if a != b]
        assert [(a.split("- ", 1)[1], b.split("+ ", 1)[1]) for a, b in zip(old, new, strict=True)] == changed
        assert changed
        record = json.loads((cell / "records" / "calibrate.json").read_text(encoding="utf-8"))
        assert record["command"] == ["calibrate", "."]  # a click can be repeated in a terminal
        for width, scheme in ((390, "dark"), (1920, "light")):
            other = Visitor(chromium, running, width, scheme, still=True)
            for name in ("", "robot", "plan", "readings", "calibrate", "program", "history"):
                shown = other.go(f"/cell/press 7/{name}")
                assert overflow(shown) <= 0, (width, name)
                assert shown.evaluate(UNNAMED) == [], name
            assert other.foreign == []
            other.context.close()
        assert me.foreign == []
        assert me.complaints == []
        me.context.close()

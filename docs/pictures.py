"""Pictures of the README, taken in Chromium from the report of `elastocal demo`: `make pictures`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURES = {
    "before-after": "Error along the program",
    "campaign": "Chosen poses and loads",
    "stiffness": "Stiffness over the workpiece",
}
"""Name of the file, beginning of the title of the figure in the report."""
FOLDER = Path(__file__).parent / "_static"
UNFOLDED = """() => {
    document.querySelectorAll('.pane').forEach((p) => p.style.setProperty('display', 'block', 'important'));
    document.querySelectorAll('details').forEach((d) => { d.open = true; });
}"""


def take(report: Path) -> None:
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"),
            args=["--no-sandbox", "--enable-unsafe-swiftshader"],
        )
        page = browser.new_page(viewport={"width": 900, "height": 800}, device_scale_factor=1.5)
        page.goto(report.resolve().as_uri(), timeout=120_000)
        page.add_style_tag(content=".modebar, .updatemenu-container { display: none }")
        page.evaluate(UNFOLDED)
        for name, title in PICTURES.items():
            figure = page.locator("figure", has=page.locator("svg title, h3", has_text=title)).first
            figure.scroll_into_view_if_needed()
            page.wait_for_timeout(6000)
            figure.locator(".wide, .scene").first.screenshot(path=FOLDER / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]))

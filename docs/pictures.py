"""Pictures of the README, taken in Chromium from the report of `elastocal demo`: `make pictures`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURES = {
    "before-after": "Distance between loaded and desired tool",
    "campaign": "Poses, loads and what moved",
    "stiffness": "Translational stiffness in the softest direction",
}
"""Name of the file, beginning of the title of the figure in the report."""
FOLDER = Path(__file__).parent / "_static"


def take(report: Path) -> None:
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        page = browser.new_page(viewport={"width": 900, "height": 800}, device_scale_factor=1.5)
        page.goto(report.resolve().as_uri(), timeout=120_000)
        page.add_style_tag(content=".modebar, .updatemenu-container { display: none }")
        page.wait_for_timeout(3000)
        for name, title in PICTURES.items():
            heading = page.locator("h3", has_text=title).first
            figure = heading.locator("xpath=..").locator(".figure").first
            figure.scroll_into_view_if_needed()
            page.wait_for_timeout(1500)
            figure.screenshot(path=FOLDER / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]))

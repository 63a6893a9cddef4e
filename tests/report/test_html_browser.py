"""The page in headless Chromium: the script runs under the page's own policy, filters, and leaves no error."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from example_sanity.report import render
from example_sanity.report.model import View

pytestmark = pytest.mark.browser
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def _chromium(folder: Path, url: str, *options: str) -> tuple[str, str]:
    """Open a page and return its document after its script ran, and what the console got."""
    program = next((found for name in _NAMES if (found := shutil.which(name))), None)
    assert program, f"none of {', '.join(_NAMES)} is installed"
    call = [
        program,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'profile'}",
    ]
    call += ["--enable-logging=stderr", "--virtual-time-budget=2000", *options, "--dump-dom", url]
    done = subprocess.run(call, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


def _visible(document: str) -> list[str]:
    """The codes of the findings that are shown."""
    articles = re.findall(r'<article class="finding"([^>]*)>', document)
    return [re.findall('data-code="(.*?)"', found)[0] for found in articles if "hidden" not in found]


@pytest.mark.parametrize(
    ("fragment", "codes", "told"),
    [
        ("", ["ENV002", "MSH001", "PLG001", "ENV003", "NAM001", "SYS001"], "6 shown"),
        ("severity=error", ["MSH001", "NAM001", "SYS001"], "3 of 6 shown"),
        ("severity=error&severity=info&path=RUN_A", ["MSH001", "PLG001"], "2 of 6 shown"),
        ("code=ENV003", ["ENV003"], "1 of 6 shown"),
        ("code=GONE999", ["ENV002", "MSH001", "PLG001", "ENV003", "NAM001", "SYS001"], "6 shown"),
        ("path=nowhere", [], "0 of 6 shown"),
    ],
)
def test_filters(sample: View, tmp_path: Path, fragment: str, codes: list[str], told: str) -> None:
    page = tmp_path / "report.html"
    page.write_text(render(sample, "html"), "utf-8")

    document, console = _chromium(tmp_path, f"{page.as_uri()}#{fragment}")

    assert console == ""
    assert '<form id="filters">' in document
    assert _visible(document) == codes
    assert f'<output name="shown">{told}</output>' in document


def test_a_page_without_findings_has_no_filters(clean: View, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(render(clean, "html"), "utf-8")

    document, console = _chromium(tmp_path, page.as_uri())

    assert console == ""
    assert "filters" not in document.partition("<script>")[0].partition("</style>")[2]


def test_the_policy_stops_a_script_that_got_into_the_page(sample: View, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    text = render(sample, "html").replace("<main>", "<main><script>document.title = 'broken'</script>")
    page.write_text(text, "utf-8")

    document, console = _chromium(tmp_path, page.as_uri())

    assert "<title>example-sanity report</title>" in document
    assert "Content Security Policy" in console


def test_the_page_has_a_light_and_a_dark_look(sample: View, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(render(sample, "html"), "utf-8")
    pictures = []
    for scheme in ("0", "1"):
        picture = tmp_path / f"{scheme}.png"
        scheme_option = f"--blink-settings=preferredColorScheme={scheme}"
        _chromium(tmp_path, page.as_uri(), scheme_option, f"--screenshot={picture}")
        pictures.append(picture.read_bytes())

    assert all(picture.startswith(b"\x89PNG") for picture in pictures)
    assert pictures[0] != pictures[1]

"""The page without a browser: nothing from outside, well formed, excerpts."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

from example_sanity.core.finding import Span
from example_sanity.report import render
from example_sanity.report.html import excerpt
from example_sanity.report.model import View

VOID = {"meta", "input", "br"}
LINES = ["one", "two <b>", "three", "four", "five"]


class Page(HTMLParser):
    """Keeps what a page would load and checks that its elements nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.scripts = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.scripts += tag == "script"
        self.loads += [f"{tag} {name}" for name, _ in attrs if name in ("src", "srcset", "data", "style")]
        self.loads += [tag] * (tag in ("link", "img", "iframe", "object", "base"))
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element, which must be this one."""
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_loads_nothing(sample: View, clean: View) -> None:
    for view in (sample, clean):
        page = Page(render(view, "html"))
        assert (page.open, page.loads, page.scripts) == ([], [], 1)


def test_the_policy_allows_our_script_only(sample: View) -> None:
    text = render(sample, "html")
    (script,) = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()

    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in text


def _excerpt(span: Span, lines: list[str]) -> list[str]:
    text = "\n".join(excerpt(lines, span))
    return [re.sub(r'<span class="number">\s*(\d+)</span>', r"\1", line) for line in text.split("\n")]


def test_a_whole_file_and_a_line_that_is_gone_have_no_excerpt() -> None:
    assert list(excerpt(LINES, Span(1, 1, 1, 1))) == []
    assert list(excerpt(LINES, Span(9, 1, 9, 4))) == []
    assert list(excerpt([], Span(1, 1, 1, 4))) == []


def test_an_excerpt_has_a_line_around_it() -> None:
    assert _excerpt(Span(2, 5, 2, 8), LINES) == [
        '<pre class="excerpt">1 one',
        "2 two <mark>&lt;b&gt;</mark>",
        "3 three</pre>",
    ]


def test_several_lines_are_marked_from_start_to_end() -> None:
    assert _excerpt(Span(1, 2, 3, 3), LINES) == [
        '<pre class="excerpt">1 o<mark>ne</mark>',
        "2 <mark>two &lt;b&gt;</mark>",
        "3 <mark>th</mark>ree",
        "4 four</pre>",
    ]


def test_a_long_excerpt_and_a_long_line_are_cut() -> None:
    many = _excerpt(Span(1, 1, 90, 2), ["x"] * 100)
    (wide,) = _excerpt(Span(1, 501, 1, 503), ["a" * 500 + "bb" + "c" * 500])

    (marked,) = _excerpt(Span(1, 1, 1, 900), ["b" * 900])

    assert len(many) == 9
    assert marked == f'<pre class="excerpt">1 <mark>{"b" * 240}</mark>…</pre>'
    assert wide == f'<pre class="excerpt">1 …{"a" * 60}<mark>bb</mark>{"c" * 178}…</pre>'


def test_a_mark_may_end_at_the_start_of_a_line() -> None:
    assert _excerpt(Span(1, 2, 2, 1), ["abc", "d"])[0] == '<pre class="excerpt">1 a<mark>bc</mark>'

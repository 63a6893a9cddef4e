"""What the comment at the top of a launcher asks for: ``vllm>=0.8``, ``pip install x``, ``transformers@<commit>``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from packaging.specifiers import SpecifierSet

from example_sanity.core.regex import regex
from example_sanity.doctor.asked import Asked, Parsed, Place, distribution, parse
from example_sanity.doctor.files import pip_words

_COMPARISON = r"(?:===?|>=|<=|~=|!=|>|<)"
_VERSION = r"[\w.+!/-]*\w(?:\.\*)?"
_WINDOW = regex(
    rf"(?<![\w.$@/-])(?P<name>[A-Za-z][\w.-]*\w)(?P<extras>\[[\w,.-]+\])?\s?"
    rf"(?P<window>{_COMPARISON}\s?{_VERSION}(?:\s?,\s?{_COMPARISON}\s?{_VERSION})*)"
)
_COMMIT = regex(r"(?<![\w.$/-])(?P<word>[A-Za-z][\w.-]*@(?:<[0-9a-f]{7,40}>|[0-9a-f]{7,40}\b))")
_LOOSE = regex(r"(?<![\w.$@/=-])(?P<name>[A-Za-z][\w-]*\w) v?(?P<version>\d+(?:\.\d+)+)(?![\w.*+-]*\w)")
_PIP = regex(
    r"(?:[-*]\s+)*(?:\$\s+)?`?(?:[A-Z_]+=\S+\s+)*(?:sudo\s+)?(?:uv\s+|python3?\s+-m\s+)?pip3?\s+install\s+(?P<words>.*?)`?"
)
_ABOUT_PACKAGES = regex(
    r"\b(?:requir\w*|needs?|depend\w*|install\w*|environment|packages?|versions?)\b", re.I
)
# A platform in the name of a distribution (nvidia-cutlass-dsl) says nothing.
_PLATFORMS = {
    name: regex(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)
    for name, words in (("npu", "npu|ascend|cann"), ("rocm", "rocm|amd"), ("gpu", "gpu|cuda|nvidia"))
}


class _Section:
    """Under which label the lines of a comment stand: for which platform, and whether it is about packages."""

    def __init__(self) -> None:
        self.platform: str | None = None
        self.packages = False
        self._indent = 0

    def enter(self, text: str) -> None:
        """Take note of a line. A label ends with the label that is not indented more, or with an empty line."""
        indent = len(text) - len(text.lstrip())
        if not text.strip():
            self.platform, self.packages = None, False
        elif text.rstrip().endswith(":"):
            if not (self.platform and indent > self._indent):
                self.platform, self._indent = platform_of(text), indent
            self.packages = self.packages or bool(_ABOUT_PACKAGES.search(text))


def platform_of(text: str) -> str | None:
    """Return the one platform that a text names; None where it names none, or several."""
    named = [name for name, pattern in _PLATFORMS.items() if pattern.search(text)]
    return named[0] if len(named) == 1 else None


def header(path: str, text: str, known: Collection[str], knobs: Collection[str]) -> Iterator[Asked]:
    """Yield what the comment lines above the first command ask for.

    ``x==1.2.3`` counts where it cannot be arithmetic about the run: a ``known`` distribution, a name with a hyphen, a
    version of three parts, or a line about packages; never a variable of the script (``knobs``). "x 1.2" is said and
    not judged.
    """
    section = _Section()
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            return
        words = line.lstrip()[1:] if not line.startswith("#!") else ""
        section.enter(words)
        place = Place(path, number, words.strip())
        platform = section.platform or platform_of(words)
        about = section.packages or bool(_ABOUT_PACKAGES.search(words))
        for item in _line(words.strip(), about, known, knobs):
            yield item.at(place, "header", path, platform=platform)


def _line(words: str, about: bool, known: Collection[str], knobs: Collection[str]) -> Iterator[Parsed]:
    pip = _PIP.fullmatch(words)
    if pip:
        yield from pip_words(pip["words"])
        return
    seen = set()
    for item in [*_windows(words, about, known, knobs), *_references(words)]:
        seen.add(item.name)
        yield item
    for loose in _LOOSE.finditer(words):
        name = distribution(loose["name"])
        if about and name not in seen and (name in known or "-" in loose["name"]):
            yield Parsed(name, SpecifierSet(), reference=loose["version"])


def _windows(words: str, about: bool, known: Collection[str], knobs: Collection[str]) -> Iterator[Parsed]:
    for found in _WINDOW.finditer(words):
        name, window = found["name"], found["window"].replace(" ", "")
        certain = distribution(name) in known or "-" in name or window.count(".") >= 2
        item = parse(f"{name}{found['extras'] or ''}{window}") if certain or about else None
        if item and name not in knobs:
            yield item


def _references(words: str) -> Iterator[Parsed]:
    for found in _COMMIT.finditer(words):
        item = parse(found["word"])
        if item:
            yield item

"""Programs that lay ``key=value`` words over a dataclass with OmegaConf, without Hydra."""

from __future__ import annotations

import pytest

from helpers import Write, report

SCRIPT = "examples/run_small_fsdp.sh"
OPTIONS = """\
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, Optional


class Mode(Enum):
    SYNC = 1
    ASYNC = 2


@dataclass
class Actor:
    lr: float = 1e-6
    mode: Mode = Mode.SYNC
    kind: Literal["a", "b"] = "a"
    warmup: Optional[int] = None
    betas: list[float] = field(default_factory=list)


@dataclass
class Config:
    actor: Actor = field(default_factory=Actor)
    name: str = "run"
    flag: bool = True
    extra: dict[str, int] = field(default_factory=dict)
    anything: Any = None
"""
MAIN = """\
from omegaconf import OmegaConf

from app.options import Config


def main():
    words = OmegaConf.from_cli()
    base = OmegaConf.structured(Config())
    if hasattr(words, "config"):
        base = OmegaConf.merge(base, OmegaConf.load(words.pop("config")))
    config = OmegaConf.merge(base, words)
    print(config.name, words["seed"])


if __name__ == "__main__":
    main()
"""
FILES = {"app/__init__.py": "", "app/options.py": OPTIONS, "app/main.py": MAIN}


def text(write: Write, *words: str, main: str = MAIN, options: str = OPTIONS) -> list[str]:
    lines = "".join(f" \\\n    {word}" for word in words)
    root = write(
        {**FILES, "app/main.py": main, "app/options.py": options, SCRIPT: f"python3 -m app.main{lines}\n"}
    )
    return [f"{item.span.line} {item.code} {item.message}" for item in report(root, "overrides").findings]


@pytest.mark.parametrize(
    "words",
    [
        ("config=examples/config.yaml", "actor.lr=1", "name=x", "flag=false", "seed=3"),
        ("actor.mode=ASYNC", "actor.kind=b", "actor.warmup=null", "'actor.betas=[0.9,0.95]'"),
        ("extra.deep=1", "anything.at.all=1", "name=a=b", "name=${NAME:?}"),
    ],
)
def test_what_omegaconf_takes_is_silent(write: Write, words: tuple[str, ...]) -> None:
    assert text(write, *words) == []


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (
            "actor.lrs=1",
            "OVR001 actor.lrs is no field of Config, and OmegaConf refuses it; did you mean actor.lr?",
        ),
        ("lr=1", "OVR001 lr is no field of Config, and OmegaConf refuses it; did you mean actor.lr?"),
        (
            "actor.warmup=soon",
            "OVR004 actor.warmup takes a whole number or null, not the text soon (default null, app/options.py:16)",
        ),
        ("actor.kind=c", "OVR005 actor.kind must be one of a, b, not c"),
        ("actor.mode=LATE", "OVR005 actor.mode must be one of SYNC, ASYNC, not LATE"),
        (
            "+name=x",
            "OVR018 OmegaConf.from_cli() takes +name as it stands: only Hydra knows the sign; drop it",
        ),
    ],
)
def test_what_it_refuses_is_found(write: Write, word: str, expected: str) -> None:
    assert text(write, "name=x", word) == [f"3 {expected}"]


@pytest.mark.parametrize(
    ("main", "options"),
    [
        (MAIN.replace("OmegaConf.structured(Config())", "OmegaConf.load('config.yaml')"), OPTIONS),
        (MAIN.replace("words = OmegaConf.from_cli()", "words = elsewhere(OmegaConf.from_cli())"), OPTIONS),
        (MAIN.replace("OmegaConf.from_cli()", "OmegaConf.from_cli(['name=x'])"), OPTIONS),
        (MAIN.replace("app.options import Config", "nowhere import Config"), OPTIONS),
        (MAIN, OPTIONS.replace("class Config:", "class Config(Elsewhere):")),
    ],
    ids=["YAML only", "handed on", "words of its own", "class elsewhere", "base elsewhere"],
)
def test_what_is_not_read_leaves_it_silent(write: Write, main: str, options: str) -> None:
    assert text(write, "nonsense=1", main=main, options=options) == []


def test_a_file_is_read_like_a_module(write: Write) -> None:
    main = MAIN.replace("app.options", "options")
    root = write({"app/main.py": main, "app/options.py": OPTIONS, SCRIPT: "cd app\npython3 main.py nam=x\n"})
    (found,) = report(root, "overrides").findings
    assert (found.span.line, found.code) == (2, "OVR001")

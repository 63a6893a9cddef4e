"""What an evaluated script may look at besides itself."""

from __future__ import annotations

import pytest

from example_sanity.core.project import Project
from example_sanity.core.trace import LISTING, PLACES, SCRIPTS
from example_sanity.launch import inputs
from example_sanity.launch.syntax import parse
from helpers import Write


def noted(write: Write, text: str) -> set[str]:
    project = Project(write({"a.sh": text, "common.inc": "X=1\n", "lib/b.sh": "source common.inc\n"}))
    seen: set[str] = set()
    project.watch = seen.add
    inputs.note(parse("a.sh", text.encode()), project)
    return seen


@pytest.mark.parametrize(
    "text",
    [
        'set -xeuo pipefail\nX=${X:-1}\nexport Y=2\npython3 -m verl.trainer.main_ppo a.b=$X "$@"\n',
        "# source common.inc\necho $((2 * 3))\n",
        "if [[ $X == a ]]; then\n  Y=1\nfi\n",
        'if [ -z "$X" ]; then X=1; fi\npython3 \\\n  train.py \\\n  --flag $X\n',
        "cat_x=1\nclass=2\n",
        "case $x in\n  a) X=1 ;;\n  *) X=2 ;;\nesac\nrm -rf out\n",
    ],
)
def test_plain_launchers_depend_on_themselves(write: Write, text: str) -> None:
    assert noted(write, text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "source common.inc\n",
        ". ./common.inc\n",
        'source "$(dirname "$0")/common.inc"\n',
        "X=$(cat common.inc)\n",
        "NAME=common.inc\nX=$(cat $NAME)\n",
        "read X < common.inc\n",
        "[ -f common.inc ] && X=1\n",
        "if [[ -e common.inc ]]; then X=1; fi\n",
    ],
)
def test_what_may_read_depends_on_the_files_it_names(write: Write, text: str) -> None:
    assert noted(write, text) == {LISTING, PLACES, "file:common.inc"}


@pytest.mark.parametrize(
    "text",
    [
        "if test -d lib; then X=1; fi\n",
        "for f in lib/*.sh; do echo $f; done\n",
        "a | grep x\n",
        "rm out\n",
        "[ $X = 1 -a -d b ]\n",
        "[ a -nt b ]\n",
        "pushd lib\n",
    ],
)
def test_what_may_ask_for_files_depends_on_which_there_are(write: Write, text: str) -> None:
    assert noted(write, text) == {LISTING, PLACES}


@pytest.mark.parametrize("text", ["bash lib/b.sh\n", "./lib/b.sh\n", '"$DIR/b.sh" x\n'])
def test_what_a_script_runs_counts_with_what_that_reads(write: Write, text: str) -> None:
    assert noted(write, text) == {LISTING, PLACES, "file:lib/b.sh", "file:common.inc"}


@pytest.mark.parametrize("text", ['source "$CONF"\n', 'bash "${NAME}.sh"\n', "source lib/*$X\n"])
def test_a_computed_name_may_be_any_script(write: Write, text: str) -> None:
    assert SCRIPTS in noted(write, text)

"""A variable that is demanded with a text of its own gets a placeholder when the script stops there."""

from __future__ import annotations

from example_sanity.launch.explore import default_launch
from example_sanity.launch.syntax import parse

SCRIPT = b"""\
RANK=
if [[ ${NNODES:-2} != 1 ]]; then
    : "${RANK:?set it to the rank of this node}"
fi
python3 train.py --rank "$RANK"
"""


def test_a_demand_that_only_shows_at_run_time_is_filled() -> None:
    launch = default_launch(parse("run.sh", SCRIPT), None)

    assert launch.status == 1
    assert launch.entries == ()

    launch = default_launch(parse("run.sh", SCRIPT.replace(b"RANK=\n", b"")), None)

    assert launch.status == 0
    assert [entry.file for entry in launch.entries] == ["train.py"]
    assert launch.commands[-1].unstable == {3}

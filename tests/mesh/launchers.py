"""Small launchers for the tests of the mesh family."""

from __future__ import annotations

KNOBS = """\
#!/usr/bin/env bash
set -euo pipefail
TP=${TP:-1}
PP=${PP:-1}
CP=${CP:-8}
EP=${EP:-8}
ETP=${ETP:-1}
NNODES=${NNODES:-1}
NGPU=$((NNODES * 8))
"""
LAUNCH = """\
ACTOR=(
    actor@actor_rollout_ref.actor=mlite_actor
    actor_rollout_ref.actor.engine.tp=${TP}
    actor_rollout_ref.actor.engine.pp=${PP}
    actor_rollout_ref.actor.engine.cp=${CP}
    actor_rollout_ref.actor.engine.ep=${EP}
    actor_rollout_ref.actor.engine.etp=${ETP}
)
python3 -m verl.trainer.main_ppo "${ACTOR[@]}" trainer.nnodes=${NNODES} trainer.n_gpus_per_node=8 "$@"
"""
EXACT = """\
if (( NGPU % (TP * CP * PP) != 0 || NGPU % (ETP * EP * PP) != 0 )); then
    echo "invalid mesh" >&2
    exit 1
fi
DP=$((NGPU / (TP * CP * PP)))
EDP=$((NGPU / (ETP * EP * PP)))
echo "mesh dp=${DP} edp=${EDP}"
"""
WITHOUT_CP = EXACT.replace("TP * CP * PP", "TP * EP * PP")
PATH = "examples/grpo/run_qwen3_5_35b_megatron_lite.sh"


def launcher(guard: str = "", knobs: str = KNOBS) -> dict[str, str]:
    """Return the files of a project with one launcher."""
    return {PATH: knobs + guard + LAUNCH}

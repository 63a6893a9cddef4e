"""What backends ask and no constraint here says, each with the reason; the page of backends lists it.

The numbers are those of the constraints: a rule of a backend has one whether it is written down as a formula or here.
"""

from __future__ import annotations

_IMPLIED = "follows from others"
_NOTHING = "a fact, nothing that a launch could break"
_RUN_TIME = "known only at run time"
_UNREACHED = "nothing that a launcher of a known trainer can set"
_MENDED = "the backend mends it and says so"

# numbers, why there is no formula, and what they are about.
_REASONS: tuple[tuple[str, str, str], ...] = (
    (
        "ML-03",
        _IMPLIED,
        "both decompositions have the same pipeline ranks: always so once ML-01 and ML-02 hold",
    ),
    ("ML-04", _NOTHING, "ep need not divide dp, nor etp tp, nor cp equal ep"),
    ("ML-06", _NOTHING, "layers need not divide among the stages of Megatron Lite"),
    ("ML-09", _UNREACHED, "an explicit layout: neither verl_mlite nor miles hands one on"),
    ("ML-10 ML-11", _UNREACHED, "the number of micro batches, which the trainers count themselves"),
    (
        "ML-22 ML-24 ML-26 ML-27 ML-28",
        _UNREACHED,
        "lengths of sequences that are not packed; both trainers pack them (ML-37b)",
    ),
    ("ML-25", _NOTHING, "packed sequences are padded to what tp and cp need"),
    ("ML-31", _IMPLIED, "virtual stages need pipeline stages; there are none at all (ML-05)"),
    (
        "ML-34",
        _RUN_TIME,
        "a rank takes the device of its number modulo those there are; MSH010 compares GPUs where they are stated",
    ),
    (
        "ML-40",
        _IMPLIED,
        "miles on Megatron Lite checks Megatron-LM's arguments first: its own constraints here",
    ),
    ("MC-02 SK-08 VM-01", _IMPLIED, "the expert mesh is checked in the ranks: MC-32"),
    ("MC-03 MC-54", _NOTHING, "etp follows tp where it is unset: the default above"),
    ("MC-07", _IMPLIED, "the global batch against micro batch and dp: MC-06"),
    ("MC-18 VM-04 MC-53 MC-55", _MENDED, "sequence parallel without tensor parallel ranks"),
    ("MC-49", _IMPLIED, "virtual stages are computed from the layout"),
    ("MC-60", _UNREACHED, "the type of what stages exchange, which every trainer sets"),
    ("VM-02", _IMPLIED, "the model's own rules: MC-40 to MC-59"),
    ("VM-07", _NOTHING, "the cut of DeepSeek-V4's sequences, which verl sets itself"),
    (
        "VM-05",
        _RUN_TIME,
        "micro batches against virtual stages: their number follows from lengths, and is rounded up",
    ),
    ("VM-09", _IMPLIED, "MindSpeed in verl: the same engine, and MindSpeed's own constraints"),
    ("VO-03", _IMPLIED, "torchtitan in verl: TT-01, with the defaults of verl"),
    ("VC-01 VC-04", _NOTHING, "what verl checks in the driver, and what not"),
    ("VC-09", _IMPLIED, "the critic's micro batches: VC-07, VC-08 and VC-13 in its role"),
    ("VC-15", _RUN_TIME, "micro batches packed by tokens: their number follows from lengths"),
    ("VC-20", _RUN_TIME, "the GPUs of the Ray cluster; where the script starts it: RA-03"),
    ("VF-03", _NOTHING, "what torch does with a mesh that does not fill the world: VF-01 and VF-02"),
    ("VF-08", _NOTHING, "tokens are padded to a multiple of sp"),
    (
        "VF-09 VL-09",
        _NOTHING,
        "ranks that share a sequence or a layer may lie on different nodes: slow, see MSH011",
    ),
    ("SL-01 MI-01", _IMPLIED, "Megatron-LM's arguments on the actor's ranks: its own constraints here"),
    ("SL-02", _IMPLIED, "slime's default sequence length counts: MC-16"),
    ("SL-09", _NOTHING, "colocated rollouts take the actor's GPUs"),
    ("MI-06", _NOTHING, "replicas of their own have no common mesh, so none is judged"),
    ("MI-07", _IMPLIED, "the schedule of miles is slime's: SL-12 to SL-15"),
    ("VE-05", _IMPLIED, "the product of VeOmni's sizes: VE-01 and VE-03"),
    ("VE-09", _UNREACHED, "the device on which weights are initialised, which is no size"),
    ("DS-02 DS-03", _IMPLIED, "what DeepSpeed derives when one of three numbers is left out: DS-01"),
    ("DS-07", _IMPLIED, "heads against Ulysses: DS-05; an uneven path exists for some models"),
    ("DS-09", _MENDED, "more tensor parallel ranks than KV heads in AutoTP"),
    ("MS-08", _UNREACHED, "unaligned stages as nested lists, which a launcher passes as text"),
    ("TR-01 TR-05", _NOTHING, "how torchrun makes the world, and that it compares it with nothing"),
    (
        "TR-02",
        _NOTHING,
        "the forms of --nnodes and --nproc-per-node: a range or a word is no known number here",
    ),
    ("TR-03", _NOTHING, "no rank on a node: torchrun refuses"),
    ("TR-04", _RUN_TIME, "fewer nodes join than the least that are asked for"),
    ("VL-03 VL-04 VL-08", _RUN_TIME, "what vLLM's class of a model supports"),
    ("VL-07", _RUN_TIME, "the GPUs of the host on which the server runs"),
    ("SG-01", _NOTHING, "attention dp lies inside tp: the formulas here count it so"),
    (
        "SG-06 SG-08",
        _RUN_TIME,
        "what SGLang's class of a model does with decode context parallel and output groups",
    ),
)
UNENCODED = {number: (why, what) for numbers, why, what in _REASONS for number in numbers.split()}


def lines() -> list[str]:
    """Return the table of the page."""
    rows = [f"| {numbers.replace(' ', ', ')} | {what} | {why} |" for numbers, why, what in _REASONS]
    return ["| id | about | why there is no formula |", "|---|---|---|", *rows]

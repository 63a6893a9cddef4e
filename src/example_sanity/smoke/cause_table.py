"""The known causes, in the order in which a line is held against them. Texts are those that the programs print.

Sources: tracebacks of Python, Hydra 1.3, OmegaConf 2.3, argparse, PyTorch 2.11, vLLM 0.20, Ray 2.60, Transformer Engine 2.12,
transformers 5.17, bash 5 and Slurm.
"""

from __future__ import annotations

from example_sanity.smoke.causes import Cause

RAY_NOT_UP = Cause(
    "ray-not-up",
    "Ray did not come up",
    'look into raylet.out in /tmp/ray/session_latest/logs. "Timed out waiting for file ..._agent_port_..." there means that '
    "Python starts too slowly, since agents have 15 s: see whether a sitecustomize.py on PYTHONPATH imports much (Megatron "
    "Lite's imports vLLM; VERL_MLITE_SKIP_RUNTIME_PATCHES=1 turns it off). Else look at the memory and the number of processes",
    (
        r"Timed out waiting for file \S*_port_",
        r"Failed to get node info.*Deadline Exceeded",
        r"The current node timed out during startup",
        r"Failed to connect to GCS",
        r"Unable to connect to GCS",
        r"Could not find any running Ray instance",
        r"Ray runtime (?:failed|could not)",
        r"raylet.*(?:failed to start|died unexpectedly during startup)",
    ),
    blame="surroundings",
    retry=True,
)
KILLED = Cause(
    "killed",
    "a process was killed (SIGKILL), most often because the host ran out of memory",
    "look at the kernel log (dmesg) for the out-of-memory killer; give the job more host memory, or fewer workers",
    (
        r"line \d+:\s+\d+ Killed",
        r"Signal 9 \(SIGKILL\) received",
        r"exitcode\s*: -9\b",
        r"died with <Signals\.SIGKILL",
        r"Task was killed due to the node running low on memory",
        r"worker died.*(?:SIGKILL|connection error code 2)",
        r"oom.kill",
    ),
    follows=True,
)
STOPPED = Cause(
    "stopped",
    "something outside ended the run (SIGTERM or SIGINT): a time limit, a scheduler, or a person",
    "where it was a time limit, give a larger one; the lines before this one say how far it was",
    (
        r"Received (?:2|15) death signal",
        r"SignalException: Process \d+ got signal: (?:2|15)\b",
        r"\*\*\* SIG(?:TERM|INT) received",
        r"CANCELLED AT ",
    ),
    follows=True,
)
CRASHED = Cause(
    "crashed",
    "a process crashed in native code",
    "mostly extensions built for another version of torch or CUDA: run `example-sanity doctor` on the launcher",
    (
        r"line \d+:\s+\d+ (?:Segmentation fault|Aborted|Bus error|Illegal instruction|Floating point exception)",
        r"Signal (?:4|6|7|8|11) \(SIG\w+\) received",
        r"Fatal Python error: ",
        r"died with <Signals\.SIG(?:SEGV|ABRT|BUS|ILL)",
    ),
    follows=True,
)
TIME_LIMIT_OF_SCHEDULER = Cause(
    "time-limit",
    "the scheduler ended the job at its time limit",
    "give a larger --time-limit, or fewer --steps",
    (r"CANCELLED AT .* DUE TO TIME LIMIT",),
)

CAUSES: tuple[Cause, ...] = (
    TIME_LIMIT_OF_SCHEDULER,
    RAY_NOT_UP,
    Cause(
        "missing-module",
        "the module {module} is not installed, or not on PYTHONPATH",
        "install what provides {module}, or put its source tree on PYTHONPATH; `example-sanity doctor` lists what else is missing",
        (
            r"ModuleNotFoundError: No module named '(?P<module>[\w.]+)'",
            r"^\S*python\S*: No module named (?P<module>[\w.]+)",
            r"Error while finding module specification for '(?P<module>[\w.]+)'",
            r"ImportError: (?P<module>lib\S+): cannot open shared object file",
        ),
    ),
    Cause(
        "missing-command",
        "the command {command} is not installed, or not on PATH",
        "install {command}, or activate the environment that has it",
        (
            r"line \d+: (?P<command>\S+): command not found",
            r"^(?:env|exec): \W?(?P<command>[\w./+-]+)\W?: No such file or directory",
        ),
    ),
    Cause(
        "missing-variable",
        "the launcher wants {variable}, which is not set",
        "set it with --set {variable}=VALUE",
        (
            r"line \d+: (?P<variable>\w+): unbound variable",
            # ${NAME:?text} prints a text of the launcher's own.
            r"line \d+: (?P<variable>[A-Z][A-Z0-9_]*): (?!command not found|No such file|Permission denied|Is a directory)",
        ),
    ),
    Cause(
        "attention-backend-missing",
        "no attention backend fits: the one that is asked for is not installed, or not made for this GPU",
        "take another attention backend (Megatron Lite: engine.attention_backend_override=fused), or install flash-attn; "
        "NVTE_DEBUG=1 NVTE_DEBUG_LEVEL=2 says why Transformer Engine refuses each",
        (
            r"No dot product attention (?:backend is available|support)",
            r"FlashAttention\w* has been toggled on, but it cannot be used",
            r"flash_attn seems to be not installed",
            r"No valid attention backend",
            r"FlashAttention only supports \w+ GPUs",
        ),
    ),
    Cause(
        "version-window",
        "what is installed is of another version than the code expects: {what}",
        "compare the versions with `example-sanity doctor`, and pin the one that the code was written for{raised}",
        (
            r"ImportError: (?P<what>cannot import name .*)",
            r"ImportError: (?P<what>.*(?:undefined symbol|GLIBCXX_\d|version `).*)",
            r"ImportError: (?P<what>.*is required for a normal functioning of this module.*)",
            r"(?:VersionConflict|RequirementParseError): (?P<what>.*)",
            r"(?:Error|Exception): (?P<what>.*\brequires? \S+ ?[<>=]=? ?\d.*)",
            r"AttributeError: (?P<what>module '[\w.]+' has no attribute .*)",
            r"TypeError: (?P<what>.* got an unexpected keyword argument .*)",
        ),
    ),
    Cause(
        "missing-module",
        "a package is missing, or too old for the code: {what}",
        "the program asks for it itself: pip install {package}{raised}",
        (
            # ImportError: x is not available. Install with `pip install x[extra]>=2`.
            r"^(?:\w+\.)*\w*(?:Error|Exception): (?P<what>.*\bpip3? install ['\"]?"
            r"(?P<package>(?:-{1,2}[\w-]+ )*[\w/-]+(?:\.[\w/-]+)*(?:\[[\w,.-]+\])?(?:[<>=~!]=?\d\w*(?:\.\w+)*,?)*).*)",
        ),
    ),
    Cause(
        "bad-override",
        "Hydra refuses an override: {what}",
        "run `example-sanity overrides` on the launcher: it knows the keys, and the nearest one to each that is wrong",
        (
            r"(?P<what>Could not override '.*'.*)",
            r"(?P<what>Key '.*' is not in struct.*)",
            r"(?P<what>Could not append to config\..*)",
            r"(?P<what>In '.*': Could not find '.*')",
            r"(?P<what>Could not load '?[\w/.@]+'?\.?$)",
            r"(?P<what>You must specify '.*', e\.g.*)",
            r"(?P<what>Missing mandatory value: .*)",
            r"(?P<what>Error parsing override '.*')",
            r"(?:hydra|omegaconf)\.errors\.\w+: (?P<what>.*)",
            r"(?P<what>(?:mismatched input|no viable alternative at input|token recognition error) .*)",
        ),
    ),
    Cause(
        "wrong-flag",
        "the program refuses an argument: {what}",
        "run `example-sanity flags` on the launcher: it knows the flags, and the nearest one to each that is wrong",
        (
            r"error: (?P<what>unrecognized arguments: .*)",
            r"error: (?P<what>argument .*(?:invalid|expected|not allowed|ambiguous).*)",
            r"error: (?P<what>the following arguments are required: .*)",
            r"error: (?P<what>ambiguous option: .*)",
            r"Error: (?P<what>No such option.*)",
        ),
    ),
    Cause(
        "cuda-out-of-memory",
        "the GPU has too little memory",
        "see that nothing else holds memory on the GPU (nvidia-smi); then shorter sequences, a smaller micro batch, or a smaller "
        "memory share of the rollout engine (gpu_memory_utilization)",
        (
            r"CUDA out of memory",
            r"CUDA error: out of memory",
            r"CUBLAS_STATUS_ALLOC_FAILED",
            r"cudaErrorMemoryAllocation",
            r"No available memory for the cache blocks",
            r"Free memory on device .* is less than desired GPU memory utilization",
            r"Cuda failure 2 'out of memory'",
        ),
    ),
    Cause(
        "gpu-missing",
        "the program finds too few GPUs, or a driver that does not fit: {what}",
        "compare with nvidia-smi and CUDA_VISIBLE_DEVICES; give the number that is there with --gpus",
        (
            r"(?P<what>No CUDA GPUs are available)",
            r"(?P<what>Found no NVIDIA driver on your system)",
            r"(?P<what>Torch not compiled with CUDA enabled)",
            r"(?P<what>[Tt]he (?:NVIDIA|CUDA) driver .* (?:too old|insufficient).*)",
            r"(?P<what>no kernel image is available for execution on the device)",
            r"(?P<what>CUDA error: invalid device ordinal)",
            r"(?P<what>Total available GPUs \d+ is less than total desired GPUs \d+)",
        ),
        blame="surroundings",
    ),
    Cause(
        "non-finite-loss",
        "the trainer met a value that is not finite: {what}",
        "look at the first step: a loss that is NaN from the start comes from the weights or the kernels, later from the "
        "learning rate",
        (
            r"(?P<what>[Ff]ound (?:NaN|Inf)\b.*)",
            r"(?P<what>[Uu]nexpected result (?:nan|inf).*)",
            r"(?P<what>(?:[Ll]oss|[Gg]rad(?:ient)?[ _]norm) is (?:not finite|nan|NaN|inf).*)",
            r"(?P<what>probability tensor contains either `inf`, `nan`.*)",
        ),
    ),
    Cause(
        "checkpoint-mismatch",
        "the checkpoint does not have the weights that the loader reads: {what}",
        "compare config.json with what the loader expects (number of experts, layers, tied embeddings) and the names in the "
        "safetensors index with those in the log",
        (
            r"(?P<what>Error\(s\) in loading state_dict.*)",
            r"(?P<what>size mismatch for .*)",
            r"(?P<what>(?:Missing|Unexpected) key\(s\) in state_dict.*)",
            r"KeyError: (?P<what>['\"](?:\w+\.)*(?:layers|experts|mlp|self_attn|embed_tokens|lm_head)\..*)",
            r"(?P<what>[Ss]afetensorError.*)",
            r"(?P<what>File does not contain tensor .*)",
            r"(?P<what>\bexperts\.\d+\S* (?:is )?(?:missing|not found).*)",
        ),
    ),
    Cause(
        "no-network",
        "the program wants something from the network, and does not get it",
        "give it local files (model, tokenizer, data), and set HF_HUB_OFFLINE=1 so that it says sooner what it misses",
        (
            r"We couldn't connect to 'https?://",
            r"LocalEntryNotFoundError",
            r"(?:Error|Exception): .*(?:Max retries exceeded with url|Temporary failure in name resolution)",
            r"OfflineModeIsEnabled",
        ),
        blame="surroundings",
    ),
    Cause(
        "missing-file",
        "there is no file or folder {file}",
        "see that the path exists where the program runs (each node, inside the container)",
        (
            r"FileNotFoundError: \[Errno 2\] No such file or directory: '?(?P<file>[^']+)'?",
            r"FileNotFoundError: (?P<file>.+)",
            r"can't open file '(?P<file>[^']+)'",
            r"line \d+: (?P<file>[^:]+): No such file or directory",
            r"^bash: (?P<file>[^:]+): No such file or directory",
            r"(?P<file>\S+) does not appear to have a file named config\.json",
            r"HFValidationError: .*'(?P<file>[^']+)'",
        ),
    ),
    Cause(
        "no-space",
        "there is no space left on a disk",
        "free some, or point TMPDIR and the cache folders at a larger disk",
        (r"No space left on device", r"Disk quota exceeded"),
        blame="surroundings",
    ),
    Cause(
        "address-in-use",
        "a port is taken by another process",
        "set another MASTER_PORT, or end the earlier run that still holds it",
        (r"EADDRINUSE", r"[Aa]ddress already in use", r"errno: 98\b"),
        blame="surroundings",
    ),
    Cause(
        "init-timeout",
        "the processes did not find each other, or one of them stopped answering",
        "look at the first rank that says something else; then at MASTER_ADDR, MASTER_PORT and NCCL_SOCKET_IFNAME. "
        "NCCL_DEBUG=INFO says where it waits",
        (
            r"Watchdog caught collective operation timeout",
            r"DistStoreError: ",
            r"DistNetworkError: ",
            r"DistBackendError: ",
            r"NCCL error",
            r"nccl(?:System|Internal|Remote|UnhandledCuda)Error",
            r"Timed out after \d+ seconds waiting for clients",
            r"Timeout waiting for key",
            r"torch\.distributed.*[Tt]imed? ?out",
        ),
        follows=True,
    ),
    KILLED,
    CRASHED,
    STOPPED,
)

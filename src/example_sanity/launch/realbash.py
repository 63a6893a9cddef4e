"""The second engine: real bash, shut in namespaces of its own, with every external command replaced by a stub.

It is the oracle of the tests and an opt-in (``--engine bash``), never the default. The script sees an overlay of the
project as its root, no network, no other process, no capability, and only the bash, coreutils and text tools of the
host; what it writes goes to memory. Where the kernel does not allow that (no Linux, no user namespaces), it refuses.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec
from msgspec import field

from example_sanity.launch import normalise, sandbox, world
from example_sanity.launch.command import Launch
from example_sanity.launch.stubs import STUB, Responder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.launch.scenario import Scenario
    from example_sanity.launch.syntax import Script

SECONDS = 10
OUTPUT_BLOCKS = 32 * 1024  # ulimit -f, in 512-byte blocks: 16 MiB of output or of any one file
_TOOLS = ("bash", "setpriv", "env", "mkdir", "mkfifo", "cat")
# Raising a limit needs rights that the script has on a cluster and not in here; and a script that sets its own PATH
# finds there what stands on ours.
_FUNCTIONS = {
    "BASH_FUNC_ulimit%%": "() { :; }",
    "BASH_FUNC_command_not_found_handle%%": """() {
        local folder
        for folder in /usr/local/bin /usr/bin; do
            [[ -x $folder/$1 ]] && { "$folder/$1" "${@:2}"; return; }
        done
        echo "bash: $1: command not found" >&2
        return 127
    }""",
}
_LIBRARIES = ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/share/terminfo")

_SETUP = r"""
set -e
umask 022
mount --make-rprivate /
echo "$HOST" > /proc/sys/kernel/hostname
mount -t tmpfs -o size=64m,mode=755 none "$BOX/mount"
cd "$BOX/mount"
mkdir upper work root lower
mount --bind "$LOWER" lower  # the path itself may hold a comma or a colon
mount -t overlay overlay -o "lowerdir=$PWD/lower,upperdir=$PWD/upper,workdir=$PWD/work" root
R=$PWD/root
cp -r "$BOX/extra/." "$R/"
show() {  # HOST-PATH PATH: read-only, or not at all
  mount --bind "$1" "$R$2"
  mount -o remount,bind,ro "$R$2" || mount -o remount,bind,ro,nosuid,nodev "$R$2"
  [ ! -w "$R$2" ]
}
for d in $LIBRARIES; do
  if [ -L "$d" ]; then mkdir -p "$R${d%/*}"; [ -e "$R$d" ] || cp -P "$d" "$R$d"
  elif [ -d "$d" ]; then mkdir -p "$R$d"; show "$d" "$d"
  fi
done
mkdir -p "$R/usr/bin" "$R/bin" "$R/usr/local/bin" "$R/native" "$R/es" "$R/proc" "$R/dev" "$R/tmp" "$R/home/user" "$R/etc"
show "$NATIVE" /native
show "$BOX/links" /usr/bin
show "$BOX/links" /bin
show "$BOX/stubs" /usr/local/bin
mount --bind "$BOX/es" "$R/es"
mount --bind "$BOX/es/requests" "$R/es/requests"  # a mount point cannot be removed
mount -t tmpfs -o mode=755 none "$R/dev"
for n in null zero urandom random; do : > "$R/dev/$n"; mount --bind "/dev/$n" "$R/dev/$n"; done
ln -s /proc/self/fd "$R/dev/fd"; ln -s fd/0 "$R/dev/stdin"; ln -s fd/1 "$R/dev/stdout"; ln -s fd/2 "$R/dev/stderr"
mount -t proc proc "$R/proc"
ulimit -f "$BLOCKS"; ulimit -u 128; ulimit -c 0
exec unshare --user --map-user=1000 --map-group=1000 --root="$R" --wd=/ -- \
  /native/setpriv --no-new-privs --inh-caps=-all --bounding-set=-all -- \
  /native/env -i "$@"
"""


class _Run(msgspec.Struct):
    """What came out of one run in the box."""

    status: int
    stdout: str
    stderr: str
    limit: bool
    failure: str | None
    commands: list[sandbox.Recorded]
    variables: dict[str, str] = field(default_factory=dict)


@lru_cache(maxsize=1)
def refusal() -> str | None:
    """Return why real bash cannot be shut in here, or None when it can."""
    for tool in ("unshare", "setpriv", "bash", "mount", "timeout"):
        if shutil.which(tool) is None:
            return f"the program {tool} is missing"
    with _box() as box:
        try:
            run = _execute(
                box, None, ["bash", "-c", 'echo "$EUID"; command -v ls'], {}, Responder(box / "es", {})
            )
        except OSError as error:
            return str(error)
        return (
            None if run.stdout.splitlines()[:1] == ["1000"] else f"no namespaces: {run.stderr.strip()[-200:]}"
        )


def evaluate(
    script: Script, scenario: Scenario, root: Path | None = None, names: Iterable[str] = ()
) -> Launch:
    """Evaluate with real bash; parameters and result as of the other engine, but call sites are not known.

    ``names`` are commands to stub besides those found in the script. The script is run as it is written.
    """
    reason = sandbox.unreadable(script.data) or sandbox.too_deep(script.text)
    if reason is None and refusal() is not None:
        reason = f"real bash is not available here: {refusal()}"
    if reason is not None:
        return Launch(script, scenario, (), (), 1, "", "", {}, failure=reason)
    literal = normalise.normalise(script.text, "0").names
    wanted = {*names, *(name for name in literal if "/" not in name or name.startswith("/"))}
    for _ in range(3):
        run = _in_box(script, scenario, root, wanted)
        # a missing path may be a file to source or to write: a stub in its place would change the script
        unknown = {name for name in sandbox.unknown_commands(run.stderr) if "/" not in name}
        missing = unknown - wanted - world.absent(scenario.probes)
        if not missing:
            break
        wanted |= missing
    return _launch(script, scenario, run)


def _launch(script: Script, scenario: Scenario, run: _Run) -> Launch:
    from example_sanity.launch import provenance
    from example_sanity.launch.entry import entries
    from example_sanity.launch.evaluator import cut_short

    commands = provenance.locate(script, {}, run.commands)
    return Launch(
        script=script,
        scenario=scenario,
        commands=commands,
        entries=entries(commands),
        status=run.status,
        stdout=run.stdout,
        stderr=run.stderr,
        variables=run.variables,
        failure=run.failure or cut_short(script, run.status),
        limit=run.limit,
    )


def _in_box(script: Script, scenario: Scenario, root: Path | None, names: set[str]) -> _Run:
    from example_sanity.launch.evaluator import prelude

    with _box() as box:
        stubs = {*world.names(scenario.probes), *names} - world.absent(scenario.probes)
        _place_stubs(box, stubs, root)
        target = box / "extra" / script.path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(prelude(script) + script.text, encoding="utf-8", newline="")
        target.chmod(0o755)
        environment = {**scenario.environment, **scenario.placeholders}
        words = ["bash", script.path, *scenario.arguments]
        return _execute(box, root, words, environment, Responder(box / "es", scenario.probes))


def _place_stubs(box: Path, names: Iterable[str], root: Path | None) -> None:
    for name in sorted({*names, sandbox.END, "mktemp"}):
        folder, _, base = name.rpartition("/")
        if ".." in name or not base:
            continue
        if folder in ("", world.STUB_FOLDER):
            place, target = box / "stubs" / base, STUB
        elif folder in ("/bin", "/usr/bin"):
            place, target = box / "links" / base, f"{world.STUB_FOLDER}/{STUB}"
        else:
            inside = name.lstrip("./")
            place, target = box / "extra" / inside, f"{world.STUB_FOLDER}/{STUB}"
            if root is not None and (root / inside).exists():
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError, NotADirectoryError):
            place.symlink_to(target)


@contextlib.contextmanager
def _box() -> Iterator[Path]:
    """A folder on the host for one run: mount point, stubs, links to the native tools, mailbox, extra files."""
    with tempfile.TemporaryDirectory(prefix="example-sanity-") as folder:
        box = Path(folder)
        for name in ("mount", "stubs", "links", "es", "extra", "empty"):
            (box / name).mkdir()
        for tool in sorted({*world.NATIVE, *_TOOLS}):
            if (_native() / tool).exists():
                (box / "links" / tool).symlink_to(f"/native/{tool}")
        yield box


@lru_cache(maxsize=1)
def _native() -> Path:
    """Copy the host's own bash and text tools into a folder, once a process: nothing else of /usr/bin is shown."""
    folder = Path(tempfile.mkdtemp(prefix="example-sanity-native-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for tool in sorted({*world.NATIVE, *_TOOLS}):
        found = shutil.which(tool, path="/usr/bin:/bin")
        if found is not None:
            shutil.copy(Path(found).resolve(), folder / tool)
    return folder


def _execute(
    box: Path, root: Path | None, words: list[str], environment: dict[str, str], responder: Responder
) -> _Run:
    settings = {
        "BOX": str(box),
        "LOWER": str(root or box / "empty"),
        "NATIVE": str(_native()),
        "LIBRARIES": " ".join(_LIBRARIES),
        "HOST": world.HOST,
        "BLOCKS": str(OUTPUT_BLOCKS),
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    }
    with (box / "out").open("w+b") as out, (box / "err").open("w+b") as err, responder:
        command = _command_line(words, environment)
        process = subprocess.Popen(
            command, env=settings, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        limit = not _ends(process)
        texts = [_read(stream) for stream in (out, err)]
    failure = f"real bash ran for more than {SECONDS} s" if limit else None
    if responder.error is not None:
        failure = f"the stubs were not answered: {responder.error}"
    return _Run(
        process.returncode, texts[0], texts[1], limit, failure, responder.commands, responder.variables
    )


def _command_line(words: list[str], environment: dict[str, str]) -> list[str]:
    given = {"PATH": world.PATH, "HOME": world.HOME, "USER": "user", **world.LOCALE, **_FUNCTIONS}
    pairs = [f"{name}={value}" for name, value in {**given, **environment}.items()]
    namespaces = [f"--{kind}" for kind in ("user", "map-root-user", "net", "pid", "mount", "ipc", "uts")]
    setup = ["bash", "-c", _SETUP, "setup", *pairs, "/native/" + words[0], *words[1:]]
    # a time limit that holds even where this process is killed
    limit = ["timeout", "-s", "KILL", str(SECONDS + 5)]
    return [*limit, "unshare", *namespaces, "--fork", "--kill-child", "--", *setup]


def _ends(process: subprocess.Popen[bytes]) -> bool:
    """Wait for the process; kill it, and its namespaces with it, when the time is over."""
    try:
        process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False
    return True


def _read(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")

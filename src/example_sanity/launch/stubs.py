"""The mailbox between stubbed commands in real bash and this process, which records and answers them."""

from __future__ import annotations

import os
import re
import select
import threading
import time
from typing import TYPE_CHECKING

from example_sanity.launch import world
from example_sanity.launch.sandbox import END, Recorded

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from example_sanity.launch.scenario import Answer

# The script's processes can write into the mailbox: what they leave there is read as data, never followed.
_STUB = r"""#!/native/bash -p
[[ $0 == "${BASH_SOURCE[0]}" ]] || return 1
q=/es/$BASHPID
{
  printf '%s\0' "$0" "$#" "$@"
  while read -r n; do printf '%s=%s\0' "$n" "${!n}"; done < <(compgen -e)
} > "$q.question"
/native/mkfifo "$q.reply"
echo "$BASHPID" > /es/requests
read -r status < "$q.reply"
answer=$(< "$q.answer")
if [[ ${0##*/} == mktemp ]]; then
  [[ $status == 1 ]] && /native/mkdir -p "$answer" || : > "$answer"
  status=0
fi
/native/cat "$q.answer"
exit "$status"
"""
STUB = ".stub"  # the file that every stubbed command links to
_LARGEST = 1 << 22
_ANSWER_SECONDS = 2


class Responder:
    """Answers the stubs of one run in a thread, in the order in which they ask. Use it as a context manager."""

    def __init__(self, folder: Path, probes: Mapping[str, Answer]) -> None:
        self.commands: list[Recorded] = []
        self.variables: dict[str, str] = {}
        self.error: Exception | None = None
        self._folder = folder
        self._probes = probes
        self._temporaries = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Responder:
        stub = self._folder.parent / "stubs" / STUB
        stub.write_text(_STUB, encoding="utf-8")
        stub.chmod(0o755)
        os.mkfifo(self._folder / "requests")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _serve(self) -> None:
        pipe = os.open(self._folder / "requests", os.O_RDWR | os.O_NONBLOCK)
        ready = select.poll()
        ready.register(pipe, select.POLLIN)
        rest = b""
        try:
            while not self._stop.is_set():
                if ready.poll(20):  # milliseconds
                    *lines, rest = (rest + os.read(pipe, 4096)).split(b"\n")
                    for line in lines:
                        self._reply(line.decode("ascii", "replace"))
        except Exception as error:
            self.error = error
        finally:
            os.close(pipe)

    def _reply(self, number: str) -> None:
        if not re.fullmatch(r"\d{1,9}", number):
            return
        words = self._question(number)
        if words is None:
            return
        count = int(words[1])
        argv = (_typed(words[0]), *words[2 : 2 + count])
        environment = dict(
            pair.split("=", 1) for pair in words[2 + count :] if "=" in pair and "%%" not in pair
        )
        if argv[0] == END:
            triples = zip(argv[1::3], argv[2::3], argv[3::3], strict=False)
            self.variables = {name: value for name, there, value in triples if there}
            self._answer(number, "", 0)
            return
        if argv[0] == "mktemp":
            self._temporaries += 1
            path, is_folder = world.temporary(argv, self._temporaries)
            self._answer(number, path + "\n", int(is_folder))
            return
        answer = world.respond(argv, self._probes)
        if world.recorded(argv):
            self.commands.append(
                Recorded(argv, environment, answer.status, None, environment.get("PWD", "/"))
            )
        self._answer(number, answer.stdout, answer.status)

    def _question(self, number: str) -> list[str] | None:
        try:
            handle = os.open(self._folder / f"{number}.question", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(handle, "rb") as stream:
            words = stream.read(_LARGEST).decode("utf-8", "replace").split("\0")[:-1]
        return words if len(words) >= 2 and words[1].isdigit() else None

    def _answer(self, number: str, stdout: str, status: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        place = self._folder / f"{number}.answer"
        place.unlink(
            missing_ok=True
        )  # a number comes back only after its earlier process has read its answer
        with os.fdopen(os.open(place, flags, 0o644), "wb") as stream:
            stream.write(stdout.encode())
        end = time.monotonic() + _ANSWER_SECONDS
        while time.monotonic() < end:
            try:
                reply = os.open(self._folder / f"{number}.reply", os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            except OSError:  # the stub has not opened its end yet
                time.sleep(0.0005)
                continue
            os.write(reply, f"{status}\n".encode())
            os.close(reply)
            return


def _typed(path: str) -> str:
    """Return the command as the script named it: a stub found on the PATH goes by its bare name."""
    folder, _, name = path.rpartition("/")
    return name if folder == world.STUB_FOLDER else path

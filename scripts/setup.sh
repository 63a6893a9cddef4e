# shellcheck shell=bash
# Sourced by the other scripts: makes the virtual environment .venv and keeps it up to date with pyproject.toml.
# PYTHON chooses the interpreter, VENV another folder.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$repository" || exit 1
VENV=${VENV:-.venv}
stamp="$VENV/.installed"

if [[ ! -x "$VENV/bin/python" ]]; then
    "${PYTHON:-python3}" -m venv "$VENV"
fi
if ! cmp -s pyproject.toml "$stamp"; then
    echo "Installing what pyproject.toml names into $VENV (about a minute) ..." >&2
    "$VENV/bin/python" -m pip install --quiet --upgrade 'pip>=25.1'
    "$VENV/bin/python" -m pip install --quiet --editable . --group dev
    cp pyproject.toml "$stamp"
fi
PATH="$(cd "$VENV/bin" && pwd):$PATH"
export PATH

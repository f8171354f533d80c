#!/usr/bin/env bash
# Everything that must pass before a change goes in: format, lint, types, the site, tests.
# Makes the environment .venv if there is none; needs Python 3.11 or later and PyPI.
# Every check runs even when an earlier one fails, and its time is printed at the end; arguments go
# to pytest, which runs last and prints the time of each file and every skip with its reason.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 python python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "check: Python 3.11 or later is needed; set PYTHON to one." >&2
  return 1
}

if [[ ! -x .venv/bin/python ]]; then
  python=$(find_python) && "$python" -m venv .venv || exit 1
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]' || exit 1

failed=()
times=()
check() {
  local start=$SECONDS
  echo "== $*"
  .venv/bin/python -m "$@" || failed+=("$*")
  times+=("$((SECONDS - start)) s: $*")
}

check ruff format --check .
check ruff check .
check basedpyright --pythonpath .venv/bin/python
check tools.site
check pytest -n 2 "$@"

printf 'check: %s\n' "${times[@]}"
if ((${#failed[@]})); then
  printf 'check: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi

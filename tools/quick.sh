#!/usr/bin/env bash
# A minute's checks of what has changed since a commit (HEAD): stubs are made, then format, lint,
# types of the changed files, the tests of the rules of the house, and the changed files of tests. Arguments after the
# commit go to pytest: bash tools/quick.sh HEAD -k cbrt tests/test_operations.py
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
since=${1:-HEAD}
shift || true

mapfile -t files < <(
  git diff --name-only --diff-filter=d "$since" -- 'src/*.py' 'tests/*.py'
  git ls-files --others --exclude-standard -- 'src/*.py' 'tests/*.py'
)
tests=(tests/test_{layers,names,operation_names,census}.py)
for file in "${files[@]}"; do
  if [[ $file == tests/test_*.py && " ${tests[*]} " != *" $file "* ]]; then tests+=("$file"); fi
done

python=.venv/bin/python
"$python" -m tools.stubs
"$python" -m ruff format .
"$python" -m ruff check --fix .
if ((${#files[@]})); then "$python" -m basedpyright --pythonpath "$python" "${files[@]}"; fi
"$python" -m pytest -q -x "${tests[@]}"
if (($#)); then "$python" -m pytest -q -x "$@"; fi

#!/usr/bin/env bash
# The fast tests on every interpreter that is found, each in an environment of its own with the newest libraries.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=()
found=()
for version in "$@"; do
  # pyenv's names exist for versions that are not chosen, too: ask the interpreter itself.
  for python in "$HOME"/.pyenv/versions/"$version".*/bin/python "$(command -v "python$version")"; do
    if [ -x "$python" ] && [ "$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$version" ]; then
      found+=("$version")
      where=.venv-matrix/$version
      [ -d "$where" ] || "$python" -m venv "$where"
      "$where/bin/pip" install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager -e ".[dev,logs,skills]" &&
        "$where/bin/python" -m pytest -n 2 --dist loadgroup -m "not slow" || failed+=("$version")
      break
    fi
  done
done
echo "Found: ${found[*]:-no interpreter of $*}. Failed: ${failed[*]:-none}."
[ ${#found[@]} -gt 0 ] && [ ${#failed[@]} -eq 0 ]

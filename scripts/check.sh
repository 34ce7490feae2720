#!/usr/bin/env bash
# Everything that is judged without running the program: layers, formatting, lint, types. All of it, then the verdict.
set -u
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
source "$root/scripts/setup/all.sh"
cd "$root" || exit
set_up_development || exit
clang_format=$("$dev_python" -c 'import clang_format; print(clang_format.get_executable("clang-format"))')
failed=()

run() { # run NAME COMMAND..
  local name=$1
  shift
  "$@" || failed+=("$name")
}

mapfile -t cpp < <(find src tools tests fuzz bench -name '*.cpp' -o -name '*.h' | sort)
run layers "$dev_python" scripts/check_layers.py
((${#cpp[@]})) && run clang-format "$clang_format" --dry-run --Werror "${cpp[@]}"
run "ruff format" "$dev_python" -m ruff format --check .
run "ruff check" "$dev_python" -m ruff check .
run mypy "$dev_python" -m mypy

if ((${#failed[@]})); then
  printf 'check: failed:' >&2
  printf ' %s' "${failed[@]}" >&2
  printf '\n' >&2
  exit 1
fi
echo "check: all passed"

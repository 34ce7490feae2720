#!/usr/bin/env bash
# Formats all code in place.
set -u
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
source "$root/scripts/setup/all.sh"
cd "$root" || exit
set_up_development || exit
mapfile -t cpp < <(find src tools tests -name '*.cpp' -o -name '*.h')
((${#cpp[@]})) && "$(dirname "$dev_python")/clang-format" -i "${cpp[@]}"
"$dev_python" -m ruff format .
"$dev_python" -m ruff check --fix .

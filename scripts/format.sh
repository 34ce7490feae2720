#!/usr/bin/env bash
# Formats all code in place.
set -u
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
source "$root/scripts/setup/all.sh"
cd "$root" || exit
set_up_development || exit
clang_format=$("$dev_python" -c 'import clang_format; print(clang_format.get_executable("clang-format"))')
mapfile -t cpp < <(find src tools tests fuzz bench -name '*.cpp' -o -name '*.h')
((${#cpp[@]})) && "$clang_format" -i "${cpp[@]}"
"$dev_python" -m ruff format .
"$dev_python" -m ruff check --fix .

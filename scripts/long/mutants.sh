#!/usr/bin/env bash
# mutants.sh FOLDER... [--out FILE] [--count N]: small faults in the traced programs of the problems in the folders, at
# small sizes; says how many of those that change the function validation rejects. Goes on where it was stopped.
set -u
root=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
source "$root/scripts/setup/all.sh"
cd "$root" || exit
set_up_development tests || exit
begin_set_up
build_preset ci
end_set_up
export SOLAR_ROOT=$root SOLAR_PYTHON=$dev_python PYTHONPATH=$root/python:$root/tests
exec "$dev_python" -m oracle.problem_mutants --solar "$root/build/ci/solar" "$@"

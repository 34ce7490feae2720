#!/usr/bin/env bash
# mutants.sh FOLDER... [--out FILE] [--count N]: small faults in the traced programs of the problems in the folders, at
# small sizes; says how many of those that change the function validation rejects. Goes on where it was stopped.
set -u
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/built.sh"
export SOLAR_ROOT=$root SOLAR_PYTHON=$dev_python PYTHONPATH=$root/python:$root/tests
exec "$dev_python" -m oracle.problem_mutants --solar "$root/build/ci/solar" "$@"

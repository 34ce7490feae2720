#!/usr/bin/env bash
# 20,000 random programs: every executor against the NumPy evaluator. Arguments go to tests/oracle/long_differential.py.
set -u
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/built.sh"
cd tests || exit
exec "$dev_python" -m oracle.long_differential "$@"

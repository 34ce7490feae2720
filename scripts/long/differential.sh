#!/usr/bin/env bash
# 20,000 random programs: every executor against the NumPy evaluator. Arguments go to tests/oracle/long_differential.py.
set -u
root=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
source "$root/scripts/setup/all.sh"
cd "$root" || exit
set_up_development tests || exit
begin_set_up
build_preset ci
end_set_up
cd tests || exit
exec "$dev_python" -m oracle.long_differential "$@"

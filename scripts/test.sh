#!/usr/bin/env bash
# Builds the `ci` preset, runs the C++ tests, then the Python ones. SOLAR_UPDATE_GOLDENS=1 rewrites golden files.
set -u
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
source "$root/scripts/setup/all.sh"
cd "$root" || exit
set_up_development tests || exit
begin_set_up
build_preset ci
end_set_up

failed=0
ctest --test-dir build/ci --output-on-failure --no-tests=ignore -j "$(nproc)" || failed=1
export SOLAR_ROOT=$root SOLAR_PYTHON=$python SOLAR_BINARY=$root/build/ci/solar
if [[ -n ${SOLAR_UPDATE_GOLDENS:-} ]]; then
  export SOLAR_UPDATE_GOLDENS
fi
"$dev_python" -m pytest -n "$(nproc)" --dist worksteal --durations=15 "$@" || failed=1
exit "$failed"

#!/usr/bin/env bash
# fuzz.sh [SECONDS [SEED]]: looks for texts that the parser, verifier or executor does not survive, guided by coverage,
# under AddressSanitizer and UBSan; an hour unless given. Findings are saved in build/fuzz/findings.
set -u
root=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
source "$root/scripts/setup/all.sh"
cd "$root" || exit
set_up_development tests || exit
cmake --preset fuzz >/dev/null && cmake --build --preset fuzz || exit
seed=${2:-1}
texts=$root/build/fuzz/programs
(cd tests && "$dev_python" -m oracle.write_programs "$texts" 400 "$seed") || exit
rm -rf build/fuzz/findings
exec build/fuzz/solar_fuzz "${1:-3600}" "$seed" build/fuzz/findings "$texts"/*.alir

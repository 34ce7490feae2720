#!/usr/bin/env bash
# fuzz.sh [SECONDS [SEED]]: looks for texts that the parser, verifier or executor does not survive, guided by coverage,
# under AddressSanitizer and UBSan; an hour unless given. Findings are saved in build/fuzz/findings.
set -u
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/fuzzer.sh"
run_fuzzer guided "${1:-3600}s" "${2:-1}"

#!/usr/bin/env bash
# mutations.sh [TEXTS [SEED]]: random token mutations of programs, parsed, verified and run under AddressSanitizer and
# UBSan; 100,000 unless given. Findings are saved in build/fuzz/findings.
set -u
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/fuzzer.sh"
run_fuzzer plain "${1:-100000}" "${2:-1}"

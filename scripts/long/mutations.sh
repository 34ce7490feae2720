#!/usr/bin/env bash
# mutations.sh [ROUNDS [SEED]]: random token mutations of programs, run under AddressSanitizer and UBSan; 100,000 unless
# given. The text that ends badly stays in build/dev/mutated.alir.
set -u
root=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
source "$root/scripts/setup/all.sh"
cd "$root" || exit
set_up_development tests || exit
cmake --preset dev >/dev/null && cmake --build --preset dev --target solar_ir_test solar_exec_test || exit
export SOLAR_FUZZ_ROUNDS=${1:-100000} SOLAR_SEED=${2:-1} SOLAR_FUZZ_LAST=$root/build/dev/mutated.alir
build/dev/solar_ir_test --gtest_filter='Fuzz.Mutated*' && build/dev/solar_exec_test --gtest_filter='Fuzz.Mutated*'

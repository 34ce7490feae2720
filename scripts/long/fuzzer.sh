# Sourced: sets up what the fuzzer needs and builds it, with AddressSanitizer, UBSan and coverage. `run_fuzzer MODE LIMIT
# SEED` then runs it on the goldens, the prelude, the reference's blocks and random programs.
root=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
source "$root/scripts/setup/all.sh"
cd "$root" || exit
set_up_development tests || exit
cmake --preset fuzz >/dev/null && cmake --build --preset fuzz || exit

run_fuzzer() {
  local texts=$root/build/fuzz/programs
  (cd tests && "$dev_python" -m oracle.write_programs "$texts" 400 "$3") || return
  rm -rf "build/fuzz/findings"
  build/fuzz/solar_fuzz "$1" "$2" "$3" build/fuzz/findings "$texts"/*.alir
}

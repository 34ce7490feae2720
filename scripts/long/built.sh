# Sourced: sets up what the tests need and builds them, in `$root`.
root=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
source "$root/scripts/setup/all.sh"
cd "$root" || exit
set_up_development tests || exit
begin_set_up
build_preset ci
end_set_up

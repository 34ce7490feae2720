#!/usr/bin/env bash
# Sets up without running anything. `program` (default): what `solar` needs. `development`: what checks and tests need.
set -u
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
source "$root/scripts/setup/all.sh"
case ${1:-program} in
  program) set_up_program && say "ready: $binary, $python" ;;
  development) set_up_development tests && say "ready: $dev_python" ;;
  *)
    echo "usage: setup.sh [program|development]" >&2
    exit 2
    ;;
esac

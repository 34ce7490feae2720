#!/usr/bin/env bash
# Checks, then tests even if a check failed; fails if either did. The tests' summary is the last line.
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" || exit
bash check.sh
checked=$?
bash test.sh
tested=$?
exit $((checked || tested))

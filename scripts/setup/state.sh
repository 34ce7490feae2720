# Is the set-up of this clone done and still right? Sourced with `root` set; must stay fast (every call runs it).
#
# .solar/ready/KEY holds, for one Python environment of the caller (KEY): a signature, the chosen interpreter, and
# files that must not have changed since (the interpreter's packages, the binary, its libraries). It is written last
# and by rename, so a set-up that was interrupted is simply not ready.

state=$root/.solar
binary=$root/build/release/solar

# The environment that decides which Python is chosen.
environment_key() {
  local sum
  sum=$(printf '%s\n' "$root" "${SOLAR_PYTHON:-}" "${VIRTUAL_ENV:-}" "${CONDA_PREFIX:-}" "${PYENV_VERSION:-}" \
    "${PYTHONPATH:-}" "$(type -P python3)" "$(type -P python)" | cksum)
  echo "${sum%% *}"
}

# One checksum over names, sizes and times of everything that the program is built from, and of the files given.
signature() {
  {
    find "$root"/{src,tools,prelude,cmake,CMakeLists.txt,CMakePresets.json,pyproject.toml,scripts/setup} \
      -type f -printf '%p %s %T@\n' 2>/dev/null | LC_ALL=C sort
    stat -L -c '%n %s %Y' -- "$@" 2>&1
  } | cksum
}

# Sets `python`; fails when anything has to be done.
read_ready() {
  local lines=()
  { mapfile -t lines <"$state/ready/$(environment_key)"; } 2>/dev/null || return 1
  ((${#lines[@]} > 3)) || return 1
  python=${lines[1]}
  [[ -x $python && -x $binary && ${lines[0]} == "$(signature "${lines[@]:2}")" ]]
}

# write_ready SIGNED_BEFORE FILE..: SIGNED_BEFORE is the sources' signature before the build, so that an edit made
# during the build is noticed by the next call.
write_ready() {
  local before=$1 ready
  shift
  [[ $before == "$(signature)" ]] || return 0
  ready=$state/ready/$(environment_key)
  mkdir -p "$state/ready"
  write_file "$ready" "$(signature "$@")" "$python" "$@"
}

# write_file FILE LINE..: whole or not at all.
write_file() {
  local file=$1
  shift
  [[ -d $file ]] && rm -rf "$file"
  printf '%s\n' "$@" >"$file.$$" && mv -f "$file.$$" "$file"
}

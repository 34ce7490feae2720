# The build, by CMake preset. A build folder that an interruption or anything else has damaged is made anew, once.

damage='file truncated|file format not recognized|not a recognized|malformed archive|ninja: error|ninja: fatal|CMake Error|CMakeCache'

run_build() { # run_build PRESET
  if [[ ! -e $root/build/$1/build.ninja ]]; then
    step "configuring the build" build env -C "$root" cmake --preset "$1" || return
  fi
  step "building ($1)" build env -C "$root" cmake --build --preset "$1"
}

build_preset() { # build_preset PRESET
  local preset=$1 marker=$state/build-$1.unfinished interrupted=
  [[ -e $marker ]] && interrupted=yes
  : >"$marker"
  : >"$state/log/build.log"
  if ! run_build "$preset"; then
    if [[ -n $interrupted ]] || grep -qE "$damage" "$state/log/build.log"; then
      say "build/$preset may be damaged: building from nothing"
      rm -rf "$root/build/$preset"
      run_build "$preset" || build_failed "$preset"
    else
      build_failed "$preset"
    fi
  fi
  rm -f "$marker"
}

build_failed() { # build_failed PRESET
  rm -f "$state/build-$1.unfinished"
  show_log build
  fail "the build failed" "the whole output is in .solar/log/build.log; to repeat it by hand:" \
    "  cd $root && cmake --preset $1 && cmake --build --preset $1"
}

# check_binary FILE PRESET: a binary that does not even start was cut off or damaged.
check_binary() {
  starts "$1" && return 0
  say "${1#"$root"/} does not start: building from nothing"
  rm -rf "$root/build/$2"
  build_preset "$2"
  starts "$1" || fail "${1#"$root"/} was built but does not start" "try it: $1 --version"
}

starts() {
  local status
  [[ -x $1 ]] || return 1
  timeout 60 "$1" --version >/dev/null 2>&1 9>&-
  status=$?
  ((status < 124))
}

# Running one step of the set-up: its name and progress on stderr, its output in .solar/log, signals, the lock.

step_pid=
# A step dies with us, even if we are killed.
die_with_parent=()
if type -P setpriv >/dev/null && setpriv --pdeathsig TERM true 2>/dev/null; then
  die_with_parent=(setpriv --pdeathsig TERM --)
fi

say() { printf 'solar: %s\n' "$*" >&2; }

# fail WHAT DO..: what went wrong, then lines that say what to do.
fail() {
  say "error: $1"
  shift
  (($#)) && printf '       %s\n' "$@" >&2
  exit 1
}

begin_set_up() {
  mkdir -p "$state/log" 2>/dev/null && [[ -w $state ]] ||
    fail "cannot write to $state" "solar keeps its set-up there: make the folder writable, or clone into one that is"
  trap 'stop_step; say "interrupted; call again to go on"; exit 130' INT
  trap 'stop_step; exit 143' TERM
  trap 'stop_step; exit 129' HUP
  if type -P flock >/dev/null; then
    exec 9>"$state/lock"
    if ! flock -n 9; then
      say "another set-up of this clone is running: waiting for it"
      flock 9
    fi
  fi
}

end_set_up() {
  exec 9>&-
  trap - INT TERM HUP
}

stop_step() {
  [[ -n $step_pid ]] || return 0
  local tries
  kill -TERM -- "-$step_pid" 2>/dev/null
  for ((tries = 0; tries < 30; ++tries)); do
    kill -0 -- "-$step_pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL -- "-$step_pid" 2>/dev/null
  printf '\n' >&2
}

# step NAME LOG COMMAND..: runs the command with its output in .solar/log/LOG.log (appended).
step() {
  local name=$1 log=$state/log/$2.log started=$SECONDS shown=0 status last
  shift 2
  [[ -t 2 ]] || say "$name ..."
  printf '== %s\n' "$*" >>"$log"
  # Its own process group, so that all of it can be stopped.
  set -m
  "${die_with_parent[@]}" "$@" >>"$log" 2>&1 </dev/null &
  step_pid=$!
  set +m
  while kill -0 "$step_pid" 2>/dev/null; do
    last=$(tail -c 400 "$log" 2>/dev/null | tr -d '\r' | tail -n 1 | cut -c 1-90)
    if [[ -t 2 ]]; then
      printf '\r\033[Ksolar: %s (%d s) %s' "$name" $((SECONDS - started)) "${last:0:60}" >&2
    elif ((SECONDS - started >= shown + 15)); then
      shown=$((SECONDS - started))
      printf '         %d s: %s\n' "$shown" "$last" >&2
    fi
    sleep 0.1
  done
  wait "$step_pid" 2>/dev/null
  status=$?
  step_pid=
  [[ -t 2 ]] && printf '\r\033[K' >&2
  if ((status == 0)); then
    say "$name: done in $((SECONDS - started)) s"
  else
    say "$name: failed after $((SECONDS - started)) s"
  fi
  return "$status"
}

# show_log LOG: the end of a step's output.
show_log() {
  printf '       the last lines of %s:\n' ".solar/log/$1.log" >&2
  tail -n 15 "$state/log/$1.log" | sed 's/^/       | /' >&2
}

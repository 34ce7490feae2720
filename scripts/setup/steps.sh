# Running one step of the set-up: its name and progress on stderr, its output in .solar/log, signals, the lock.

step_pid=
# A step is a session of its own, so that all of it can be stopped, and dies with us, even if we are killed: its first
# process is told and passes it on.
own_session=(setsid)
if type -P setpriv >/dev/null && setpriv --pdeathsig TERM true 2>/dev/null; then
  own_session+=(setpriv --pdeathsig TERM -- bash -c 'trap "trap - TERM; kill -TERM 0" TERM; "$@" & wait "$!"' step)
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
  trap : PIPE # whoever read our messages may be gone before the traps above have run
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
  trap - INT TERM HUP PIPE
}

stop_step() {
  [[ -n $step_pid ]] || return 0
  local tries
  kill -TERM -- "-$step_pid" 2>/dev/null || kill -TERM "$step_pid" 2>/dev/null
  for ((tries = 0; tries < 30; ++tries)); do
    kill -0 -- "-$step_pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL -- "-$step_pid" 2>/dev/null
  printf '\n' >&2
}

last_line() { # last_line LOG WIDTH
  tail -c 400 "$1" | tr -d '\r' | tail -n 1 | sed 's/^ *//; /^==/d' | cut -c "1-$2"
}

# step NAME LOG COMMAND..: runs the command with its output in .solar/log/LOG.log (appended).
step() {
  local name=$1 log=$state/log/$2.log started=$SECONDS shown=0 status
  shift 2
  [[ -t 2 ]] || say "$name ..."
  printf '== %s\n' "$*" >>"$log"
  "${own_session[@]}" "$@" >>"$log" 2>&1 </dev/null &
  step_pid=$!
  while kill -0 "$step_pid" 2>/dev/null; do
    if [[ -t 2 ]]; then
      printf '\r\033[Ksolar: %s (%d s) %s' "$name" $((SECONDS - started)) "$(last_line "$log" 50)" >&2
    elif ((SECONDS - started >= shown + 15)); then
      shown=$((SECONDS - started))
      printf '         %d s: %s\n' "$shown" "$(last_line "$log" 90)" >&2
    fi
    ((SECONDS - started < 2)) && sleep 0.05 || sleep 0.4
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

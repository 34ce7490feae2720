# Which Python: the caller's own if it holds a suitable PyTorch, else .solar/venv with the pinned one.

venv=$state/venv
probe=$root/scripts/setup/probe_python.py
requirements=$root/scripts/setup/requirements.py

# python_files PYTHON: files that change when its packages do.
python_files() { "$1" "$probe" files 2>/dev/null; }

# Sets `python` to the caller's interpreter, or to nothing: then .solar/venv is to be used.
choose_python() {
  local candidate reason seen=" " note=
  python=
  if [[ ${SOLAR_PYTHON:-} == venv ]]; then
    return 0
  elif [[ -n ${SOLAR_PYTHON:-} ]]; then
    type -P "$SOLAR_PYTHON" >/dev/null || fail "SOLAR_PYTHON is \`$SOLAR_PYTHON\`: no such program" \
      "unset it, or set it to an interpreter that has PyTorch"
    if reason=$("$SOLAR_PYTHON" "$probe" suitable 2>&1); then
      python=$reason
      return 0
    fi
    fail "SOLAR_PYTHON is \`$SOLAR_PYTHON\`: ${reason##*$'\n'}" \
      "unset it, or install there what is missing:" \
      "  $SOLAR_PYTHON -m pip install $(runtime_requirements)"
  fi
  for candidate in "${VIRTUAL_ENV:+$VIRTUAL_ENV/bin/python}" "${CONDA_PREFIX:+$CONDA_PREFIX/bin/python}" python3 python; do
    candidate=$(type -P "${candidate:-/}") || continue
    [[ $seen == *" $candidate "* ]] && continue
    seen+="$candidate "
    if reason=$("$candidate" "$probe" suitable 2>&1); then
      python=$reason
      break
    fi
    reason=${reason##*$'\n'}
    [[ $reason == *"has torch"* && -z $note ]] && note="$candidate $reason"
  done
  if [[ $python == "$venv"/* ]]; then
    python=
  elif [[ -z $python && -n $note ]] && ! venv_is_good; then
    say "not using $note: setting up .solar/venv instead"
  fi
}

runtime_requirements() { sed -n 's/^ *"\(.*\)", *# runtime$/\1/p' "$root/pyproject.toml" | xargs; }

# Prints a Python that can make virtual environments.
find_base_python() {
  local candidate
  for candidate in python3 python python3.13 python3.12 python3.11 /usr/bin/python3; do
    if candidate=$(type -P "$candidate") && "$candidate" "$probe" base >/dev/null 2>&1; then
      echo "$candidate"
      return 0
    fi
  done
  return 1
}

# Sets `python` if .solar/venv is complete and works. Importing is slow: done once, then whenever its files change.
venv_is_good() {
  local files now
  [[ ! -e $state/venv.unfinished && -x $venv/bin/python ]] || return 1
  "$venv/bin/python" "$probe" suitable >/dev/null 2>&1 || return 1
  mapfile -t files < <(python_files "$venv/bin/python")
  now=$(stat -L -c '%n %s %Y' -- "${files[@]}" 2>&1 | cksum)
  if [[ "$(cat "$state/venv.good" 2>/dev/null)" != "$now" ]]; then
    "$venv/bin/python" "$probe" imports >>"$state/log/python.log" 2>&1 || return 1
    write_file "$state/venv.good" "$now"
  fi
  return 0
}

# pip, blind to the caller's settings about where to install.
pip_install() { # pip_install NAME PYTHON ARGS..
  local name=$1 interpreter=$2
  shift 2
  step "$name" python env -u PIP_USER -u PIP_TARGET -u PIP_PREFIX -u PYTHONPATH -u PYTHONHOME \
    "$interpreter" -m pip install --disable-pip-version-check --no-input --progress-bar off "$@"
}

make_venv() {
  local base wanted
  : >>"$state/log/python.log"
  if ! venv_is_good; then
    : >"$state/log/python.log"
    [[ -e $venv ]] && say ".solar/venv is incomplete or damaged: making it anew"
    : >"$state/venv.unfinished"
    rm -rf "$venv"
    base=$(find_base_python) || fail "no Python from 3.11 to 3.14 with the modules venv and ensurepip was found" \
      "install one (Debian: sudo apt-get install python3 python3-venv) or set SOLAR_PYTHON, then call again"
    read -ra wanted <<<"$(runtime_requirements)"
    step "making the virtual environment .solar/venv" python "$base" -m venv "$venv" &&
      pip_install "installing ${wanted[*]} into .solar/venv" "$venv/bin/python" "${wanted[@]}" || {
      show_log python
      fail "PyTorch could not be installed" "if the network is down, call again later; otherwise make it by hand:" \
        "  $base -m venv $venv && $venv/bin/python -m pip install ${wanted[*]} && rm $state/venv.unfinished" \
        "or set SOLAR_PYTHON to an interpreter that has these packages"
    }
    rm -f "$state/venv.unfinished"
    venv_is_good || {
      show_log python
      fail "the new .solar/venv does not work" "see the lines above; delete $venv before calling again"
    }
  fi
  python=$venv/bin/python
}

# The tools go beside PyTorch in our own environment; beside the caller's they get one that sees the caller's packages.
choose_dev_python() {
  local site
  if [[ $python == "$venv/bin/python" ]]; then
    dev_python=$python
    return 0
  fi
  local dev=$state/venv-dev
  dev_python=$dev/bin/python
  if [[ "$(cat "$dev/beside" 2>/dev/null)" != "$python" || ! -x $dev_python ]]; then
    : >"$state/log/python.log"
    rm -rf "$dev"
    step "making .solar/venv-dev beside $python" python "$python" -m venv "$dev" || {
      show_log python
      fail "no virtual environment for the development tools could be made from $python" \
        "install its venv module (Debian: python3-venv), or use SOLAR_PYTHON=venv"
    }
    site=$("$dev_python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    "$python" -c 'import site, sysconfig; print(*dict.fromkeys([sysconfig.get_path("purelib"),
      sysconfig.get_path("platlib"), *site.getsitepackages()]), sep="\n")' >"$site/caller.pth"
    write_file "$dev/beside" "$python"
  fi
}

install_dev_tools() {
  local missing again=()
  mapfile -t missing < <("$dev_python" "$requirements" missing)
  if [[ -e $state/dev.unfinished ]]; then
    mapfile -t missing < <("$dev_python" "$requirements" all)
    again=(--force-reinstall)
  fi
  ((${#missing[@]})) || return 0
  : >"$state/dev.unfinished"
  : >"$state/log/python.log"
  pip_install "installing ${missing[*]}" "$dev_python" "${again[@]}" "${missing[@]}" || {
    show_log python
    fail "the development tools could not be installed" "if the network is down, call again later"
  }
  rm -f "$state/dev.unfinished"
}

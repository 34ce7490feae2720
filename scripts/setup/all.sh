# The set-up as a whole. Sourced with `root` set. Every step looks at what is there, does what is missing, and may be
# killed at any point: the next call repairs it. Calls at the same time wait for each other.

for part in state steps packages python build; do
  source "$root/scripts/setup/$part.sh"
done
unset part

# What `solar` needs: sets `python`, builds the release binary, remembers that all is done.
set_up_program() {
  local before
  begin_set_up
  if read_ready; then # another call has done it meanwhile
    end_set_up
    return 0
  fi
  choose_python
  install_packages program
  [[ -n $python ]] || make_venv
  before=$(signature)
  build_preset release
  check_binary "$binary" release
  mapfile -t libraries < <(ldd "$binary" 2>/dev/null | awk '$3 ~ "^/" { print $3 }')
  mapfile -t used < <(python_files "$python")
  write_ready "$before" "$binary" "${used[@]}" "${libraries[@]}"
  write_file "$state/python" "$python"
  end_set_up
}

# What the checks and tests need: sets `python` and `dev_python` (the same packages plus the pinned tools).
set_up_development() {
  begin_set_up
  choose_python
  install_packages "${1:-program}"
  [[ -n $python ]] || make_venv
  write_file "$state/python" "$python"
  choose_dev_python
  install_dev_tools
  end_set_up
}

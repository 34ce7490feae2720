# Compilers and libraries. What counts is that they are there, not who installed them; missing ones come from apt.

header_packages=(
  "fmt/core.h libfmt-dev"
  "CLI/CLI.hpp libcli11-dev"
  "nlohmann/json.hpp nlohmann-json3-dev"
  "toml++/toml.h libtomlplusplus-dev"
  "zip.h libzip-dev"
  "mimalloc.h libmimalloc-dev"
  "/usr/lib/llvm-19/include/llvm-c/LLJIT.h llvm-19-dev"
  "openblas_config.h libopenblas-pthread-dev"
)

# missing_packages program|tests: prints the Debian packages that are needed and not there.
missing_packages() {
  local compiler=${CXX:-} headers=("${header_packages[@]}") entry
  [[ $1 == tests ]] &&
    headers+=("gtest/gtest.h libgtest-dev" "isl/set.h libisl-dev" "coin/Cbc_C_Interface.h coinor-libcbc-dev")
  type -P cmake >/dev/null || echo cmake
  type -P ninja >/dev/null || echo ninja-build
  : "${compiler:=$(type -P c++ || type -P g++)}"
  if [[ -z $compiler ]] || ! type -P "${compiler%% *}" >/dev/null; then
    echo g++
    compiler=
  fi
  for entry in "${headers[@]}"; do
    [[ -n $compiler ]] && printf '#if !__has_include(<%s>)\n@%s\n#endif\n' "${entry% *}" "${entry#* }" || echo "@${entry#* }"
  done | { [[ -n $compiler ]] && $compiler -std=c++20 -E -P -x c++ - 2>/dev/null || cat; } | sed -n 's/^@//p'
  [[ -n $python ]] || venv_is_good || find_base_python >/dev/null || printf '%s\n' python3 python3-venv
}

# How to become root here without a question, or nothing.
as_root() {
  if [[ $(id -u) == 0 ]]; then
    echo env
  elif type -P sudo >/dev/null && sudo -n true 2>/dev/null; then
    echo "sudo -n env"
  else
    return 1
  fi
}

apt_install() { # apt_install BECOME_ROOT PACKAGE..
  local become=$1
  shift
  step "installing Debian packages: $*" packages $become DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
}

install_packages() { # install_packages program|tests
  local missing become by_hand
  mapfile -t missing < <(missing_packages "$1")
  if ((${#missing[@]})); then
    by_hand="sudo apt-get update && sudo apt-get install ${missing[*]}"
    type -P apt-get >/dev/null ||
      fail "these are missing, and there is no apt-get to install them: ${missing[*]}" \
        "install what these Debian packages hold by the means of your system, then call again"
    become=$(as_root) ||
      fail "these Debian packages are missing, and installing them needs rights you do not have: ${missing[*]}" \
        "have them installed, then call again:" "  $by_hand"
    : >"$state/log/packages.log"
    # sudo remembers a password by terminal: in a session of its own it would not.
    [[ $become == sudo* ]] && local own_session=()
    if ! apt_install "$become" "${missing[@]}"; then
      if grep -q 'dpkg --configure -a' "$state/log/packages.log"; then
        step "finishing an interrupted dpkg" packages $become DEBIAN_FRONTEND=noninteractive dpkg --configure -a
      else
        step "refreshing the package lists" packages $become apt-get update -o DPkg::Lock::Timeout=300
      fi
      apt_install "$become" "${missing[@]}" || {
        show_log packages
        fail "Debian packages could not be installed" "install them by hand, then call again:" "  $by_hand"
      }
    fi
    mapfile -t missing < <(missing_packages "$1")
    ((${#missing[@]} == 0)) || fail "still not found after installing: ${missing[*]}" \
      "CXX, PATH or a second compiler may look elsewhere; the whole output is in .solar/log/packages.log"
  fi
  check_tool_versions
}

check_tool_versions() {
  local found
  found=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
  ((10#${found% *} * 1000 + 10#${found#* } >= 3025)) || fail "cmake ${found/ /.} is too old: 3.25 or newer is needed"
}

# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by ./run and ./test: makes sure that the Debian packages of tests/checks/packages are there.

# install_packages PURPOSE...
# Installs what is missing of the packages for these purposes. Asks first, unless it is root or runs
# in continuous integration (CI=true). Says nothing and touches no network when all is there.
install_packages () {
  local list=$root/tests/checks/packages wanted missing purposes answer
  local -a as_root=()

  purposes=$(printf '|%s' "$@")
  wanted=$(awk -v purposes="^(${purposes#|})\$" '$1 ~ purposes { print $2 }' "$list")
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is no Debian: install the counterparts of the packages in tests/checks/packages yourself." >&2
    return 0
  fi
  missing=$(missing_packages $wanted)
  [ -n "$missing" ] || return 0

  echo "Missing packages:" $missing
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Install them as root, then start again:  apt-get install" $missing >&2
      return 1
    fi
    if [ "${CI-}" = true ]; then
      as_root=(sudo -n)
    elif [ -t 0 ]; then
      as_root=(sudo)
      read -r -p "Install them with sudo apt-get? [y/N] " answer
      case $answer in [yY]*) ;; *) echo "Nothing was installed." >&2; return 1 ;; esac
    else
      echo "Install them, then start again:  sudo apt-get install" $missing >&2
      return 1
    fi
  fi

  "${as_root[@]}" apt-get update -q </dev/null ||
    echo "The package lists could not be renewed; trying with those that are there." >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends $missing </dev/null || {
    echo "apt-get could not install:" $missing >&2
    return 1
  }
}

# missing_packages NAME...: those that are not installed, one a line.
missing_packages () {
  local present
  present=$(dpkg-query -W -f '${db:Status-Abbrev}${binary:Package}\n' "$@" 2>/dev/null |
    sed -n 's/^ii *//p' | sed 's/:.*//')
  comm -23 <(printf '%s\n' "$@" | sort -u) <(printf '%s\n' "$present" | sort -u)
}

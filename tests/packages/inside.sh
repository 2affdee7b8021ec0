#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What test.py runs in a clean Debian, in a process namespace of its own, which ends irisd with this script:
#   inside.sh files              every file but what dpkg itself keeps
#   inside.sh install FOLDER     installs or upgrades to the packages of a folder
#   inside.sh try                a program of each package does its work
#   inside.sh units              which units are enabled, and with what configuration
#   inside.sh leave FOLDER       puts items into a journal in FOLDER
#   inside.sh find FOLDER        an irisd that comes later runs them
#   inside.sh purge              purges them all
set -eu -o pipefail
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
packages="libiris-1-1 libiris-1-dev gir1.2-iris-1 irisd iris-tools python3-irisd-client iris-bench iris-doc"

die () { echo "$*" >&2; exit 1; }

# same GOT WANTED WHAT
same () { [ "$1" = "$2" ] || die "$3: got \"$1\", not \"$2\""; }

files () {
  find / -xdev \( -path /tmp -o -path /proc -o -path /dev -o -path /sys -o -path /var/lib/dpkg -o -path /packages \
    -o -path /inside.sh -o -path /var/cache/ldconfig -o -path /var/log/dpkg.log \) -prune -o -print | sort
}

# start_irisd FOLDER [OPTION...]
start_irisd () {
  local folder=$1 ready=
  shift
  mkdir -p "$folder"
  mkfifo "$folder/ready"
  irisd --dir "$folder/run" --journal "$folder/journal" --ready-fd 3 "$@" 3>"$folder/ready" 2>"$folder/log" &
  daemon=$!
  read -r ready <"$folder/ready" || true
  rm "$folder/ready"
  case $ready in
    ready*) ;;
    *) cat "$folder/log" >&2; die "irisd does not start" ;;
  esac
  ctl=(irisctl --dir "$folder/run")
}

stop_irisd () {
  kill "$daemon"
  wait "$daemon" || die "irisd ended with status $?"
}

try () {
  local folder
  folder=$(mktemp -d)
  start_irisd "$folder"
  same "$("${ctl[@]}" run -- echo from a package)" "from a package" "irisctl run"
  same "$("${ctl[@]}" submit echo kept)" "kept" "irisctl submit"
  same "$(python3 - "ipc://$folder/run/front.ipc" <<'PROGRAM'
import asyncio
import sys
from irisd_client import Client

async def main():
    async with Client(sys.argv[1]) as client:
        print((await client.submit("echo", b"from Python")).body.decode())

asyncio.run(main())
PROGRAM
)" "from Python" "irisd_client"
  stop_irisd
  same "$(python3 -c 'import asyncio, iris_asyncio as i; print(asyncio.run(i.run(lambda: 6 * 7)))')" 42 "iris_asyncio"
  irisd --check-journal "$folder/journal" >/dev/null
  iris-bench --help >/dev/null
  [ -f /usr/share/doc/iris-doc/libiris-1/index.html ] || die "the reference is not there"
  rm -r "$folder"
}

# What runs by itself after an installation, and what does not. There is no systemd here to start it.
units () {
  local unit
  for unit in system/irisd.socket system/irisd-web.service user/irisd.service user/irisd.socket; do
    [ -z "$(find /etc/systemd -name "${unit#*/}" -path "*/${unit%/*}/*")" ] || die "$unit is enabled"
  done
  [ -L /etc/systemd/system/multi-user.target.wants/irisd.service ] || die "irisd.service is not enabled"
  irisd --config /etc/iris/system.conf --check-config >/dev/null || die "the configuration of the system's irisd is wrong"
  grep -q "^Environment=\"IRISD_OPTIONS=--config /etc/iris/system.conf\"$" /lib/systemd/system/irisd.service.d/*.conf
  grep -q "^ExecStart=/usr/bin/irisd .* \$IRISD_OPTIONS$" /lib/systemd/system/irisd.service
  [ -f /usr/share/iris/grafana/irisd.json ] || die "the dashboard is not there"
  irisd-web --version >/dev/null
}

leave () {
  start_irisd "$1" --paused
  "${ctl[@]}" submit --detach echo "across an upgrade" >"$1/item"
  irisd --version >"$1/version"
  stop_irisd
}

find_again () {
  start_irisd "$1"
  same "$("${ctl[@]}" wait "$(cat "$1/item")" >/dev/null; "${ctl[@]}" result "$(cat "$1/item")")" \
    "across an upgrade" "the item that the older irisd kept"
  stop_irisd
  rm -r "$1"
}

purge () {
  local state=/var/lib/private
  # As systemd makes it when it starts irisd; where there is no systemd, for a user that is not dynamic.
  [ -d "$state" ] || state=/var/lib
  install -D /dev/null "$state/iris/items.sqlite"
  dpkg --purge $packages
  [ ! -e "$state/iris" ] || die "the journal is left"
}

case ${1-} in
  files) files ;;
  install) dpkg -i "$2"/*.deb ;;
  try) try ;;
  units) units ;;
  leave) leave "$2" ;;
  find) find_again "$2" ;;
  purge) purge ;;
  *) die "inside.sh: \"${1-}\" is none of files, install, try, units, leave, find and purge" ;;
esac

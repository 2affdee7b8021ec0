#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the example client-hash against an irisd of its own: client-hash-test.sh IRISD CLIENT-HASH...
set -eu
irisd=$1
shift
client_hash=("$@")
dir=$(mktemp -d)
export IRIS_RUNTIME_DIR=$dir/run
mkfifo "$dir/ready"
"$irisd" --dir "$IRIS_RUNTIME_DIR" --ready-fd 3 3>"$dir/ready" 2>"$dir/log" &
pid=$!
trap 'kill "$pid" 2>/dev/null || true; wait "$pid" || true; rm -rf "$dir"' EXIT
read -r _ <"$dir/ready" || { cat "$dir/log" >&2; exit 1; }

"${client_hash[@]}" "$0" "$irisd" >"$dir/sums"
[ "$(wc -l <"$dir/sums")" = 2 ]
sha256sum --check --quiet "$dir/sums"
! "${client_hash[@]}" "$dir/nothing" 2>/dev/null

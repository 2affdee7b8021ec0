#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the example serve-palindrome with an irisd of its own: serve-palindrome-test.sh IRISD SERVE-PALINDROME IRISCTL
set -eu
irisd=$1 serve_palindrome=$2 irisctl=$3
dir=$(mktemp -d)
export IRIS_RUNTIME_DIR=$dir/run
mkfifo "$dir/ready"
"$irisd" --dir "$IRIS_RUNTIME_DIR" --ready-fd 3 3>"$dir/ready" 2>"$dir/log" &
daemon=$!
worker=
trap 'kill $worker "$daemon" 2>/dev/null || true; wait || true; rm -rf "$dir"' EXIT
read -r _ <"$dir/ready" || { cat "$dir/log" >&2; exit 1; }

"$serve_palindrome" &
worker=$!
until "$irisctl" services | grep -q palindrome; do :; done
[ "$("$irisctl" send palindrome 'Never odd or even')" = yes ]
[ "$("$irisctl" send palindrome 'Nearly even')" = no ]
! "$irisctl" send palindrome 12321 2>"$dir/error"
grep -q 'no letter' "$dir/error"
"$irisctl" workers | grep -q palindrome
kill "$worker"
wait "$worker"

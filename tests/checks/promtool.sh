#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the path of Prometheus' promtool. Installing Debian's package would start a server, so the package is only
# unpacked, into DIR. Ends with 77 and a sentence if there is none.
#
#   promtool.sh DIR
set -eu
dir=$1
tool=$dir/usr/bin/promtool
if [ -n "${PROMTOOL:-}" ]; then
  echo "$PROMTOOL"
  exit
fi
if command -v promtool; then
  exit
fi
if [ ! -x "$tool" ]; then
  mkdir -p "$dir"
  cd "$dir"
  if ! timeout 120 apt-get download -q prometheus >/dev/null 2>&1 || ! dpkg -x prometheus_*.deb .; then
    echo "there is no promtool: Debian's package prometheus cannot be downloaded" >&2
    exit 77
  fi
  rm -f prometheus_*.deb
fi
echo "$tool"

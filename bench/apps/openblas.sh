#!/bin/sh
# openblas.sh BUILD - unpacks Debian's serial OpenBLAS below BUILD/openblas, without installing it,
# so that the system's BLAS stays what it is: SRUMMA and pdgemm are measured with it, too
# (LD_PRELOAD). Exit status 77: it cannot be had here.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
[ $# -eq 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
dir=$(realpath -m "$1")/openblas
[ ! -e "$dir/unpacked" ] || exit 0
mkdir -p "$dir"
cd "$dir"
apt-get -q -o APT::Sandbox::User="$(id -un)" download libopenblas0-serial >download.log 2>&1 &&
	dpkg -x libopenblas0-serial_*.deb . || {
	echo "openblas.sh: no OpenBLAS: $(tail -n 1 download.log)"
	exit 77
}
: >unpacked

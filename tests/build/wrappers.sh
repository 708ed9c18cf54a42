#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What `make run` says at its end: the compiler wrappers of the build tree compile, and what they
# made runs. Environment: WORK, BUILD, SOURCE (see suites.cmake).
set -eu

mkdir -p "$WORK"
cd "$WORK"

# try WRAPPER SOURCE
try() {
	rm -f hello
	"$BUILD/bin/$1" "$SOURCE/examples/$2" -o hello
	"$BUILD/bin/armcirun" -n 2 ./hello >out
	[ "$(grep -c . out)" -ge 2 ] || { echo "$1: $2 says on two ranks:"; cat out; exit 1; }
}

try armcicc c/hello.c
[ ! -e "$BUILD/include/armci.mod" ] || try armcifort fortran/put.f90
echo ok

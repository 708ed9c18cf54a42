# SPDX-License-Identifier: BSD-3-Clause
# command.sh - what bin/caf-armci promises: usage, clear errors, what it runs, that it compiles,
# links and works through a link, with the shared and the static library, in one step and in two.
#
#   BUILD=... FC_none=gfortran [FC_openmpi=...] WORK=... sh command.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$WORK" && cd "$WORK" || exit 1
command=$BUILD/bin/caf-armci
FC=${FC_none:?the Fortran compiler}
export FC
. "$here/../says.sh"

run "help" 0 "$command" -h
says out '^usage: caf-armci '
silent err
run "no arguments" 2 "$command"
says err '^usage: caf-armci '
silent out
run "version" 0 "$command" -version
says out '^caf-armci (libarmci) [0-9]'
run "what it runs" 0 "$command" -show -O2 a.f90 -o a
says out " -fcoarray=lib .*-O2 a\.f90 -o a -L\(/.*/lib\) -Wl,-rpath,\1 -lcaf_armci -larmci\$"
run "without linking" 0 "$command" -show -c a.f90
says out ' -fcoarray=lib .*-c a\.f90$'
run "another compiler" 0 "$command" -fc='other -x' -show -c a.f90
says out '^other -x -fcoarray=lib '
run "the compiler's own status" 1 "$command" no-such-file.f90
silent out

run "in one step" 0 "$command" -O2 "$here/hello.f90" -o hello
silent err
run "two images" 0 "$BUILD/bin/armcirun" -n 2 ./hello
says out '^ok hello$'
run "alone" 0 ./hello
says out '^ok hello$'
ln -sf "$command" link
run "through a link, in two steps" 0 ./link -c "$here/hello.f90" -o hello.o
run "linking" 0 ./link hello.o -o hello2
run "two images" 0 "$BUILD/bin/armcirun" -n 2 ./hello2
says out '^ok hello$'
run "static" 0 "$command" -static-caf hello.o -o hello3
run "two images" 0 "$BUILD/bin/armcirun" -n 2 ./hello3
says out '^ok hello$'
! ldd ./hello3 | grep libcaf_armci || fail "it needs the shared library"
mkdir -p moved/bin
cp "$command" moved/bin
run "library missing" 1 moved/bin/caf-armci hello.o -o hello4
says err '^caf-armci: the library is missing: /.*/libcaf_armci.so$'
echo "$failures failures"
[ $failures -eq 0 ]

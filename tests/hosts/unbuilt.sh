# SPDX-License-Identifier: BSD-3-Clause
# unbuilt.sh - run.sh fails if a program is not built though others ran, and names it; with a
# reason, or if none is built, it is a skip.
#
#   SOURCE=... WORK=... sh unbuilt.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
. "$here/../says.sh"
rm -rf "$WORK" && mkdir -p "$WORK/tests/c/none" "$WORK/tests/fortran/none" && cd "$WORK" || exit 1
for program in c/none/init c/none/rmw; do ln -s /bin/true "tests/$program"; done
# The launcher runs the program once, on no node.
printf '#!/bin/sh\nwhile [ "$1" != env ]; do shift; done\nexec "$@"\n' >launcher
chmod +x launcher

# programs CASE STATUS PROGRAM...
programs() {
	case=$1 status=$2
	shift 2
	run "$case" "$status" env BUILD="$WORK" SOURCE="$SOURCE" WORK="$WORK/log" \
		RUN_none="$WORK/launcher -n 2" FC_none="${fc-gfortran}" \
		HOSTS_PROGRAMS="$*" sh "$here/run.sh" nodes none 2x1 few
}

programs "all are built" 0 init rmw
programs "one is not" 1 init mutex rmw fence
says out '^FAIL not built for none, though others are: c/mutex c/fence$'
says out '^nodes none 2x1: 2 passed, 1 failed$'
programs "one that needs an MPI is not" 0 init fortran/with_mpi
says out '^skip fortran/with_mpi: not built for none: it uses mpi$'
programs "a Fortran program is not" 1 init fortran/atomics
fc=
programs "without a compiler" 0 init fortran/atomics
says out '^skip fortran/atomics: not built for none: there is no Fortran compiler$'
programs "none is" 77 mutex fence
[ $failures -eq 0 ] || exit 1
echo "ok unbuilt"

# SPDX-License-Identifier: BSD-3-Clause
# mistakes.sh - what one sees after starting programs in a wrong way: an error that says what to
# type, and never exit status 0 with several jobs where one was wanted. And what is not wrong,
# though it looks like it, works.
#
#   BUILD=... SOURCE=... CC_none=... [CC_openmpi RUN_openmpi CC_mpich RUN_mpich]
#   WORK=... sh mistakes.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
LIBDIR=${LIBDIR:-$BUILD/lib}
mkdir -p "$WORK" && cd "$WORK" || exit 1
unset ARMCI_VERBOSE ARMCI_TRACE ARMCI_ALONE
. "$here/../says.sh"
. "$here/../beside.sh"
armcirun=$BUILD/bin/armcirun

# compile NAME COMPILER...: NAME.c of this directory over the library of the build.
compile() {
	source=$here/$1.c
	shift
	"$@" -std=gnu11 -O2 -g -Wall -Wextra ${WERROR-} -I"$SOURCE/include" "$source" -L"$LIBDIR" \
		-Wl,-rpath,"$LIBDIR" -larmci || exit 1
}

# lines COUNT PATTERN: so many lines of standard output match.
lines() {
	n=$(grep -c -e "$2" out)
	[ "$n" -eq "$1" ] || fail "$n lines of output match \"$2\", not $1"
}

# spawned COUNT PATTERN: such lines come from processes that the program has started.
spawned() {
	if grep -q '^cannot spawn$' out; then
		echo "skip $case: this MPI cannot"
	else
		lines "$@"
	fi
}

# once PATTERN: one line of the library matches.
once() {
	n=$(grep -E '^\[[0-9?]+@' err | grep -c -e "$1")
	[ "$n" -eq 1 ] || fail "$n lines of the library match \"$1\", not 1"
}

# under_armcirun LAUNCHER: programs of MPI, which armcirun cannot start.
under_armcirun() {
	typed="type $1 -n 2 where armcirun -n 2 was typed"
	run "$flavour under armcirun" 6 "$armcirun" -n 2 ./apart
	once "ARMCI_Init: .*armcirun started this as process 0 of 2 .*: $typed"
	for how in late after; do
		run "$flavour under armcirun, $how" 1 "$armcirun" -n 2 ./apart $how
		once "ARMCI_Finalize: .*$typed"
	done
	run "$flavour under armcirun, but its windows over libarmci" 1 "$armcirun" \
		-n 2 "$BUILD/bin/armci-mpirma" ./world
	once "MPI_Init: .*$typed"
	run "$flavour under armcirun, one process" 0 "$armcirun" -n 1 ./apart
	lines 1 '^mpi 1 armci 1$'
	for how in early late; do
		run "$flavour under armcirun, wanted, $how" 0 env ARMCI_ALONE=y "$armcirun" \
			-n 2 ./apart $how
		lines 2 '^mpi 1 armci 2$'
	done
}

# What looks like a mistake, and is none.
no_mistakes() {
	one="${launch% *} 1"
	# shellcheck disable=SC2086
	run "$flavour, one process" 0 $one ./apart
	lines 1 '^mpi 1 armci 1$'
	run "$flavour, without a launcher" 0 ./apart
	lines 1 '^mpi 1 armci 1$'
	run "$flavour, in the script of sbatch" 0 env SLURM_PROCID=0 SLURM_NTASKS=4 \
		ENVIRONMENT=BATCH ./apart
	lines 1 '^mpi 1 armci 1$'
	run "$flavour, in the shell of salloc" 0 env SLURM_PROCID=0 SLURM_NTASKS=4 \
		SLURM_STEP_NUM_TASKS=1 ./apart
	lines 1 '^mpi 1 armci 1$'
	# shellcheck disable=SC2086
	run "$flavour, spawning" 0 $launch ./apart spawn 1
	lines 2 '^mpi 2 armci 2$'
	spawned 1 '^mpi 1 armci 1$'
	# shellcheck disable=SC2086
	run "$flavour, one spawning two" 0 $one ./apart spawn 2
	lines 1 '^mpi 1 armci 1$'
	spawned 2 '^mpi 2 armci 2$'
	# shellcheck disable=SC2086
	run "$flavour, armcirun in each process" 0 $launch "$armcirun" -n 3 ./size
	lines 6 '^armci 3$'
	# shellcheck disable=SC2086
	run "$flavour, armci-mpirma before a program without MPI" 0 $launch \
		"$BUILD/bin/armci-mpirma" ./size
	lines 2 '^armci 2$'
	# shellcheck disable=SC2086
	run "$flavour, processes that are to be alone" 0 env ARMCI_ALONE=y $launch \
		sh -c 'exec ./size'
	lines 2 '^armci 1$'
}

# wrapper NAME COMPILER PACKAGE OPTION: where there is no compiler.
wrapper() {
	[ -e "$BUILD/bin/$1" ] || return 0
	run "$1 without a compiler" 127 env -u CC -u CXX -u FC PATH="$PWD/bin" \
		"$BUILD/bin/$1" x.c -o x
	says err "^$1: no compiler $2: .*apt-get install $3), or name another: $1 $4=COMPILER\$"
	run "$1 without that compiler" 127 "$BUILD/bin/$1" "$4=nocc -m64" x.c -o x
	says err "^$1: no compiler nocc: "
}

no_compiler() {
	mkdir -p bin
	for tool in sh env dirname readlink; do
		ln -sf "$(command -v $tool)" bin/$tool
	done
	wrapper armcicc cc gcc -cc
	wrapper armcicxx c++ g++ -cxx
	wrapper armcifort gfortran gfortran -fc
	wrapper caf-armci gfortran gfortran -fc
}

# A program that does not say where the library is; its own line is the loader's.
no_library() {
	# shellcheck disable=SC2086
	${CC_none:-cc} -I"$SOURCE/include" -o homeless "$here/size.c" -L"$LIBDIR" -larmci || exit 1
	run "no library" 127 env -u LD_LIBRARY_PATH "$armcirun" -n 2 ./homeless
	place="^armcirun: if libarmci.so.0 was not found: it is in $LIBDIR"
	says err "$place; type LD_LIBRARY_PATH=$LIBDIR before"
	run "library said" 0 env LD_LIBRARY_PATH="$LIBDIR" "$armcirun" -n2 ./homeless
	lines 2 '^armci 2$'
	run "armci-mpirma before a program without MPI" 0 "$armcirun" \
		-n 2 "$BUILD/bin/armci-mpirma" ./size
	lines 2 '^armci 2$'
	run "another status 127" 127 "$armcirun" -n 1 sh -c 'exit 127'
	[ "$(wc -l <err)" -eq 1 ] || fail "it speaks of a library"
}

# A program that was compiled with ARMCI-MPI's armci.h, over this library; and one that was not.
other_header() {
	# shellcheck disable=SC2086
	compile header ${CC_none:-cc} -o header
	order="darr: the two numbers of a descriptor are in ARMCI-MPI's order"
	for nodes in 1 2; do
		for shape in elements rows one; do
			case=$shape
			"$armcirun" -n 2 -nodes $nodes ./header other $shape >out 2>err &&
				fail "exit status 0"
			once "$order: .*compile it with"
			echo "done other header, $shape, $nodes nodes"
		done
		for shape in elements rows one window; do
			run "right header, $shape, $nodes nodes" 0 "$armcirun" -n 2 -nodes $nodes \
				./header right $shape
			lines 1 '^OK$'
		done
	done
}

# mpi_mistakes FLAVOUR: what programs of an MPI, or its launcher, have to do with.
mpi_mistakes() {
	flavour=$1
	eval "cc=\${CC_$flavour-} launch=\${RUN_$flavour-}"
	if [ -z "$cc" ] || [ -z "$launch" ]; then
		echo "skip $flavour: no compiler or launcher"
		return 0
	fi
	# shellcheck disable=SC2086
	compile apart $cc -o apart
	# shellcheck disable=SC2086
	$cc -o world "$here/world.c" || exit 1
	case $flavour in
	openmpi) under_armcirun mpirun ;;
	mpich) under_armcirun mpiexec ;;
	esac
	no_mistakes
}

# parts_of NAME: the cases of a part.
parts_of() {
	ln -sf ../size size
	case $1 in
	tools) no_compiler; no_library ;;
	header) other_header ;;
	*) mpi_mistakes "$1" ;;
	esac
}

compile size ${CC_none:-cc} -o size
beside parts_of tools header openmpi mpich
echo "$failures failures"
[ $failures -eq 0 ]

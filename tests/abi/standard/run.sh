# SPDX-License-Identifier: BSD-3-Clause
# run.sh - MPI 5's standard ABI. Programs of tests/c and tests/rma, compiled with the standard's
# mpi.h, run over a libmpi_abi.so.1: stub.c over the MPICH that is installed, or, if STANDARD_CC is
# set, what that compiles for and STANDARD_RUN ("... -n 2") starts. Then which MPI is taken for
# which: by MPI_Abi_get_version first; one that is not known is refused with a line that says so.
#
#   BUILD=... SOURCE=... WORK=... CC_none=... CC_mpich=... RUN_mpich="... -n 2"
#   [CC_openmpi RUN_openmpi] sh run.sh [values|programs|windows|more|known]...
set -u
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../../.." && pwd)}
LIBDIR=${LIBDIR:-$BUILD/lib}
mkdir -p "$WORK" && cd "$WORK" || exit 1
. "$SOURCE/tests/says.sh"
unset ARMCI_VERBOSE ARMCI_TRACE ARMCI_ALONE ARMCI_NODE
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
flags="-std=gnu11 -O2 -g -Wall -Wextra ${WERROR-}"

# must COMMAND...: what cannot be built ends the test.
must() { "$@" || { echo "FAIL: $*"; exit 1; }; }

# stub: libmpi_abi.so.1 of this directory.
stub() {
	# shellcheck disable=SC2086 # words
	must $CC_mpich $flags -fPIC -c "$here/stub.c"
	# shellcheck disable=SC2086
	must $CC_none $flags -fPIC -c -I"$here/include" "$here/standard.c"
	# shellcheck disable=SC2086
	must $CC_none -shared -Wl,-soname,libmpi_abi.so.1 -o libmpi_abi.so.1 stub.o standard.o -ldl
	ln -sf libmpi_abi.so.1 libmpi_abi.so
}

if [ -n "${STANDARD_CC:-}" ]; then
	cc=$STANDARD_CC launch=$STANDARD_RUN
elif [ -n "${CC_mpich:-}" ] && [ -n "${RUN_mpich:-}" ] && [ -n "${CC_none:-}" ]; then
	stub
	cc="$CC_none -I$here/include -L$PWD -Wl,-rpath,$PWD -Wl,--no-as-needed -lmpi_abi"
	launch=$RUN_mpich
else
	echo "skipped: no compiler wrapper or launcher of MPICH"
	exit 77
fi
launch=${launch% *}

# compile NAME SOURCE: a program over libarmci and the standard ABI.
compile() {
	# shellcheck disable=SC2086
	must $cc $flags -I"$SOURCE/include" -o "$1" "$2" -L"$LIBDIR" -Wl,-rpath,"$LIBDIR" \
		-larmci -lm -lpthread
}

# The constants of the library against every mpi.h that is here.
values() {
	for compiler in "$cc" "${CC_mpich:-}" "${CC_openmpi:-}"; do
		[ -n "$compiler" ] || continue
		# shellcheck disable=SC2086
		must $compiler $flags -o values "$here/values.c"
		run "values by ${compiler%% *}" 0 ./values
		says out '^1[67][0-9] constants, 0 wrong$'
	done
}

# Programs of libarmci, on one node and on two pretended ones: with MPI_Init of the program, of the
# library (message), a communicator in and out (init_thread, group_use, comm_world), thread levels
# (serialized), progress of the MPI while the library waits (goes_on).
programs() {
	compile comm_world "$SOURCE/tests/abi/programs/comm_world.c"
	for name in init_thread group_use goes_on serialized message; do
		compile "$name" "$SOURCE/tests/c/$name.c"
	done
	layouts
	for name in comm_world init_thread group_use goes_on serialized message; do
		# shellcheck disable=SC2086
		run "$name on 2 ranks" 0 $launch 2 ./$name
		# shellcheck disable=SC2086
		run "$name on 2 nodes with 2 ranks each" 0 $launch 4 \
			"$SOURCE/tests/hosts/pretend.sh" 2 4 ./$name
	done
	# shellcheck disable=SC2086
	run "what the job says" 0 env ARMCI_VERBOSE=y $launch 2 ./message
	says err 'mpi ([^)]*, standard ABI)'
}

# A program with the layouts of ARMCI-MPI: those for Open MPI, since its handles are pointers, too.
layouts() {
	libdir=$LIBDIR/armci-mpi/openmpi
	if [ ! -d "$libdir" ]; then
		echo "skip layouts of ARMCI-MPI: built with ARMCI_MPI_ABI=OFF"
		return
	fi
	# shellcheck disable=SC2086
	must $cc $flags -I"$SOURCE/include/armci-mpi" -o layouts \
		"$SOURCE/tests/abi/programs/mpi_abi.c" -L"$libdir" -Wl,-rpath,"$libdir" -larmci
	# shellcheck disable=SC2086
	run "layouts of ARMCI-MPI" 0 $launch 2 ./layouts
}

# of_windows PROGRAM...: programs of windows, compiled without libarmci, on 4 ranks of one node.
of_windows() {
	for name; do
		# shellcheck disable=SC2086
		must $cc $flags -o "rma_$name" "$SOURCE/tests/rma/$name.c" -lm -lpthread
		# shellcheck disable=SC2086
		run "windows: $name on 4 ranks" 0 $launch 4 "$BUILD/bin/armci-mpirma" ./rma_$name
	done
}

# between PROGRAM...: the same ones on two pretended nodes.
between() {
	for name; do
		# shellcheck disable=SC2086
		run "windows: $name on 2 nodes with 2 ranks each" 0 $launch 4 \
			"$SOURCE/tests/hosts/pretend.sh" 2 4 "$BUILD/bin/armci-mpirma" ./rma_$name
	done
}

# privately: the program and its libmpi_abi are out of sight of the rest, beside the MPICH behind,
# which is loaded first. The libmpi_abi is the MPI of the program, and windows are ours.
privately() {
	# shellcheck disable=SC2086
	must $cc $flags -fPIC -shared -o ./put_get.so "$SOURCE/tests/rma/put_get.c" -lm
	# shellcheck disable=SC2086
	must $CC_none $flags -o private "$here/private.c" -ldl
	# shellcheck disable=SC2086
	run "windows: a libmpi_abi that is loaded privately" 0 env ARMCI_STATS=1 $launch 2 \
		"$BUILD/bin/armci-mpirma" ./private libmpich.so.12 ./put_get.so
	says err 'MPI_Put'
}

# What differs between the ABIs: constants, attributes, datatypes, error classes, callbacks,
# requests.
windows() {
	export MODEL_SECONDS=1
	of_windows create shared dynamic pscw lock put_get accumulate fetch_op datatypes requests \
		attributes errors at_delete
	between put_get accumulate pscw lock requests datatypes
	[ -n "${STANDARD_CC:-}" ] || privately
	[ -n "${STANDARD_CC:-}" ] ||
		# shellcheck disable=SC2086
		run "windows: arrays with the numbers of Open MPI's own ABI" 0 \
			env STANDARD_ARRAYS=openmpi $launch 4 "$BUILD/bin/armci-mpirma" \
			./rma_datatypes
	# Windows are really ours.
	# shellcheck disable=SC2086
	run "windows: recorded" 0 env ARMCI_STATS=1 $launch 2 "$BUILD/bin/armci-mpirma" \
		./rma_put_get
	says err 'MPI_Put'
}

more() {
	export MODEL_SECONDS=1
	rest="allocate fence flush get_accumulate cas order shared_query goes_on comms progress
		threads scattered model"
	# shellcheck disable=SC2086
	of_windows $rest
	# shellcheck disable=SC2086
	between $rest
}

# other FLAVOUR COMPILER LAUNCHER NAME: that MPI, which is not of the standard ABI.
other() {
	if [ -z "$2" ] || [ -z "$3" ]; then
		echo "skip $1: no compiler wrapper or launcher"
		return
	fi
	must $2 $flags -I"$SOURCE/include" -o "$1.exe" "$SOURCE/tests/abi/programs/comm_world.c" \
		-L"$LIBDIR" -Wl,-rpath,"$LIBDIR" -larmci
	must $2 $flags -o "$1.rma" "$SOURCE/tests/rma/put_get.c" -lm
	run "$1 says it has no standard ABI" 0 ${3% *} 2 env ARMCI_VERBOSE=y \
		LD_PRELOAD="$pretend" "./$1.exe"
	says err "mpi ($4)"
	run "$1 says it has no standard ABI, windows" 0 ${3% *} 2 env LD_PRELOAD="$pretend" \
		"$BUILD/bin/armci-mpirma" "./$1.rma"
	refused "$1 of another version" ${3% *} 2 env PRETEND_ABI=2.3 LD_PRELOAD="$pretend" \
		"./$1.exe"
	says err 'standard ABI 2\.3) is none that this library knows'
	refused "$1 whose answer is an error" ${3% *} 2 env PRETEND_ABI=x LD_PRELOAD="$pretend" \
		"./$1.exe"
	refused "$1 of another version, windows" ${3% *} 2 env PRETEND_ABI=2.3 \
		LD_PRELOAD="$pretend" "$BUILD/bin/armci-mpirma" "./$1.rma"
}

known='Open MPI, the MPICH family, and MPI.s standard ABI of version 1'

# refused CASE COMMAND...: the command fails, with a line that says what is known.
refused() {
	case=$1
	shift
	"$@" >out 2>err
	status=$?
	[ $status -ne 0 ] || fail "exit status 0"
	says err "none that \(this library\|it\) knows: $known"
	echo "done $case"
}

known() {
	pretend=$PWD/libpretend.so
	# shellcheck disable=SC2086
	must ${CC_none:-cc} $flags -shared -fPIC -o "$pretend" "$here/pretend.c" -ldl
	# shellcheck disable=SC2086
	other mpich "${CC_mpich:-}" "${RUN_mpich:-}" MPICH
	# shellcheck disable=SC2086
	other openmpi "${CC_openmpi:-}" "${RUN_openmpi:-}" "Open MPI"
	if [ -z "${STANDARD_CC:-}" ]; then
		compile draft "$SOURCE/tests/abi/programs/comm_world.c"
		# shellcheck disable=SC2086
		refused "a libmpi_abi of a draft" env STANDARD_ABI=-1.-1 $launch 2 ./draft
	fi
	if [ -x mpich.exe ]; then
		# shellcheck disable=SC2086
		refused "an MPI of no known name" ${RUN_mpich% *} 2 env \
			PRETEND_TEXT="Some MPI 1.0" LD_PRELOAD="$pretend" ./mpich.exe
		says err 'the MPI in this process ("Some MPI 1.0") is none'
		# shellcheck disable=SC2086
		refused "an MPI of no known name, windows" ${RUN_mpich% *} 2 env \
			PRETEND_TEXT="Some MPI 1.0" LD_PRELOAD="$pretend" \
			"$BUILD/bin/armci-mpirma" ./mpich.rma
		says err 'MPI_Init: the MPI behind this library ("Some MPI 1.0") is none'
	fi
}

for part in ${*:-values programs windows more known}; do
	$part
done
echo "$failures failures"
[ $failures -eq 0 ]

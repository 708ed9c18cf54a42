# SPDX-License-Identifier: BSD-3-Clause
# run.sh none|openmpi|mpich - the Python package under armcirun (and alone), or under an MPI, with
# mpi4py where it is made for it. Each program prints "ok NAME ..." once all its ranks have come to
# its end.
#
#   BUILD=... WORK=... RUN_none="... -n 2" [RUN_openmpi RUN_mpich] sh run.sh none
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
. "$here/which.sh"
[ -n "$PYTHON" ] || { echo "SKIP: no Python 3.9 with NumPy (package python3-numpy)"; exit 77; }
. "$here/../says.sh"
flavour=$1
eval "launch=\${RUN_$flavour% *}"
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK" || exit 1
export LD_LIBRARY_PATH="$BUILD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
	PYTHONPATH="$SOURCE/python" PYTHONDONTWRITEBYTECODE=1
export MPLBACKEND=Agg MPLCONFIGDIR="$WORK"

# program NAME "RANKS [OPTION...]" [ARGUMENT...]
program() {
	name=$1 shape=$2
	shift 2
	# shellcheck disable=SC2086 # words
	run "$name $* on $shape" 0 timeout 60 $launch $shape "$PYTHON" "$here/$name.py" "$@"
	says out "^ok $name"
}

# ends WAY STATUS RANKS TEXT: the last rank fails, and all end; mpirun has statuses of its own.
ends() {
	run "ends $1 on $3" "$2" timeout 60 $launch "$3" "$PYTHON" "$here/ends.py" "$1"
	cat err >>out
	says out "$4"
	! grep -q "goes on" out || fail "a rank goes on"
}

example() { # "RANKS [OPTION...]" [PLOT]
	# shellcheck disable=SC2086
	run "example on $*" 0 timeout 60 $launch $1 "$PYTHON" "$SOURCE/examples/python/heat.py" \
		-n 40 -steps 200 ${2:+-plot "$2"}
	says out '^heat: .* differs from one rank.s by at most 0$'
	[ -z "$2" ] || [ "$(head -c 5 "$2")" = "<?xml" ] || fail "$2 is no plot"
}

case $flavour in
none)
	run prototypes 0 "$PYTHON" "$here/prototypes.py" "$SOURCE/include"
	says out '^ok prototypes'
	for name in arrays errors lifetime together model; do
		program $name 1
		program $name 2
		program $name "4 -nodes 2"
	done
	program together 4
	program docs 2 "$SOURCE/docs/python.md"
	run alone 0 "$PYTHON" "$here/arrays.py"
	says out '^ok arrays on 1 ranks'
	ends raise 1 3 'ValueError: told to fail$'
	says out 'the application ends the job: uncaught ValueError'
	ends exit 3 2 'rank 1 has called ARMCI_Finalize while rank 0 waits'
	ends abort 4 2 'told to abort'
	example "4 -nodes 2"
	if "$PYTHON" -c 'import matplotlib' 2>/dev/null; then
		example 3 heat.svg
	else
		echo "no plot: no matplotlib"
	fi
	;;
openmpi)
	program arrays 2
	other='"Open MPI" not in MPI.Get_library_version()'
	if "$PYTHON" -c "from mpi4py import MPI; import sys; sys.exit($other)" 2>/dev/null; then
		program with_mpi4py 2 before
		program with_mpi4py 2 after
		program with_mpi4py 4 comm
	else
		echo "without mpi4py: it is not here, or not made for Open MPI"
	fi
	ends raise 1 2 'ValueError: told to fail$'
	;;
mpich)
	program arrays 2
	program together 4
	program docs 2 "$SOURCE/docs/python.md"
	ends raise 1 2 'ValueError: told to fail$'
	;;
esac
[ $failures -eq 0 ] || exit 1
echo "ok python/$flavour"

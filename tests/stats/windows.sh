# SPDX-License-Identifier: BSD-3-Clause
# windows.sh - what ARMCI_STATS and ARMCI_TRACE=FILE tell of windows.c, under each MPI. Sourced by
# run.sh; it uses its functions.

# many OPERATION SIZE RANKS BYTES SHARE: ten calls of each rank.
many() { row "$1" "$2" $((10 * $3)) "$4" "$5"; }

# windows RANKS FAST: what windows.c does; FAST is the share of the fast path in what is about a
# rank.
windows() {
	many MPI_Put 'up to 64 B' $((2 * $1)) "$((160 * $1)) B" "$2"
	row MPI_Put 'no data' $((10 * $1)) '0 B' 100.0
	many MPI_Put 'up to 256 B' "$1" '[0-9.]* KiB' "$2"
	many MPI_Put 'up to 4 KiB' "$1" '[0-9.]* KiB' "$2"
	many MPI_Get 'up to 64 B' "$1" "$((160 * $1)) B" "$2"
	for op in Accumulate Fetch_and_op Compare_and_swap Raccumulate Rget_accumulate; do
		many "MPI_$op" 'up to 64 B' "$1" "$((80 * $1)) B" "$2"
	done
	many MPI_Get_accumulate 'up to 64 B' "$1" "$((320 * $1)) B" "$2"
	many MPI_Rput 'up to 64 B' "$1" "$((240 * $1)) B" "$2"
	many MPI_Rget 'up to 64 B' "$1" "$((240 * $1)) B" "$2"
	many MPI_Win_fence 'no data' $((2 * $1)) '0 B' '[0-9.]*'
	for op in post start complete wait lock unlock lock_all unlock_all flush flush_all \
		flush_local flush_local_all sync; do
		many "MPI_Win_$op" 'no data' "$1" '0 B' '[0-9.]*'
	done
	row 'making a window' 'up to 4 KiB' "$1" '[0-9.]* KiB' 0.0
	row MPI_Win_free 'no data' "$1" '0 B' 0.0
	says err "^  all  *$((292 * $1)) "
}

for flavour in openmpi mpich; do
	eval "compiler=\${CC_$flavour:-} launcher=\${RUN_$flavour:-}"
	[ -n "$compiler" ] && [ -n "$launcher" ] || {
		echo "no windows: no compiler or launcher of $flavour"
		continue
	}
	# shellcheck disable=SC2086 # words
	$compiler -std=gnu11 -O2 -Wall -Wextra ${WERROR-} -o windows.$flavour "$here/windows.c" || {
		fail "windows.c: $flavour"
		continue
	}
	app="$BUILD/bin/armci-mpirma $WORK/windows.$flavour"
	# shellcheck disable=SC2086 # words
	{
		run "$flavour off" 0 $launcher $app
		! grep -q statistics err || fail "statistics that nobody wants"
		run "$flavour node" 0 $launcher env ARMCI_STATS=1 $app
		windows 2 100.0
		says err '^libarmci-mpirma .*: statistics of 2 rank(s) on 1 node(s)'
		run "$flavour nodes" 0 $launcher sh "$here/../hosts/pretend.sh" 2 2 \
			env ARMCI_STATS=1 ARMCI_TRACE=$flavour.json $app
		windows 2 0.0
		says err '^within nodes 0 B in 0 calls, between nodes 15.5 KiB in 340 calls$'
		traced $flavour.json 584
		says $flavour.json \
			'"ph":"B","pid":0,.*"name":"MPI_Put","args":{"peer":1,"bytes":512}'
		case="$flavour error"
		$launcher env ARMCI_STATS=1 $app outside >out 2>err &&
			fail "an operation outside the window does not end the job"
		says err 'statistics of rank 1 alone, since the job is aborted$'
	}
done

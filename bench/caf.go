// SPDX-License-Identifier: BSD-3-Clause

// The command bench caf: coarrays of Fortran with our runtime and with
// OpenCoarrays, by one program (bench/caf) that is compiled for each. The baseline
// of a figure of ours is the ARMCI call that does the same, in the same processes.
// The rest is as in bench windows.
package main

import _ "embed"

const cafUsage = `usage: bench caf [OPTION]...

Measures coarrays of Fortran between two images with libcaf_armci and with OpenCoarrays over
Open MPI, by turns. In brackets is the ARMCI call that does what the statement does, in the same
processes.

  -network NAME    node (the default), nodes (pretended ones, over TCP) or rdma (the same over RDMA)
  -hosts A,B       between these hosts, over TCP
  -agent COMMAND   what brings a command to a host, of -hosts
  -only LIST       figures, comma-separated: put,get,row,block,atomic,lock,event,sync,
                   collective,allocate
  -series LIST     series, comma-separated: opencoarrays,opencoarrays-pt2pt,armci
  -runs N          starts of every series (default 3); their median counts
  -reps N          repetitions in each (default 5, quick 1)
  -best            the best repetition counts, not the median: on machines that are busy with
                   something else
  -quick           short runs that only show that everything works
  -out DIR         write NETWORK.csv, .json, .md and charts there
  -v               print the command of every job
`

//go:embed caf.txt
var cafBars string

// coarrays is bench caf. As it comes Open MPI uses shared memory between pretended nodes, whatever
// it is told, and has no windows of memory that a program allocates itself between hosts over TCP.
var coarrays = suite{
	name: "caf", usage: cafUsage, title: "Coarrays", ranks: 2, bars: &cafBars,
	series: []series{
		{name: "opencoarrays", title: "OpenCoarrays", mpi: "openmpi", fair: true,
			networks: "node"},
		{name: "opencoarrays-pt2pt", title: "OpenCoarrays, send/receive", mpi: "openmpi",
			fair: true, networks: "nodes hosts",
			words: []string{"--mca", "osc", "pt2pt"}},
		{name: "armci", title: "libcaf_armci", mpi: "armci", ours: true,
			networks: "node nodes hosts rdma"},
	},
	batches: []batch{{[]string{"put", "get", "row", "block", "atomic", "lock", "event", "sync",
		"collective", "allocate"}, 2, false}},
	plots: []windowPlot{
		{"put", "Assignment to another image", "time", "ARMCI_Put"},
		{"get", "Reference to another image", "time", "ARMCI_Get"},
		{"co-sum", "CO_SUM of 2 images", "time", "armci_msg_dgop"},
		{"co-broadcast", "CO_BROADCAST of 2 images", "time", "armci_msg_bcast"},
	},
}

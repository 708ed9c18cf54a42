// SPDX-License-Identifier: BSD-3-Clause

// The rows of bench -waits: places, what is measured there by which ways, and the
// bars. It starts nothing.
package main

import "libarmci/bench/launch"

// waitRow is an operation at a place, what it is held against, and its bar.
type waitRow struct {
	name  string
	op    string // of ours; "": the name
	rival string // of the rivals; "": none has it
	bytes int64
	by    string  // the rivals that the bar is about; "": all. The others are shown
	ratio float64 // bar of our median by that of the fastest of them; 0: none
	most  float64 // bar of our median, in ns; 0: none
}

func (r *waitRow) ours() string {
	if r.op != "" {
		return r.op
	}
	return r.name
}

// tailBar is what the 90th percentile of starts is held against.
type tailBar int

const (
	noTail    tailBar = iota
	ownTail           // our median, in each condition
	rivalTail         // our median if it is quiet, the rivals' 90th percentile if it is not
)

const mostTail = 2 // by our median

// mostBeside: nothing may cost more than so much of what it costs with the other build.
const mostBeside = 1.05

// cores says which cores the ranks of a place are given.
type coreChoice int

const (
	asLaunched coreChoice = iota // the launcher's choice
	oneEach                      // a core for each rank, and so for each host
	firstTwo                     // all ranks share two
)

// waitPlace is where some rows are measured, and by which ways.
type waitPlace struct {
	name, title string
	network     string // node, hosts, or rdma: pretended nodes over the software verbs device
	ranks       int    // between nodes one on each
	cores       coreChoice
	env         []string // of ours
	figures     string   // what the program is asked for if that is not the operations
	tail        tailBar
	rows        []waitRow
	ways        []waitWay
}

// wayRole is what a way stands for in a table.
type wayRole int

const (
	isRival wayRole = iota
	isOurs
	isBefore // ours, of the other build
)

// waitWay is one way to do the operations.
type waitWay struct {
	name, title string
	role        wayRole
	launcher    string
	program     string // below bench
	yields      bool   // ranks of Open MPI yield the processor while they wait
	preload     bool   // our windows in the place of the MPI's
	words       []string
	failures    int
}

var (
	byLibrary = waitWay{name: "ours", title: "ours", role: isOurs, launcher: launch.Armcirun, program: "waits-armci"}
	byWindows = waitWay{name: "ours", title: "ours over Open MPI", role: isOurs, launcher: launch.OpenMPI,
		program: "waits-openmpi", preload: true}
	byWindowsCrowded = func() waitWay { w := byWindows; w.yields = true; return w }() // in the MPI's barrier between samples
	byImages         = waitWay{name: "ours", title: "libcaf_armci", role: isOurs, launcher: launch.Armcirun, program: "caf-armci"}
	byRaw            = waitWay{name: "raw", title: "raw socket", launcher: launch.Armcirun, program: "waits-armci"}
	openMPI          = waitWay{name: "openmpi", title: "Open MPI", launcher: launch.OpenMPI, program: "waits-openmpi"}
	// MPICH over UCX never yields, whatever MPIR_CVAR_POLLS_BEFORE_YIELD says.
	mpich         = waitWay{name: "mpich", title: "MPICH", launcher: launch.MPICH, program: "waits-mpich"}
	openMPIYields = yielding(openMPI)
	// Epochs by messages, as the original design of the paper that they are of.
	bySending = waitWay{name: "openmpi-pt2pt", title: "Open MPI, send/receive", launcher: launch.OpenMPI,
		program: "waits-openmpi", words: []string{"--mca", "osc", "pt2pt"}}
	openCoarrays = waitWay{name: "opencoarrays", title: "OpenCoarrays", launcher: launch.OpenMPI, program: "caf-openmpi",
		words: []string{"--mca", "osc", "pt2pt"}}
)

// yielding is a way of Open MPI whose ranks yield.
func yielding(w waitWay) waitWay {
	w.name, w.title, w.yields = w.name+"-yield", w.title+", yielding", true
	return w
}

// onNode are the rows of a node. ratio 0: no bar beside the MPIs.
func onNode(ratio float64) []waitRow {
	return []waitRow{
		{name: "barrier", rival: "barrier", bytes: 8, ratio: ratio},
		{name: "message", rival: "message", bytes: 8, ratio: ratio},
		{name: "notify", bytes: 8},
		{name: "lock", rival: "lock", bytes: 8, ratio: ratio},
		{name: "bcast", rival: "bcast", bytes: 8, ratio: ratio},
	}
}

// together are the collectives, by size.
func together() []waitRow {
	rows := []waitRow{{name: "barrier", rival: "barrier", bytes: 8, ratio: 1.2}}
	for _, op := range []string{"bcast", "sum"} {
		for _, bytes := range []int64{8, 64, 512, 4 << 10, 16 << 10, 64 << 10} {
			rows = append(rows, waitRow{name: rowName(op, bytes), op: op, rival: op, bytes: bytes, ratio: 1.2})
		}
	}
	return rows
}

var waitPlaces = []waitPlace{
	{name: "node-2", title: "2 ranks of a node", network: "node", ranks: 2, tail: rivalTail, rows: onNode(1),
		ways: []waitWay{byLibrary, openMPI, mpich}},
	{name: "node-4", title: "4 ranks of a node, 2 cores", network: "node", ranks: 4, cores: firstTwo, rows: onNode(0),
		ways: []waitWay{byLibrary, openMPI, openMPIYields, mpich}},
	{name: "tcp-2", title: "2 hosts over TCP, a rank and a core each", network: "hosts", ranks: 2, cores: oneEach, tail: ownTail,
		rows: []waitRow{
			{name: "put-flag", rival: "one-way", bytes: 8, by: "openmpi", ratio: 1.1},
			{name: "put-notify", rival: "one-way", bytes: 8, by: "openmpi", ratio: 1.1},
			{name: "message", rival: "message", bytes: 8, by: "openmpi", ratio: 1.1},
			{name: "barrier", rival: "barrier", bytes: 8, ratio: 1},
			{name: "get-mixed", op: "get", rival: "trip-mixed", bytes: 8, ratio: 1.25},
			{name: "get-spinning", op: "get", rival: "trip-spinning", bytes: 8, ratio: 1.25},
			{name: "get-computing", bytes: 8},
		}, ways: []waitWay{byLibrary, openMPI, mpich, byRaw}},
	{name: "tcp-2-asleep", title: "the same, each wait asleep at once", network: "hosts", ranks: 2, cores: oneEach, tail: ownTail,
		env: allAsleep, rows: []waitRow{{name: "get-asleep", op: "get", rival: "trip-asleep", bytes: 8, ratio: 1.25}},
		ways: []waitWay{byLibrary, byRaw}},
	{name: "epoch-2", title: "windows of 2 hosts over TCP, a rank and a core each", network: "hosts", ranks: 2, cores: oneEach,
		rows: []waitRow{{name: "epoch", rival: "epoch", bytes: 8, ratio: 1.1}}, ways: []waitWay{byWindows, bySending}},
	{name: "epoch-rdma", title: "windows of 2 pretended nodes over the software verbs device", network: "rdma", ranks: 2,
		rows: []waitRow{{name: "epoch", bytes: 8, most: 2500}}, ways: []waitWay{byWindows}},
	{name: "epoch-8", title: "windows of 8 hosts over TCP, 2 cores", network: "hosts", ranks: 8, cores: firstTwo,
		rows: []waitRow{{name: "origins", rival: "origins", bytes: 8, ratio: 1}},
		ways: []waitWay{byWindowsCrowded, bySending, yielding(bySending)}},
	{name: "images-2", title: "coarrays of 2 hosts over TCP, an image and a core each", network: "hosts", ranks: 2, cores: oneEach,
		figures: "sync", rows: []waitRow{{name: "sync-images", rival: "sync-images", ratio: 1.1}},
		ways: []waitWay{byImages, openCoarrays}},
	{name: "lock-3", title: "3 hosts over TCP, 2 cores; the mutex is at one, the others want it", network: "hosts", ranks: 3,
		cores: firstTwo, rows: []waitRow{{name: "lock-remote", bytes: 8, most: 1e9 / 30000}}, ways: []waitWay{byLibrary}},
	{name: "tcp-4", title: "4 hosts over TCP, 2 cores", network: "hosts", ranks: 4, cores: firstTwo, rows: together(),
		ways: []waitWay{byLibrary, openMPI, openMPIYields, mpich}},
}

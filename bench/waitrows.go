// SPDX-License-Identifier: BSD-3-Clause

// The rows of bench -waits: places, what is measured there by which ways, and the
// bars. It starts nothing.
package main

import (
	"strconv"

	"libarmci/bench/launch"
)

// waitRow is an operation at a place, what it is held against, and its bar.
type waitRow struct {
	name  string
	op    string // of ours; "": the name
	rival string // the operation of the rivals; "": none has it
	bytes int64
	by    string  // the rivals that the bar is about, by their name; "": all
	ratio float64 // bar of our median by that of the fastest of them; 0: none
	most  float64 // bar of our median, in ns; 0: none
}

// tailBar is what the 90th percentile of starts is held against.
type tailBar int

const (
	noTail    tailBar = iota
	ownTail           // our median, in each condition
	rivalTail         // our median if it is quiet, the rivals' 90th percentile if it is not
)

const (
	mostTail   = 2    // the 90th percentile by our median
	mostBeside = 1.05 // our median by that of the other build
)

// coreChoice says which cores the ranks of a place are given.
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
	figures     string   // what the program is asked for; "": the operations of the rows
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
	program     string   // beside bench
	yields      bool     // ranks of Open MPI yield the processor while they wait
	preload     bool     // our windows in the place of the MPI's
	words       []string // of the launcher
	failures    int      // of its starts so far
}

// Epochs and coarrays of Open MPI are by messages (osc/pt2pt), as the original design of the paper
// that the epochs are of; over TCP there is nothing else. MPICH over UCX polls without yielding,
// whatever MPIR_CVAR_POLLS_BEFORE_YIELD says.
var (
	byLibrary = waitWay{name: "ours", title: "ours", role: isOurs, launcher: launch.Armcirun,
		program: "waits-armci"}
	byWindows = waitWay{name: "ours", title: "ours over Open MPI", role: isOurs,
		launcher: launch.OpenMPI, program: "waits-openmpi", preload: true}
	byImages = waitWay{name: "ours", title: "libcaf_armci", role: isOurs,
		launcher: launch.Armcirun, program: "caf-armci"}
	byRaw = waitWay{name: "raw", title: "raw socket", launcher: launch.Armcirun,
		program: "waits-armci"}
	openMPI = waitWay{name: "openmpi", title: "Open MPI", launcher: launch.OpenMPI,
		program: "waits-openmpi"}
	mpich = waitWay{name: "mpich", title: "MPICH", launcher: launch.MPICH,
		program: "waits-mpich"}
	bySending = waitWay{name: "openmpi-pt2pt", title: "Open MPI, send/receive",
		launcher: launch.OpenMPI, program: "waits-openmpi",
		words: []string{"--mca", "osc", "pt2pt"}}
	openCoarrays = waitWay{name: "opencoarrays", title: "OpenCoarrays",
		launcher: launch.OpenMPI, program: "caf-openmpi",
		words: []string{"--mca", "osc", "pt2pt"}}
)

// yielding is a way to run Open MPI in which waiting ranks yield their cores.
func yielding(w waitWay) waitWay {
	w.yields = true
	if w.role == isRival {
		w.name, w.title = w.name+"-yield", w.title+", yielding"
	}
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

// onTwoHosts are those between two hosts. Notifications carry data, so that an MPI's message is
// their rival.
func onTwoHosts() []waitRow {
	return []waitRow{
		{name: "put-flag", rival: "one-way", bytes: 8, by: "openmpi", ratio: 1.1},
		{name: "put-notify", rival: "one-way", bytes: 8, by: "openmpi", ratio: 1.1},
		{name: "message", rival: "message", bytes: 8, by: "openmpi", ratio: 1.1},
		{name: "barrier", rival: "barrier", bytes: 8, ratio: 1},
		{name: "get-mixed", op: "get", rival: "trip-mixed", bytes: 8, ratio: 1.25},
		{name: "get-spinning", op: "get", rival: "trip-spinning", bytes: 8, ratio: 1.25},
		{name: "get-computing", bytes: 8},
	}
}

// collectives are those of four hosts, by size.
func collectives() []waitRow {
	rows := []waitRow{{name: "barrier", rival: "barrier", bytes: 8, ratio: 1.2}}
	for _, op := range []string{"bcast", "sum"} {
		for _, bytes := range []int64{8, 64, 512, 4 << 10, 16 << 10, 64 << 10} {
			name := op + "-" + strconv.FormatInt(bytes, 10)
			rows = append(rows, waitRow{name: name, op: op, rival: op, bytes: bytes,
				ratio: 1.2})
		}
	}
	return rows
}

var waitPlaces = []waitPlace{
	{name: "node-2", title: "2 ranks of a node", network: "node", ranks: 2, tail: rivalTail,
		rows: onNode(1), ways: []waitWay{byLibrary, openMPI, mpich}},
	{name: "node-4", title: "4 ranks of a node on 2 cores", network: "node", ranks: 4,
		cores: firstTwo, rows: onNode(0),
		ways: []waitWay{byLibrary, openMPI, yielding(openMPI), mpich}},
	{name: "tcp-2", title: "2 hosts over TCP, a rank and a core each", network: "hosts",
		ranks: 2, cores: oneEach, tail: ownTail, rows: onTwoHosts(),
		ways: []waitWay{byLibrary, openMPI, mpich, byRaw}},
	{name: "tcp-2-asleep", title: "the same, each wait asleep at once", network: "hosts",
		ranks: 2, cores: oneEach, tail: ownTail, env: allAsleep,
		rows: []waitRow{{name: "get", rival: "trip-asleep", bytes: 8, ratio: 1.25}},
		ways: []waitWay{byLibrary, byRaw}},
	{name: "epoch-2", title: "windows of 2 hosts over TCP, a rank and a core each",
		network: "hosts", ranks: 2, cores: oneEach,
		rows: []waitRow{{name: "epoch", rival: "epoch", bytes: 8, ratio: 1.1}},
		ways: []waitWay{byWindows, bySending}},
	{name: "epoch-rdma", title: "windows of 2 pretended nodes over the software verbs device",
		network: "rdma", ranks: 2,
		rows: []waitRow{{name: "epoch", bytes: 8, most: 2500}}, ways: []waitWay{byWindows}},
	{name: "epoch-8", title: "windows of 9 hosts over TCP on 2 cores: 8 origins",
		network: "hosts", ranks: 9, cores: firstTwo,
		rows: []waitRow{{name: "origins", rival: "origins", bytes: 8, ratio: 1}},
		ways: []waitWay{yielding(byWindows), bySending, yielding(bySending)}},
	{name: "images-2", title: "coarrays of 2 hosts over TCP, an image and a core each",
		network: "hosts", ranks: 2, cores: oneEach, figures: "sync",
		rows: []waitRow{{name: "sync-images", rival: "sync-images", ratio: 1.1}},
		ways: []waitWay{byImages, openCoarrays}},
	{name: "lock-3", title: "3 hosts over TCP on 2 cores: one has the mutex, two want it",
		network: "hosts", ranks: 3, cores: firstTwo,
		rows: []waitRow{{name: "lock-remote", bytes: 8, most: 1e9 / 30000}},
		ways: []waitWay{byLibrary}},
	{name: "tcp-4", title: "4 hosts over TCP on 2 cores", network: "hosts", ranks: 4,
		cores: firstTwo, rows: collectives(),
		ways: []waitWay{byLibrary, openMPI, yielding(openMPI), mpich}},
}

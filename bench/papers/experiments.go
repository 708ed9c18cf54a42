// SPDX-License-Identifier: BSD-3-Clause

// Which programs run, with which arguments, where, and about how long.
package main

import "slices"

// What several experiments are run at: the issue of scaling within and between nodes.
const (
	two      = "node-2 hosts-2x1 rdma-2x1"
	between  = "hosts-2x1 rdma-2x1"
	everyone = "node-1 node-2 node-4 hosts-2x1 hosts-2x2 hosts-4x1 rdma-2x1 rdma-2x2 rdma-4x1"
)

// In these the ranks of a node differ in a setting, so there are as many as values (../README.md).
// Of those that take turns only one does anything: they wait as if each had a core of its own.
const (
	schemeValues  = "-e ARMCI_CONTIGUOUS=auto,buffered,zerocopy,baseline,register,overlap"
	stridedValues = "-e ARMCI_STRIDED=auto,nic,host,push"
)

var ownCore = []variant{{env: []string{"ARMCI_SPIN=2000"}}}

func rdmaSetting(name, setting string) variant {
	return variant{name: name, env: []string{setting}}
}

// strided are the protocols of strided transfers.
var strided = []variant{
	rdmaSetting("nic", "ARMCI_STRIDED=nic"), rdmaSetting("host",
		"ARMCI_STRIDED=host"), rdmaSetting("auto", "ARMCI_STRIDED=auto"),
}

// withBLAS are variants in which matrices are multiplied by a tuned library.
func withBLAS(all []variant) []variant {
	all = slices.Clone(all)
	for i := range all {
		all[i].blas = true
	}
	return all
}

// openblas: matrices are multiplied by a tuned library (../apps/openblas.sh).
var openblas = []variant{{blas: true}}

// messages are MPI's windows by messages, which it needs between hosts.
const messages = "messages"

// windowsBy are the ways of one-sided communication of MPI: by messages, as paper 003's original
// design, and by our library.
var windowsBy = []variant{
	{name: messages, words: []string{"--mca", "osc", "pt2pt"}},
	{name: "ours", preload: true},
}

var experiments = []experiment{
	// The microbenchmarks (worker/).
	{name: "latency", program: "worker-papers", args: "latency", quick: "latency", reps: 7,
		places: two, seconds: 10},
	{name: "transfer", program: "worker-papers", args: "transfer", quick: "transfer", reps: 7,
		places: two, seconds: 20},
	{name: "strided", program: "worker-papers", args: "transfer-strided",
		quick: "transfer-strided", reps: 7, places: two, seconds: 20},
	{name: "rows", program: "worker-papers", args: "rows", quick: "rows", reps: 7,
		places: between, seconds: 20},
	{name: "aggregation", program: "worker-papers", args: "aggregation", quick: "aggregation",
		reps: 7, places: two, seconds: 10},
	{name: "overlap", program: "worker-papers", args: "overlap-work", quick: "overlap-work",
		reps: 5, places: "hosts-2x1", seconds: 20},
	{name: "overlap-protocols", program: "worker-papers", args: "overlap-work",
		quick: "overlap-work", reps: 5, places: "rdma-2x1", seconds: 20,
		variants: []variant{rdmaSetting("direct", "ARMCI_CONTIGUOUS=zerocopy"),
			rdmaSetting("buffered", "ARMCI_CONTIGUOUS=buffered")}},
	{name: "fences", program: "worker-papers", args: "all-fence", quick: "all-fence", reps: 7,
		places: "hosts-2x1 hosts-4x1 hosts-6x1 hosts-8x1 rdma-2x1 rdma-4x1 rdma-6x1 " +
			"rdma-8x1", seconds: 10},
	{name: "one-to-all", program: "worker-papers", args: "one-to-all", quick: "one-to-all",
		reps: 7, places: "hosts-4x1", seconds: 15},
	{name: "one-to-all-protocols", program: "worker-papers", args: "one-to-all",
		quick: "one-to-all", reps: 7, places: "rdma-4x1", seconds: 15,
		variants: strided},
	{name: "get-schemes", program: "worker-papers", first: schemeValues, args: "get-schemes",
		quick: "get-schemes", reps: 7,
		places: "rdma-2x6", fixed: true, seconds: 20, variants: ownCore},
	{name: "registration", program: "worker-papers", args: "registration",
		quick: "registration", reps: 7, places: "rdma-2x1", seconds: 10},
	{name: "overhead", program: "worker-papers", args: "overhead", quick: "overhead", reps: 5,
		places: "hosts-2x1", seconds: 20},
	{name: "overhead-protocols", program: "worker-papers", first: stridedValues,
		args: "overhead", quick: "overhead", reps: 5,
		places: "rdma-2x4", fixed: true, seconds: 20, variants: ownCore},
	{name: "mpi-get-fence", program: "worker-papers", args: "mpi-get-fence",
		quick: "mpi-get-fence", reps: 7, places: "hosts-2x1", seconds: 10,
		variants: windowsBy[:1]},
	{name: "collective", program: "worker-papers", args: "collectives", quick: "collectives",
		reps: 5, places: "hosts-4x1", seconds: 20},

	// MPI's one-sided communication (../windows).
	{name: "windows", program: "windows-openmpi",
		args:  "pingpong bidirectional get-fence bandwidth overlap skew",
		quick: "pingpong bidirectional get-fence bandwidth overlap skew",
		reps:  3, places: between, seconds: 40, variants: windowsBy},
	{name: "windows-small", program: "windows-openmpi", args: "small fetch locks",
		quick: "small fetch locks", reps: 5, places: two, seconds: 8, variants: windowsBy},
	{name: "windows-origins", program: "windows-openmpi", args: "synchronisation origins",
		quick: "synchronisation origins", reps: 3,
		places: "hosts-2x1 hosts-3x1 hosts-4x1 hosts-8x1 rdma-2x1 rdma-3x1 rdma-4x1 " +
			"rdma-8x1", seconds: 8, variants: windowsBy},

	// The applications (../apps).
	{name: "mg-W", program: "apps/mg", args: "W", quick: "S", reps: 3, places: everyone,
		seconds: 10},
	{name: "mg-A", program: "apps/mg", args: "A", quick: "S", reps: 3, places: everyone,
		seconds: 40},
	{name: "mg-B", program: "apps/mg", args: "B", quick: "S", reps: 3, places: everyone,
		seconds: 30},
	{name: "sparse", program: "apps/sparse", reps: 3, places: everyone, seconds: 15},
	{name: "lu", program: "apps/lu", args: "3072 32", reps: 3, places: everyone, seconds: 60},
	{name: "srumma", program: "apps/srumma",
		args:  "-v pdgemm,srumma,srumma-blocking 512 1000 2000",
		quick: "-v pdgemm,srumma,srumma-blocking 128", reps: 5,
		places: everyone, seconds: 15, variants: openblas},
	{name: "srumma-reference", program: "apps/srumma",
		args:  "-v pdgemm,srumma,srumma-blocking 512 2000",
		quick: "-v pdgemm,srumma,srumma-blocking 128", reps: 3,
		places: "node-4 hosts-2x2 rdma-2x2", seconds: 40},
	{name: "srumma-protocols", program: "apps/srumma", args: "-v srumma 512 2000",
		quick: "-v srumma 128", reps: 3, places: "rdma-2x1 rdma-4x1", seconds: 12,
		variants: strided},
	{name: "srumma-rows", program: "apps/srumma", args: "-v srumma,srumma-rows 512 2000",
		quick: "-v srumma,srumma-rows 128", reps: 5, places: "rdma-2x1 rdma-4x1",
		seconds: 10, variants: withBLAS(strided)},
	{name: "transpose", program: "apps/transpose", reps: 3, places: everyone, seconds: 10},
	{name: "jacobi", program: "apps/jacobi", reps: 3, places: everyone, seconds: 10},
	{name: "counter", program: "apps/counter", args: "-v mpi,armci", quick: "-v mpi,armci",
		reps: 3, places: everyone, seconds: 15,
		// its windows: others cannot be made between hosts
		variants: []variant{{words: []string{"--mca", "osc", "pt2pt"}}}},

	// NWChem (../apps/nwchem.sh), over this library and over ARMCI-MPI, which needs MPI's
	// windows by messages between hosts.
	{name: "nwchem", program: "bench/apps/nwchem.sh", args: "libarmci dft_siosi3",
		quick: "libarmci dft_he2+", places: "node-1 node-2 node-4 hosts-2x1 hosts-2x2",
		seconds: 25},
	{name: "nwchem-armci-mpi", program: "bench/apps/nwchem.sh", args: "armci-mpi dft_siosi3",
		quick: "armci-mpi dft_he2+", places: "node-1 node-2 node-4", seconds: 25},
	{name: "nwchem-armci-mpi-hosts", program: "bench/apps/nwchem.sh",
		args: "armci-mpi dft_siosi3", quick: "armci-mpi dft_he2+",
		places: "hosts-2x1 hosts-2x2", seconds: 60,
		variants: []variant{{words: []string{"--mca", "osc", "pt2pt"}}}},
	{name: "nwchem-rdma", program: "bench/apps/nwchem.sh", args: "libarmci dft_he2+",
		quick: "libarmci dft_he2+", places: "rdma-2x1", seconds: 20},
}

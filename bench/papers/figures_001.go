// SPDX-License-Identifier: BSD-3-Clause

// Paper 001: protocols on clusters.
package main

import "slices"

// locks are what the paper's table 2 has of a network, in us.
func locks(machine string, get, lock, unlock float64) []quote {
	var all []quote
	for i, row := range []string{"get", "lock", "unlock"} {
		v := []float64{get, lock, unlock}[i] * 1e3
		all = append(all, quote{name: "paper: " + machine, row: row, low: v, high: v})
	}
	return all
}

// fencesOver are the series of figure 12, by one and by all.
func fencesOver(network, title string) chart {
	c := chart{title: title, yLabel: "time", xLabel: "processes", kind: overProcs,
		lines: []line{
			lineOf("AllFence by one", "fences", "all-fence/one", ""),
			lineOf("single fences by one", "fences", "all-fence/one-sequence", ""),
			lineOf("AllFence by all", "fences", "all-fence/all", ""),
			lineOf("single fences by all", "fences", "all-fence/all-sequence", "")}}
	for _, n := range []string{"2x1", "4x1", "6x1", "8x1"} {
		c.places = append(c.places, network+"-"+n)
	}
	return c
}

var clusters2002 = []paperFigure{
	{id: "001-2", title: "Memory registration and copying",
		caption: "Performance of memory registration and copy",
		paper: "Registration on GM is expensive, deregistration above all; on VIA both " +
			"are efficient.",
		claims: []claim{
			{says: "registration is efficient: faster than a copy", of: "register",
				over: []string{"memcpy"}, least: 1,
				why: "A call of the kernel costs more than copying what is short."},
			{says: "deregistration, too", of: "deregister", over: []string{"memcpy"},
				least: 1,
				why: "A call of the kernel costs more than copying what is " +
					"short."},
		},
		charts: []chart{{title: "Registration and memcpy", yLabel: "rate", rate: true,
			lines: []line{
				lineOf("register", "registration", "registration/register",
					"rdma-2x1"),
				lineOf("deregister", "registration", "registration/deregister",
					"rdma-2x1"),
				lineOf("memcpy", "registration", "registration/memcpy",
					"rdma-2x1")}}}},
	{id: "001-6", title: "Get by protocol",
		caption: "Performance of the get operation: zero-copy, baseline data streaming, " +
			"and data streaming with adaptive pipelining (Figures 6, cLAN, and 7, " +
			"Myrinet).",
		paper: "Pipelined streaming is almost as good as zero copy on VIA, and much " +
			"better on GM; the baseline is the slowest.",
		claims: []claim{
			{says: "pipelining is almost as good as zero copy", of: "pipelined",
				over: []string{"zero copy"}, least: 0.9, why: oneCopy},
			{says: "and better than the baseline", of: "pipelined",
				over: []string{"baseline"}, least: 1, why: oneCopy},
			{says: "zero copy is ahead of the baseline", of: "zero copy",
				over: []string{"baseline"}, least: 1,
				why: "Registering costs a call of the kernel, which is more " +
					"than a " +
					"copy of what is short."},
		},
		charts: []chart{{title: "Get by protocol over " + softRDMA, yLabel: "bandwidth",
			rate: true, lines: append(schemes[:3:3], lineOf("raw verbs", "get-schemes",
				"get-schemes/raw", "rdma-2x6"))}}},
	{id: "001-8", title: "Get, put and MPI, contiguous and strided",
		caption: "Performance of get, put and MPI send/receive on the cLAN VIA (Figures " +
			"8-9) and on Myrinet (Figures 10-11).",
		paper: "Put is ahead of MPI, get is close to it; the gap between contiguous " +
			"and strided is smaller than under MPI.",
		claims: []claim{
			{says: "over RDMA put is ahead of MPI", of: "put", over: []string{"MPI"},
				least: 1, why: ownMemory},
			{says: "over RDMA get is close to MPI", of: "get", over: []string{"MPI"},
				least: 0.9, why: ownMemory},
			{says: "over RDMA strided puts are ahead of MPI's vector type",
				of: "put, strided", over: []string{"MPI, vector type"}, least: 1,
				why: rowIsRequest},
			{says: "over TCP put is ahead of MPI", chart: 1, of: "put",
				over: []string{"MPI"}, least: 1, why: waitsForAnswer},
			{says: "over TCP get is close to MPI", chart: 1, of: "get",
				over: []string{"MPI"}, least: 0.9, why: waitsForAnswer},
			{says: "over TCP strided puts are ahead of MPI's vector type", chart: 1,
				of: "put, strided", over: []string{"MPI, vector type"}, least: 1,
				why: waitsForAnswer},
		},
		charts: onNetworks(chart{title: "Get, put and MPI", yLabel: "bandwidth", rate: true,
			lines: []line{
				lineOf("put", "transfer", "transfer/put", ""),
				lineOf("get", "transfer",
					"transfer/get", ""),
				lineOf("MPI", "transfer", "transfer/mpi", ""),
				lineOf("put, strided", "strided", "transfer-strided/put", ""),
				lineOf("get, strided", "strided", "transfer-strided/get", ""),
				lineOf("MPI, vector type", "strided", "transfer-strided/mpi",
					"")}})},
	{id: "001-table2", title: "Latency of remote memory operations",
		caption: "Latency of remote memory operations",
		paper: "Within the SMP, on Myrinet, on cLAN: get 0.38, 35.4, 34.6 us; lock " +
			"1.1, 35.6, 35.2; unlock 0.8, 1.9, 1.6.",
		claims: []claim{
			{says: "an unlock costs issuing a request: much less than a lock",
				of:   "unlock",
				over: []string{"lock"}, least: 2, at: farLabels},
			{says: "a lock costs a round trip, as a get", of: "lock",
				over: []string{"get"}, least: 0.8, at: farLabels,
				why: "Over RDMA a get is finished in C by the device; a lock " +
					"asks " +
					"the other side."},
		},
		charts: []chart{{title: "Operations on 8 bytes", kind: asTable, places: networks,
			quotes: slices.Concat(locks("SMP", 0.38, 1.1, 0.8),
				locks("Myrinet", 35.4, 35.6, 1.9), locks("cLAN", 34.6, 35.2, 1.6)),
			lines: []line{
				lineOf("get", "latency", "latency/get", ""),
				lineOf("lock", "latency", "latency/lock", ""),
				lineOf("unlock", "latency", "latency/unlock", ""),
				lineOf("fetch-and-add", "latency", "latency/fetch-add", ""),
				lineOf("swap", "latency", "latency/swap", ""),
				under("ours", lineOf("MPI_Fetch_and_op and flush over "+
					"libarmci-mpirma",
					"windows-small", "fetch-op+flush", "")),
				under("messages", lineOf("MPI_Fetch_and_op and flush by messages",
					"windows-small", "fetch-op+flush", ""))}}}},
	{id: "001-12", title: "AllFence",
		caption: "Performance improvements due to concurrent processing in " +
			"ARMCI_AllFence when called by a single and all processes in a parallel " +
			"program",
		paper: "With three, five and seven requests outstanding; the improvement is " +
			"lower when all processes make the call.",
		claims: []claim{
			{says: "over TCP AllFence by one is ahead of single fences",
				of: "AllFence by one", over: []string{"single fences by one"},
				least: 1, from: 4, why: answersTakeCores},
			{says: "by all, too", of: "AllFence by all",
				over: []string{"single fences by all"}, least: 1, from: 4,
				why: answersTakeCores},
			{says: "over RDMA AllFence by one is ahead of single fences", chart: 1,
				of: "AllFence by one", over: []string{"single fences by one"},
				least: 1, from: 4, why: "Completed puts need no request at all."},
			{says: "by all, too", chart: 1, of: "AllFence by all",
				over: []string{"single fences by all"}, least: 1, from: 4,
				why: "Completed puts need no request at all."},
		},
		charts: []chart{fencesOver("hosts", "Fences over TCP"),
			fencesOver("rdma", "Fences over "+softRDMA)}},
	{id: "001-mpi2", title: "Get and MPI-2's get with its fence",
		caption: "Comparison with MPI-2 put and get operations (section 4, related work)",
		paper: "MPI_Get of 1024 bytes with its fence took 262 us, of 131072 bytes 3664 " +
			"us; ARMCI_Get 54.8 us and, as printed, 12800 us.",
		claims: []claim{
			{says: "ARMCI_Get is ahead of MPI_Get with its fence", of: "ARMCI_Get",
				over: []string{"MPI_Get and fence"}, least: 1},
		},
		charts: []chart{{title: "Get of 1 KiB and 128 KiB over TCP", yLabel: "time",
			kind: overBytes, quotes: []quote{
				{name: "paper: ARMCI_Get", x: 1 << 10, low: 54.8e3, high: 54.8e3},
				{name: "paper: ARMCI_Get", x: 1 << 17, low: 12800e3, high: 12800e3},
				{name: "paper: MPI_Get and fence", x: 1 << 10, low: 262e3,
					high: 262e3},
				{name: "paper: MPI_Get and fence", x: 1 << 17, low: 3664e3,
					high: 3664e3}},
			lines: []line{
				under("messages", lineOf("ARMCI_Get", "mpi-get-fence",
					"mpi-get-fence/get",
					"hosts-2x1")),
				under("messages", lineOf("MPI_Get and fence", "mpi-get-fence",
					"mpi-get-fence/mpi", "hosts-2x1")),
				under("ours", lineOf("MPI_Get between fences over libarmci-mpirma",
					"windows", "get-fence", "hosts-2x1"))}}}},
}

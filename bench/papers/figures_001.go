// SPDX-License-Identifier: BSD-3-Clause

// Paper 001: protocols on clusters.
package main

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
		here: "Registration is faster than copying from 16 KiB on, as on VIA; the device " +
			"in software has cheap deregistration.",
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
		here: "Agrees with the paper's VIA: zero copy is best for large messages, " +
			"pipelining is ahead of the baseline from 256 KiB on, and the baseline " +
			"is enough below.",
		charts: []chart{{title: "Get by protocol over RDMA", yLabel: "bandwidth",
			rate: true, lines: append(schemes[:3:3], lineOf("raw verbs", "get-schemes",
				"get-schemes/raw", "rdma-2x6"))}}},
	{id: "001-8", title: "Get, put and MPI, contiguous and strided",
		caption: "Performance of get, put and MPI send/receive on the cLAN VIA (Figures " +
			"8-9) and on Myrinet (Figures 10-11).",
		paper: "Put is ahead of MPI, get is close to it; the gap between contiguous " +
			"and strided is smaller than under MPI.",
		here: "Agrees over TCP for large data: strided transfers are ahead of " +
			"MPI's vector type from 128 x 128 on. Over RDMA, beside MPI over " +
			"UCX on the same device, gets are ahead up to 32 x 32 and at 512 x " +
			"512, puts at 32 x 32 and 512 x 512; in between both are at 0.6 to " +
			"1.0 of its speed: each row is a request.",
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
		here: "Agrees: an unlock only costs issuing a request, a lock costs a round trip.",
		charts: []chart{{title: "Operations on 8 bytes", kind: asTable, places: networks,
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
		here: "Does not agree everywhere: issuing all requests before waiting " +
			"gains nothing where eight hosts share two cores, since the answers " +
			"take processor time, not latency; over RDMA completed puts need no " +
			"request at all.",
		charts: []chart{fencesOver("hosts", "Fences over TCP"),
			fencesOver("rdma", "Fences over RDMA")}},
	{id: "001-mpi2", title: "Get and MPI-2's get with its fence",
		caption: "Comparison with MPI-2 put and get operations (section 4, related work)",
		paper: "MPI_Get of 1024 bytes with its fence took 262 us, of 131072 bytes 3664 " +
			"us; ARMCI_Get 54.8 us and, as printed, 12800 us.",
		here: "Agrees: a get is one round trip, MPI's needs two fences of all ranks, " +
			"also over this engine.",
		charts: []chart{{title: "Get of 1 KiB and 128 KiB", yLabel: "time", kind: overBytes,
			lines: []line{
				under("messages", lineOf("ARMCI_Get", "mpi-get-fence",
					"mpi-get-fence/get",
					"hosts-2x1")),
				under("messages", lineOf("MPI_Get and fence", "mpi-get-fence",
					"mpi-get-fence/mpi", "hosts-2x1")),
				under("ours", lineOf("MPI_Get between fences over libarmci-mpirma",
					"windows", "get-fence", "hosts-2x1"))}}}},
}

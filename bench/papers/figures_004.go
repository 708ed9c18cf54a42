// SPDX-License-Identifier: BSD-3-Clause

// Paper 004: strided transfers by protocol, what they cost the hosts, SRUMMA; and patterns that
// users write.
package main

var strided2004 = []paperFigure{
	{id: "004-6", title: "One process puts to three others",
		caption: "Performance of each of these methods for various message sizes: one " +
			"process puts 2-dimensional square array sections to all others, 4 " +
			"processes on different nodes.",
		paper: "The host-based method is ahead of the NIC-based and the vendor's for " +
			"some range of sizes; a hybrid is the best.",
		claims: []claim{
			{says: "the host-based method is ahead of the NIC's for some sizes",
				of:   "host",
				over: []string{"NIC"}, least: 1, some: true, why: "The device in " +
					"software has no cost for each request that would let " +
					"it win."},
			{says: "a hybrid is the best of both", of: "chosen by the model",
				over: []string{"NIC", "host"}, least: 0.95,
				why: "The model knows " +
					"what a request and a copy cost in the middle, not at " +
					"each size."},
			{says: "over RDMA ahead of the vendor's, here MPI's vector type",
				of: "chosen by the model", over: []string{"MPI, vector type"},
				least: 1, why: rowIsRequest},
			{says: "over TCP ahead of the vendor's, here MPI's vector type", chart: 1,
				of: "ARMCI_PutS", over: []string{"MPI, vector type"}, least: 1,
				why: waitsForAnswer},
		},
		charts: []chart{
			{title: "Puts of n x n doubles to three nodes over " + softRDMA,
				yLabel: "bandwidth", rate: true, lines: []line{
					under("nic", lineOf("NIC", "one-to-all-protocols",
						"one-to-all/put",
						"rdma-4x1")), under("host",
						lineOf("host", "one-to-all-protocols",
							"one-to-all/put", "rdma-4x1")),
					under("auto", lineOf("chosen by the model",
						"one-to-all-protocols",
						"one-to-all/put", "rdma-4x1")),
					under("auto", lineOf("chosen, nonblocking",
						"one-to-all-protocols",
						"one-to-all/put-nonblocking", "rdma-4x1")),
					under("auto", lineOf("MPI, vector type",
						"one-to-all-protocols",
						"one-to-all/mpi", "rdma-4x1"))}},
			{title: "Puts of n x n doubles to three hosts over TCP",
				yLabel: "bandwidth", rate: true, lines: []line{
					lineOf("ARMCI_PutS", "one-to-all", "one-to-all/put",
						"hosts-4x1"),
					lineOf("ARMCI_NbPutS", "one-to-all",
						"one-to-all/put-nonblocking", "hosts-4x1"),
					lineOf("MPI, vector type", "one-to-all", "one-to-all/mpi",
						"hosts-4x1")}},
		}},
	{id: "004-7", title: "Row by row, and copy-send-copy",
		caption: "Performance comparisons of NIC based method (left) and HBNA method " +
			"(Right)",
		paper: "One request to the NIC is ahead of a message for each row; overlapped " +
			"packing is ahead of copy, send, copy.",
		claims: []claim{
			{says: "over RDMA one request is ahead of one for each row",
				of:   "ARMCI_PutS",
				over: []string{"n x ARMCI_NbPut"}, least: 1, why: rowIsRequest},
			{says: "over RDMA ahead of copy, send, copy", of: "ARMCI_PutS",
				over: []string{"copy, send, copy"}, least: 1, why: packedFree},
			{says: "over TCP one request is ahead of one for each row", chart: 1,
				of: "ARMCI_PutS", over: []string{"n x ARMCI_NbPut"}, least: 1},
			{says: "over TCP ahead of copy, send, copy", chart: 1, of: "ARMCI_PutS",
				over: []string{"copy, send, copy"}, least: 1, why: packedFree},
		},
		charts: onNetworks(chart{title: "Put of n x n doubles", yLabel: "bandwidth",
			rate: true, lines: []line{
				lineOf("ARMCI_PutS", "rows", "rows/put", ""),
				lineOf("n x ARMCI_NbPut", "rows", "rows/put-rows", ""),
				lineOf("copy, send, copy", "rows", "rows/put-packed", "")}})},
	{id: "004-overhead", title: "Host overhead",
		caption: "Overall time spent on computation is slightly higher in the HBNA " +
			"method because the user thread is interrupted (section 6.3)",
		claims: []claim{
			{says: "the NIC-based method costs the target less than the host-based",
				chart: 1, of: "nic", over: []string{"host"}, least: 1},
			{says: "the host-based method makes computation slightly longer", chart: 2,
				of: "host", share: true, most: 10, why: "The target's two cores " +
					"have the ranks, the servers and the device in software."},
		},
		charts: []chart{
			overhead("Processor time of the caller for a put", "time of a put",
				"caller/put"),
			overhead("Processor time of the target for a put", "time of a put",
				"target/put"),
			overhead("What a computing target loses by puts", "longer computation",
				"slowdown/put"),
			overhead("Processor time of the caller for a get", "time of a get",
				"caller/get"),
			overhead("Processor time of the target for a get", "time of a get",
				"target/get"),
			overhead("What a computing target loses by gets", "longer computation",
				"slowdown/get"),
		}},
	{id: "004-8", title: "SRUMMA by protocol",
		caption: "Performance of SRUMMA for matrix of size 2000 (Figure 8)",
		paper: "For few processes, whose blocks are large, the NIC-based scheme is " +
			"best; for many the host-based one.",
		claims: []claim{
			{says: "for few processes the NIC-based scheme is the best", of: "NIC",
				over: []string{"host"}, least: 1, at: []string{"rdma 2x1"}},
			{says: "for many the host-based one", of: "host", over: []string{"NIC"},
				least: 1, at: []string{"rdma 4x1"}, why: "Four ranks are few: " +
					"blocks are still large."},
			{says: "42 % ahead of the vendor's interface; here of a get for each " +
				"column",
				chart: 5, of: "chosen by the model", over: []string{rowByRow},
				least: lessTime(42), why: "Four ranks are few: blocks are still " +
					"large."},
			{says: "between nodes ahead of pdgemm (of the SRUMMA paper), N = 2000",
				chart: 1, of: "srumma", over: []string{"pdgemm"}, least: 1,
				at: labels(far)},
			{says: "the same, N = 512", chart: 3, of: "srumma",
				over: []string{"pdgemm"}, least: 1, at: labels(far), why: wakeUps},
		},
		charts: []chart{
			{title: "SRUMMA, N = 2000, by protocol over " + softRDMA, yLabel: "time",
				kind: overPlaces, places: []string{"rdma-2x1", "rdma-4x1"},
				lines: shaped("2000", byProtocol("srumma-protocols"))},
			products("SRUMMA and pdgemm, N = 2000, OpenBLAS", "srumma", "2000",
				allPlaces),
			products("SRUMMA and pdgemm, N = 1000, OpenBLAS", "srumma", "1000",
				allPlaces),
			products("SRUMMA and pdgemm, N = 512, OpenBLAS", "srumma", "512",
				allPlaces),
			products("SRUMMA and pdgemm, N = 2000, reference BLAS", "srumma-reference",
				"2000", []string{"node-4", "hosts-2x2", "rdma-2x2"}),
			{title: "SRUMMA, N = 2000, OpenBLAS, over " + softRDMA, yLabel: "time",
				kind: overPlaces, places: []string{"rdma-2x1", "rdma-4x1"},
				lines: shaped("2000", append(byProtocol("srumma-rows"),
					under("nic", lineOf(rowByRow, "srumma-rows",
						"srumma/srumma-rows", ""))))},
		}},
	{id: "patterns", title: "Transpose, Jacobi and a task pool",
		caption: "What users write (no figure of a paper)",
		claims: []claim{
			{says: "a transpose by strided puts is ahead of MPI's", of: "armci-put",
				over: []string{"mpi"}, least: 1},
			{says: "a halo by puts is ahead of messages", chart: 1, of: "armci",
				over: []string{"mpi"}, least: 1, at: labels(far), why: wakeUps},
			{says: "a shared counter is ahead of MPI's windows", chart: 2, of: "armci",
				over: []string{"mpi"}, least: 1, why: "More ranks than cores: " +
					"each asks a server that has to be given a core."},
		},
		charts: []chart{
			{title: "Transpose", yLabel: "time", kind: overPlaces, places: allPlaces,
				lines: versions("transpose", "transpose", "", "mpi", "mpi-types",
					"armci-get", "armci-put")},
			{title: "Jacobi with a halo", yLabel: "time", kind: overPlaces,
				places: allPlaces, lines: versions("jacobi", "jacobi", "", "mpi",
					"armci")},
			{title: "Tasks from a shared counter", yLabel: "time", kind: overPlaces,
				places: allPlaces, lines: versions("counter", "counter", "", "mpi",
					"armci")},
		}},
}

// rowByRow is the series of SRUMMA without strided gets.
const rowByRow = "a get for each column"

// byProtocol are the series of an experiment with SRUMMA under the protocols of strided transfers.
func byProtocol(experiment string) []line {
	var all []line
	for _, p := range []struct{ variant, name string }{{"nic", "NIC"}, {"host", "host"},
		{"auto", "chosen by the model"}} {
		all = append(all, under(p.variant, lineOf(p.name, experiment, "srumma/srumma", "")))
	}
	return all
}

// products are a chart of matrix multiplications.
func products(title, experiment, n string, places []string) chart {
	return chart{title: title, yLabel: "time", kind: overPlaces, places: places,
		lines: shaped(n, versions(experiment, "srumma", "", "pdgemm", "srumma",
			"srumma-blocking"))}
}

// overhead is a chart of group overhead by protocol, over RDMA and TCP.
func overhead(title, yLabel, op string) chart {
	c := chart{title: title + ", over RDMA in software by protocol, and TCP", yLabel: yLabel,
		kind: overBytes}
	for _, protocol := range []string{"nic", "host", "push", "auto"} {
		if protocol != "push" || op[len(op)-3:] == "get" { // of gets only
			c.lines = append(c.lines, lineOf(protocol, "overhead-protocols",
				"overhead/"+op+"/"+protocol, "rdma-2x4"))
		}
	}
	c.lines = append(c.lines, lineOf("TCP", "overhead", "overhead/"+op+"/tcp", "hosts-2x1"))
	return c
}

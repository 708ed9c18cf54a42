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
		here: "Agrees: the model's choice is the best of ours at nearly every " +
			"size, and ahead of MPI's vector type over TCP from 128 x 128 on. " +
			"The device in software has no cost for each request that would let " +
			"the host-based way win at small sizes.",
		charts: []chart{
			{title: "Puts of n x n doubles to three nodes over RDMA",
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
		here: "Agrees over TCP: one strided put is 1.5 to 2.2 times faster than a " +
			"put for each row. Over RDMA, where a put for each row does not " +
			"enter Go, 1.04 to 1.6 times, but for 16 x 16, where it takes a " +
			"tenth longer. Packing by the program is ahead over the software " +
			"device, for which every row is a request, if the copy at the " +
			"target, which the program has to make, is free; over TCP it is " +
			"level.",
		charts: onNetworks(chart{title: "Put of n x n doubles", yLabel: "bandwidth",
			rate: true, lines: []line{
				lineOf("ARMCI_PutS", "rows", "rows/put", ""),
				lineOf("n x ARMCI_NbPut", "rows", "rows/put-rows", ""),
				lineOf("copy, send, copy", "rows", "rows/put-packed", "")}})},
	{id: "004-overhead", title: "Host overhead",
		caption: "Overall time spent on computation is slightly higher in the HBNA " +
			"method because the user thread is interrupted (section 6.3)",
		here: "Agrees: the host-based way, which is all that TCP has, costs the " +
			"target's processor 16 to 350 us a patch, and a computing target " +
			"loses 8 to 22 % by it; the NIC-based one next to nothing.",
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
		here: "SRUMMA of N = 2000 takes 0.77 to 0.98 of pdgemm's time everywhere but " +
			"with one rank, with OpenBLAS; of N = 512 0.5 to 0.8 on a node and over " +
			"RDMA, beside MPI over UCX on the same device, and more between hosts. " +
			"With the reference BLAS, where computing is slow, 0.95 to 0.97. The " +
			"protocols differ little: blocks are large.",
		charts: []chart{
			{title: "SRUMMA, N = 2000, over RDMA by protocol", yLabel: "time",
				kind: overPlaces, places: []string{"rdma-2x1", "rdma-4x1"},
				lines: shaped("2000", []line{
					under("nic", lineOf("NIC", "srumma-protocols",
						"srumma/srumma",
						"")), under("host",
						lineOf("host", "srumma-protocols", "srumma/srumma",
							"")),
					under("auto", lineOf("chosen by the model",
						"srumma-protocols",
						"srumma/srumma", ""))})},
			products("SRUMMA and pdgemm, N = 2000, OpenBLAS", "srumma", "2000",
				allPlaces),
			products("SRUMMA and pdgemm, N = 1000, OpenBLAS", "srumma", "1000",
				allPlaces),
			products("SRUMMA and pdgemm, N = 512, OpenBLAS", "srumma", "512",
				allPlaces),
			products("SRUMMA and pdgemm, N = 2000, reference BLAS", "srumma-reference",
				"2000", []string{"node-4", "hosts-2x2", "rdma-2x2"}),
		}},
	{id: "patterns", title: "Transpose, Jacobi and a task pool",
		caption: "What users write (no figure of a paper)",
		here: "Transposing with strided puts is 1.3 to 2 times faster than " +
			"MPI_Alltoall of packed blocks; with gets, too, but level on hosts " +
			"with four ranks. Jacobi takes 4 to 14 % longer than by messages " +
			"between hosts, and over the software device, beside MPI over UCX, " +
			"which polls, 6 % on two nodes of two ranks, 1.4 and 1.6 times as " +
			"long on two and four nodes with one: wake-ups, as in 000-21. The " +
			"task pool takes half to three quarters of the time of MPI's " +
			"windows on two ranks, as long on hosts with four, a third more on " +
			"four pretended nodes.",
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

// products are a chart of matrix multiplications.
func products(title, experiment, n string, places []string) chart {
	return chart{title: title, yLabel: "time", kind: overPlaces, places: places,
		lines: shaped(n, versions(experiment, "srumma", "", "pdgemm", "srumma",
			"srumma-blocking"))}
}

// overhead is a chart of group overhead by protocol, over RDMA and TCP.
func overhead(title, yLabel, op string) chart {
	c := chart{title: title, yLabel: yLabel, kind: overBytes}
	for _, protocol := range []string{"nic", "host", "push", "auto"} {
		if protocol != "push" || op[len(op)-3:] == "get" { // of gets only
			c.lines = append(c.lines, lineOf(protocol, "overhead-protocols",
				"overhead/"+op+"/"+protocol, "rdma-2x4"))
		}
	}
	c.lines = append(c.lines, lineOf("TCP", "overhead", "overhead/"+op+"/tcp", "hosts-2x1"))
	return c
}

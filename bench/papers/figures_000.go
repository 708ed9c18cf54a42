// SPDX-License-Identifier: BSD-3-Clause

// Paper 000: the interface, its microbenchmarks, NAS MG and the sparse product.
package main

// bandwidths are the series of figures 14 to 17 at a place, whose native transfer has a name.
func bandwidths(place, native string) []line {
	return []line{
		lineOf("ARMCI_Put", "transfer", "transfer/put", place),
		lineOf("ARMCI_Get", "transfer", "transfer/get", place),
		lineOf("MPI_Send/MPI_Recv", "transfer", "transfer/mpi", place),
		lineOf(native+", put", "transfer", "transfer/raw-put", place),
		lineOf(native+", get", "transfer", "transfer/raw-get", place),
	}
}

var interface2006 = []paperFigure{
	{id: "000-table1", title: "Latency of put and get",
		caption: "ARMCI Put/Get latency on various platforms",
		paper: "Put and get take 12.8 and 17.8 us on Myrinet, 2.0 and 2.1 on the Cray " +
			"X1, 2.45 and 4.56 on Elan4, 7.4 and 16.0 on InfiniBand.",
		here: "On a node an operation is a few instructions. Over RDMA a get " +
			"costs what raw verbs cost, a third of the way of a message of " +
			"MPI's over UCX on the same device. Over TCP a get takes as long as " +
			"MPI's message there and back (twice its one way), although the " +
			"data server has to be woken.",
		charts: []chart{{title: "Operations on 8 bytes", kind: asTable, places: networks,
			lines: []line{
				lineOf("put, and fence", "latency", "latency/put", ""),
				lineOf("put, complete here", "latency", "latency/put-local", ""),
				lineOf("get", "latency", "latency/get", ""),
				lineOf("MPI, one way", "latency", "latency/mpi-half", ""),
				under("ours", lineOf("MPI_Put and flush over libarmci-mpirma",
					"windows-small", "put+flush", "")),
				under("ours", lineOf("MPI_Get and flush over libarmci-mpirma",
					"windows-small", "get+flush", "")),
				under("messages", lineOf("MPI_Put and flush by messages",
					"windows-small",
					"put+flush", "")),
				under("messages", lineOf("MPI_Get and flush by messages",
					"windows-small",
					"get+flush", ""))}}}},
	{id: "000-14", title: "Bandwidth of put and get, of the device, and of MPI",
		caption: "Bandwidth in ARMCI Put/Get in comparison to raw VAPI Get/Put and MPI " +
			"Send/Recv on Infiniband Cluster.",
		paper: "ARMCI is very close to the native protocol.",
		here: "At 8 to 256 bytes and from 1 MiB on put and get are at the device's " +
			"own speed, as in the paper. In between they are not: the local " +
			"memory of this figure is another place each time, which is copied, " +
			"or registered by a call of the kernel.",
		charts: []chart{{title: "Contiguous transfers over RDMA", yLabel: "bandwidth",
			rate: true, lines: bandwidths("rdma-2x1", "raw verbs")}}},
	{id: "000-15", title: "The same over TCP",
		caption: "Bandwidth in ARMCI Put/Get in comparison to raw GM Get/Put and MPI " +
			"Send/Recv on Myrinet cluster. (Figure 16: on Elan4.)",
		paper: "Put has little overhead over the native put.",
		here: "Put and get are at 0.6 to 1.3 of the raw socket. Gets take as long " +
			"as MPI's message and its answer, but at 256 bytes, and less above; " +
			"puts, which wait for an answer, are behind MPI's one way below 64 " +
			"KiB, and ahead from 1 MiB on.",
		charts: []chart{{title: "Contiguous transfers over TCP", yLabel: "bandwidth",
			rate: true, lines: bandwidths("hosts-2x1", "raw socket")}}},
	{id: "000-17", title: "The same in shared memory",
		caption: "ARMCI Get in comparison to MPI Send/Recv on Cray X1.",
		paper:   "Put and get perform as the machine's memory copy does.",
		here:    "Agrees: put and get are memcpy, and MPI copies twice.",
		charts: []chart{{title: "Contiguous transfers within a node", yLabel: "bandwidth",
			rate: true, lines: bandwidths("node-2", "memcpy")}}},
	{id: "000-18", title: "A strided get and a get for each row",
		caption: "Performance of ARMCI noncontiguous data transfer.",
		paper: "One strided get of n x n doubles takes less time than n nonblocking " +
			"gets of a row and their waits, on InfiniBand and on Myrinet.",
		here: "Agrees: the strided call wins by 1.4 to 2.1 times over TCP, and by " +
			"up to 1.8 times over RDMA, where a nonblocking get of a row takes " +
			"a tenth of a microsecond; there it is level at 512 x 512.",
		charts: onNetworks(chart{title: "Get of n x n doubles", yLabel: "bandwidth",
			rate: true, lines: []line{
				lineOf("ARMCI_GetS", "rows", "rows/get", ""),
				lineOf("n x ARMCI_NbGet", "rows", "rows/get-rows", "")}})},
	{id: "000-19", title: "Overlap by size",
		caption: "Percentage computation overlap for increasing message sizes for MPI " +
			"and ARMCI direct (zero-copy) and buffered-pipelined protocols.",
		paper: "Direct: more than 99 %. Buffered: about 90 %, less for large messages. " +
			"MPI: as good up to 16 KiB, then hardly any.",
		here: "Agrees in part over TCP: of a get of 64 KiB and more 61 to 68 % is " +
			"hidden, of MPI's nonblocking receive 45 % at 16 KiB and 6 to 15 % " +
			"above, since its rendezvous needs a call. Not over RDMA: the " +
			"software device copies when a request is posted, so nothing is left " +
			"to overlap; real devices were not available.",
		charts: []chart{
			{title: "Overlap of a nonblocking get over RDMA",
				yLabel: "part of the transfer", lines: []line{
					under("direct", lineOf("ARMCI direct", "overlap-protocols",
						"overlap-work/get", "rdma-2x1")),
					under("buffered",
						lineOf("ARMCI buffered", "overlap-protocols",
							"overlap-work/get", "rdma-2x1")),
					under("direct", lineOf("MPI", "overlap-protocols",
						"overlap-work/mpi", "rdma-2x1"))}},
			{title: "Overlap of a nonblocking get over TCP",
				yLabel: "part of the transfer", lines: []line{
					lineOf("ARMCI", "overlap", "overlap-work/get", "hosts-2x1"),
					lineOf("MPI", "overlap", "overlap-work/mpi", "hosts-2x1")}},
			{title: "Get of 64 KiB over RDMA, with work beside it",
				yLabel: "time of both", xLabel: "work, us", kind: overNumber,
				lines: []line{
					under("direct", lineOf("ARMCI direct", "overlap-protocols",
						"overlap-total/get", "rdma-2x1")),
					under("buffered",
						lineOf("ARMCI buffered", "overlap-protocols",
							"overlap-total/get", "rdma-2x1")),
					under("direct", lineOf("MPI", "overlap-protocols",
						"overlap-total/mpi", "rdma-2x1"))}},
			{title: "Get of 64 KiB over TCP, with work beside it",
				yLabel: "time of both", xLabel: "work, us", kind: overNumber,
				lines: []line{
					lineOf("ARMCI", "overlap", "overlap-total/get",
						"hosts-2x1"),
					lineOf("MPI", "overlap", "overlap-total/mpi",
						"hosts-2x1")}},
		}},
	{id: "000-20", title: "Aggregation",
		caption: "Performance of aggregate data transfer over regular data transfer.",
		paper: "1000 doubles: aggregated calls take much less time than nonblocking " +
			"ones, and hardly more than one vector operation.",
		here: "Over RDMA aggregated calls take a fifth of the time of single ones, " +
			"vector calls a thirteenth; over TCP 1.7 to 2, and 2.4 to 3 times " +
			"less, since single ones are collected by themselves while an answer " +
			"is outstanding. MPI packs on both sides, which know the indices: a " +
			"message without addresses is shorter.",
		charts: []chart{
			aggregation("put", "1000 puts of a double"),
			aggregation("get", "1000 gets of a double")}},
	{id: "000-3.6", title: "Collective operations",
		caption: "In addition to the RMA interfaces, ARMCI includes a small set of " +
			"collective message-passing operations (section 3.6)",
		paper: "On some platforms they are competitive with MPI's.",
		here: "Agrees: on four hosts that share two cores broadcasts take 0.5 to " +
			"1.2 times MPI's, sums 0.5 to 1.2 times, a barrier as long.",
		charts: []chart{
			{title: "Broadcast on 4 hosts over TCP", yLabel: "time",
				lines: beside("collectives-bcast", "armci_msg_bcast", "MPI_Bcast")},
			{title: "Sum on 4 hosts over TCP", yLabel: "time",
				lines: beside("collectives-sum", "armci_msg_dgop",
					"MPI_Allreduce")},
		}},
	{id: "000-21", title: "NAS MG, class A",
		caption: "Execution times of the Class A (left), B (Right) of the NAS MG " +
			"benchmark using MPI, ARMCI on the InfiniBand cluster.",
		paper: "ARMCI takes 14 to 25 % less time in class A, 14 to 27 % in class B.",
		here: "Does not agree: messages are ahead by 3 to 4 % between hosts, and level " +
			"on a node. Over the software device ARMCI is level with MPI over UCX on " +
			"the same device with two ranks, and 1 to 6 % ahead with four. What is " +
			"left are wake-ups of Go's monitor, of the server and of the progress " +
			"thread on cores that compute.",
		charts: []chart{
			{title: "NAS MG, class A", yLabel: "time", kind: overPlaces, log: true,
				places: allPlaces, lines: versions("mg-A", "mg", "", "mpi",
					"armci")},
			{title: "NAS MG, class A: communication of each rank, 4 hosts over TCP",
				yLabel: "time", kind: overRanks,
				lines: at("hosts-4x1", versions("mg-A", "mg", ":comm", "mpi",
					"armci"))},
			{title: "NAS MG, class A: time that ARMCI saves", kind: asTable,
				places: allPlaces, gain: "mpi", lines: versions("mg-A", "mg", "",
					"mpi", "armci")},
		}},
	{id: "000-22", title: "NAS MG, a smaller class",
		caption: "Execution times (presented on the logarithmic scale) of the Class A, " +
			"B, and C of the NAS MG benchmark using MPI, ARMCI on the GM cluster.",
		paper: "ARMCI takes 28 to 46 % less time in class A, 30 to 45 % in B, 30 to 40 " +
			"% in C.",
		here: "Does not agree between hosts, where messages are ahead by 5 to 35 %, " +
			"most on four hosts: small grids make more exchanges per second, so each " +
			"wake-up counts more. On a node ARMCI is level. Over the software device " +
			"it takes 5 % less time than MPI over UCX on the same device with two " +
			"ranks, 21 % less on two nodes with four, and 14 % more on four nodes, " +
			"which share two cores.",
		charts: []chart{
			{title: "NAS MG, class W", yLabel: "time", kind: overPlaces, log: true,
				places: allPlaces, lines: versions("mg-W", "mg", "", "mpi",
					"armci")},
			{title: "NAS MG, class W: time that ARMCI saves", kind: asTable,
				places: allPlaces, gain: "mpi", lines: versions("mg-W", "mg", "",
					"mpi", "armci")},
		}},
	{id: "000-23", title: "Sparse matrix-vector product",
		caption: "(a) Harwell-Boeing Sparse Matrix - a finite element problem. (b) " +
			"Sparse matrix-vector multiplication benchmark results.",
		paper: "Aggregation significantly outperforms regular gets in all cases, and " +
			"scales well.",
		here: "Agrees on aggregation over TCP: 1.9 to 2.2 times faster than single " +
			"gets (the bar was 1.3). Over RDMA single gets, which do not enter " +
			"Go, are 8 to 16 % ahead of aggregated ones. MPI's version, which " +
			"knows both sides' indices and sends no addresses, is ahead of gets " +
			"everywhere between nodes; owners that put (`armci-put`) are near " +
			"it.",
		charts: []chart{
			{title: "Products with a matrix of av41092's size", yLabel: "time",
				kind: overPlaces, places: far,
				lines: versions("sparse", "sparse", "", "mpi", "armci",
					"armci-aggregate", "armci-vector", "armci-put")},
			{title: "Time that is saved beside regular gets", kind: asTable,
				places: far, gain: "armci",
				lines: versions("sparse", "sparse", "", "mpi", "armci",
					"armci-aggregate", "armci-vector", "armci-put")},
			{title: "Products within a node", yLabel: "time", kind: overPlaces,
				places: nodePlaces,
				lines: versions("sparse", "sparse", "", "mpi", "armci",
					"armci-aggregate", "armci-vector", "armci-put")},
		}},
	{id: "000-24", title: "Sparse matrix-vector product: communication of each process",
		caption: "Time taken for communication on each processor (32 processors): " +
			"multiple small requests (left bars), and aggregated ones (right bars).",
		paper: "Communication takes much less time when requests are aggregated, and " +
			"differs less between processes.",
		here: "Agrees over TCP: aggregated communication takes less time. Over " +
			"RDMA single gets take no longer now. The ranks differ little here, " +
			"since rows are balanced.",
		charts: []chart{
			{title: "Communication of each rank, 4 hosts over TCP", yLabel: "time",
				kind: overRanks,
				lines: at("hosts-4x1", versions("sparse", "sparse", ":comm",
					"armci", "armci-aggregate", "mpi"))},
			{title: "Communication of each rank, 4 nodes over RDMA", yLabel: "time",
				kind: overRanks,
				lines: at("rdma-4x1", versions("sparse", "sparse", ":comm", "armci",
					"armci-aggregate", "mpi"))},
		}},
}

// aggregation is figure 20 for one of put and get.
func aggregation(op, title string) chart {
	c := chart{title: title, yLabel: "time", kind: overPlaces, log: true, places: networks}
	for _, way := range []struct{ name, op string }{{"nonblocking", op},
		{"aggregated", op + "-aggregate"}, {"vector", op + "-vector"},
		{"MPI, indexed type", "mpi"}} {
		c.lines = append(c.lines, lineOf(way.name, "aggregation", "aggregation/"+way.op,
			""))
	}
	return c
}

// beside are a collective operation and MPI's.
func beside(op, ours, mpi string) []line {
	return []line{lineOf(ours, "collective", op+"/armci", "hosts-4x1"),
		lineOf(mpi, "collective", op+"/mpi", "hosts-4x1")}
}

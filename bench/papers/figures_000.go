// SPDX-License-Identifier: BSD-3-Clause

// Paper 000: the interface, its microbenchmarks, NAS MG and the sparse product.
package main

import (
	"fmt"
	"slices"
)

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

// bandwidthClaims are those of figures 14 to 17.
func bandwidthClaims(native, why string) []claim {
	return []claim{
		{says: "put is very close to the native protocol", of: "ARMCI_Put",
			over: []string{native + ", put"}, least: 0.9, why: why},
		{says: "get is, too", of: "ARMCI_Get", over: []string{native + ", get"},
			least: 0.9, why: why},
		{says: "get is ahead of messages", of: "ARMCI_Get",
			over: []string{"MPI_Send/MPI_Recv"}, least: 1, why: why},
	}
}

// latencies are what the paper's table 1 has of put and get, in us.
func latencies(machine string, put, get float64) []quote {
	name := "paper: " + machine
	return []quote{
		{name: name, row: "put, complete here", low: put * 1e3, high: put * 1e3},
		{name: name, row: "get", low: get * 1e3, high: get * 1e3}}
}

// mgCharts are the times of NAS MG in a class, and what ARMCI saves of them beside what the paper
// says of class A or B.
func mgCharts(class, of string) []chart {
	infiniband, myrinet := quote{low: 14, high: 25}, quote{low: 28, high: 46}
	if of == "B" {
		infiniband, myrinet = quote{low: 14, high: 27}, quote{low: 30, high: 45}
	}
	infiniband.name = "paper: class " + of + ", InfiniBand"
	myrinet.name = "paper: class " + of + ", Myrinet"
	times := versions("mg-"+class, "mg", "", "mpi", "armci")
	return []chart{
		{title: "NAS MG, class " + class, yLabel: "time", kind: overPlaces,
			places: allPlaces, lines: times},
		{title: "NAS MG, class " + class + ": time that ARMCI saves",
			yLabel: "less time than by messages", kind: overPlaces, places: allPlaces,
			gain: "mpi", lines: times, quotes: []quote{infiniband, myrinet}},
	}
}

// mgClaims are the claims of a class of NAS MG: at least 14 % less time over InfiniBand, and so
// many per cent over Myrinet.
func mgClaims(myrinet int, whyOverTCP string) []claim {
	return []claim{
		{says: "14 % less time than by messages, over InfiniBand", of: "armci",
			over: []string{"mpi"}, least: lessTime(14),
			at: labels(rdmaPlaces), why: wakeUps},
		{says: fmt.Sprintf("%d %% less time than by messages, over Myrinet; here over TCP",
			myrinet),
			of: "armci", over: []string{"mpi"}, least: lessTime(float64(myrinet)),
			at: labels(tcpPlaces), why: whyOverTCP},
	}
}

// mgAnywhere is what the classes that the paper measured between nodes claim besides.
var mgAnywhere = claim{says: "less time than by messages, anywhere between nodes", of: "armci",
	over: []string{"mpi"}, least: 1, at: labels(far), why: wakeUps}

// overlapChart is a chart of a get with work beside it, over a network.
func overlapChart(c chart, op, network string) chart {
	if network == "rdma" {
		c.title += " over " + softRDMA
		direct := func(name, way string) line {
			return under("direct", lineOf(name, "overlap-protocols", op+way,
				"rdma-2x1"))
		}
		buffered := direct("ARMCI buffered", "/get")
		buffered.variant = "buffered"
		c.lines = []line{direct("ARMCI direct", "/get"), buffered, direct("MPI", "/mpi")}
	} else {
		c.title += " over TCP"
		c.lines = []line{lineOf("ARMCI", "overlap", op+"/get", "hosts-2x1"),
			lineOf("MPI", "overlap", op+"/mpi", "hosts-2x1")}
	}
	if c.yLabel == "hidden" {
		c.quotes = []quote{lineAt("paper: direct", 99), lineAt("paper: buffered", 90)}
	}
	return c
}

// overlapCharts are what is hidden by size, of 64 KiB what is hidden by the work, and the time of
// both, each over both networks.
func overlapCharts() []chart {
	var all []chart
	for _, c := range []struct {
		chart
		op string
	}{
		{chart{title: "Hidden of a get with as much work beside it", yLabel: "hidden"},
			"overlap-part"},
		{chart{title: "Hidden of a get of 64 KiB", yLabel: "hidden", xLabel: "work, us",
			kind: overNumber, hidden: 1}, "overlap-total"},
		{chart{title: "Get of 64 KiB, with work beside it", yLabel: "time of both",
			xLabel: "work, us", kind: overNumber}, "overlap-total"},
	} {
		all = append(all, overlapChart(c.chart, c.op, "rdma"),
			overlapChart(c.chart, c.op, "hosts"))
	}
	return all
}

var interface2006 = []paperFigure{
	{id: "000-table1", title: "Latency of put and get",
		caption: "ARMCI Put/Get latency on various platforms",
		paper: "Put and get take 12.8 and 17.8 us on Myrinet, 2.0 and 2.1 on the Cray " +
			"X1, 2.45 and 4.56 on Elan4, 7.4 and 16.0 on InfiniBand.",
		claims: []claim{
			{says: "a put costs no more than a get", of: "put, and fence",
				over: []string{"get"}, least: 1,
				why: "On a node both are few instructions, and a fence is more."},
			{says: "a put is complete at its caller sooner than a get",
				of: "put, complete here", over: []string{"get"}, least: 1,
				why: "On a node both are few instructions."},
		},
		charts: []chart{{title: "Operations on 8 bytes", kind: asTable, places: networks,
			quotes: slices.Concat(latencies("Myrinet", 12.8, 17.8),
				latencies("Cray X1", 2.0, 2.1), latencies("Elan4", 2.45, 4.56),
				latencies("InfiniBand", 7.4, 16.0)),
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
		claims: bandwidthClaims("raw verbs",
			"The local memory of this figure is another place "+
				"each time, which is copied, or registered by a call of the "+
				"kernel."),
		charts: []chart{{title: "Contiguous transfers over " + softRDMA,
			yLabel: "bandwidth",
			rate:   true, lines: bandwidths("rdma-2x1", "raw verbs")}}},
	{id: "000-15", title: "The same over TCP",
		caption: "Bandwidth in ARMCI Put/Get in comparison to raw GM Get/Put and MPI " +
			"Send/Recv on Myrinet cluster. (Figure 16: on Elan4.)",
		paper: "Put has little overhead over the native put.",
		claims: bandwidthClaims("raw socket",
			"The data server has to be woken, and a put waits "+
				"for its answer; in the raw program both sides look."),
		charts: []chart{{title: "Contiguous transfers over TCP", yLabel: "bandwidth",
			rate: true, lines: bandwidths("hosts-2x1", "raw socket")}}},
	{id: "000-17", title: "The same in shared memory",
		caption: "ARMCI Get in comparison to MPI Send/Recv on Cray X1.",
		paper:   "Put and get perform as the machine's memory copy does.",
		claims:  bandwidthClaims("memcpy", ""),
		charts: []chart{{title: "Contiguous transfers within a node", yLabel: "bandwidth",
			rate: true, lines: bandwidths("node-2", "memcpy")}}},
	{id: "000-18", title: "A strided get and a get for each row",
		caption: "Performance of ARMCI noncontiguous data transfer.",
		paper: "One strided get of n x n doubles takes less time than n nonblocking " +
			"gets of a row and their waits, on InfiniBand and on Myrinet.",
		claims: []claim{
			{says: "over RDMA one strided get is ahead of a get for each row",
				of: "ARMCI_GetS", over: []string{"n x ARMCI_NbGet"}, least: 1,
				why: rowIsRequest},
			{says: "over TCP one strided get is ahead of a get for each row", chart: 1,
				of: "ARMCI_GetS", over: []string{"n x ARMCI_NbGet"}, least: 1},
		},
		charts: onNetworks(chart{title: "Get of n x n doubles", yLabel: "bandwidth",
			rate: true, lines: []line{
				lineOf("ARMCI_GetS", "rows", "rows/get", ""),
				lineOf("n x ARMCI_NbGet", "rows", "rows/get-rows", "")}})},
	{id: "000-19", title: "Overlap of a get with work",
		caption: "Percentage computation overlap for increasing message sizes for MPI " +
			"and ARMCI direct (zero-copy) and buffered-pipelined protocols.",
		paper: "Direct: more than 99 %. Buffered: about 90 %, less for large messages. " +
			"MPI: as good up to 16 KiB, then hardly any. Here: what part of the " +
			"shorter of get and work disappears when they are together, by the time " +
			"of both together and of each alone.",
		claims: []claim{
			{says: "over RDMA more than 99 % by the direct protocol",
				of:    "ARMCI direct",
				share: true, least: 99, why: copiesWhenPosted},
			{says: "the same, 64 KiB by the work", chart: 2, of: "ARMCI direct",
				share: true, least: 99, why: copiesWhenPosted},
			{says: "over RDMA about 90 % by the buffered protocol",
				of: "ARMCI buffered", share: true, least: 90,
				why: copiesWhenPosted},
			{says: "the same, 64 KiB by the work", chart: 2, of: "ARMCI buffered",
				share: true, least: 90, why: copiesWhenPosted},
			{says: "over TCP about 90 %", chart: 1, of: "ARMCI", share: true,
				least: 90, why: kernelCopies},
			{says: "the same, 64 KiB by the work", chart: 3, of: "ARMCI", share: true,
				least: 90, why: kernelCopies},
			{says: "over TCP more than MPI, 64 KiB by the work", chart: 3, of: "ARMCI",
				over: []string{"MPI"}, least: 1, why: kernelCopies},
		},
		charts: overlapCharts()},
	{id: "000-20", title: "Aggregation",
		caption: "Performance of aggregate data transfer over regular data transfer.",
		paper: "1000 doubles: aggregated calls take much less time than nonblocking " +
			"ones, and hardly more than one vector operation.",
		claims: []claim{
			{says: "aggregated puts take much less time than single ones",
				of: "aggregated", over: []string{"nonblocking"}, least: 1.5,
				at: farLabels, why: collected},
			{says: "and hardly more than one vector put", of: "aggregated",
				over: []string{"vector"}, least: 0.9, at: farLabels},
			{says: "aggregated gets take much less time than single ones", chart: 1,
				of: "aggregated", over: []string{"nonblocking"}, least: 1.5,
				at: farLabels, why: collected},
			{says: "and hardly more than one vector get", chart: 1, of: "aggregated",
				over: []string{"vector"}, least: 0.9, at: farLabels},
		},
		charts: []chart{
			aggregation("put", "1000 puts of a double"),
			aggregation("get", "1000 gets of a double")}},
	{id: "000-3.6", title: "Collective operations",
		caption: "In addition to the RMA interfaces, ARMCI includes a small set of " +
			"collective message-passing operations (section 3.6)",
		paper: "On some platforms they are competitive with MPI's.",
		claims: []claim{
			{says: "broadcasts are competitive with MPI's", of: "armci_msg_bcast",
				over: []string{"MPI_Bcast"}, least: 0.8, why: fourOnTwo},
			{says: "sums are competitive with MPI's", chart: 1, of: "armci_msg_dgop",
				over: []string{"MPI_Allreduce"}, least: 0.8, why: fourOnTwo},
		},
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
		paper:  "ARMCI takes 14 to 25 % less time in class A, 14 to 27 % in class B.",
		claims: append(mgClaims(28, wakeUps), mgAnywhere),
		charts: append(mgCharts("A", "A"),
			chart{title: "NAS MG, class A: communication of each rank, 4 hosts over " +
				"TCP",
				yLabel: "time", kind: overRanks,
				lines: at("hosts-4x1", versions("mg-A", "mg", ":comm", "mpi",
					"armci"))})},
	{id: "000-21B", title: "NAS MG, class B",
		caption: "Execution times of the Class A (left), B (Right) of the NAS MG " +
			"benchmark using MPI, ARMCI on the InfiniBand cluster.",
		paper: "ARMCI takes 14 to 27 % less time over InfiniBand, 30 to 45 % over " +
			"Myrinet.",
		claims: append(mgClaims(30, wakeUps), mgAnywhere),
		charts: mgCharts("B", "B")},
	{id: "000-22", title: "NAS MG, a smaller class",
		caption: "Execution times (presented on the logarithmic scale) of the Class A, " +
			"B, and C of the NAS MG benchmark using MPI, ARMCI on the GM cluster.",
		paper: "ARMCI takes 28 to 46 % less time in class A, 30 to 45 % in B, 30 to 40 " +
			"% in C.",
		claims: mgClaims(28, "Small grids make more exchanges per second, so each wake-up "+
			"counts more."),
		charts: mgCharts("W", "A")},
	{id: "000-23", title: "Sparse matrix-vector product",
		caption: "(a) Harwell-Boeing Sparse Matrix - a finite element problem. (b) " +
			"Sparse matrix-vector multiplication benchmark results.",
		paper: "Aggregation significantly outperforms regular gets in all cases, and " +
			"scales well.",
		claims: []claim{
			{says: "aggregation outperforms regular gets in all cases",
				of: "armci-aggregate", over: []string{"armci"}, least: 1.3,
				why: "Over RDMA single gets do not enter Go, aggregated ones do."},
			{says: "and scales from two hosts to four, over TCP",
				of: "armci-aggregate", base: "tcp 2x1", least: 1.3,
				at: []string{"tcp 4x1"}, why: "All hosts share two cores."},
			{says: "and scales from two nodes to four, over RDMA",
				of: "armci-aggregate", base: "rdma 2x1", least: 1.3,
				at: []string{"rdma 4x1"}, why: "All nodes share two cores."},
		},
		charts: []chart{
			{title: "Products with a matrix of av41092's size", yLabel: "time",
				kind: overPlaces, places: far,
				lines: versions("sparse", "sparse", "", "mpi", "armci",
					"armci-aggregate", "armci-vector", "armci-put")},
			{title: "Products: time that is saved beside regular gets",
				yLabel: "less time", kind: overPlaces, places: far, gain: "armci",
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
		claims: []claim{
			{says: "aggregated communication takes much less time, over TCP",
				of: "armci-aggregate", over: []string{"armci"}, least: 1.3},
			{says: "and differs less between processes, over TCP",
				of: "armci-aggregate", over: []string{"armci"}, even: true,
				least: 1, why: "Rows are balanced here."},
			{says: "aggregated communication takes much less time, over RDMA",
				chart: 1, of: "armci-aggregate", over: []string{"armci"},
				least: 1.3, why: "Single gets do not enter Go, aggregated ones " +
					"do."},
			{says: "and differs less between processes, over RDMA", chart: 1,
				of: "armci-aggregate", over: []string{"armci"}, even: true,
				least: 1, why: "Rows are balanced here."},
		},
		charts: []chart{
			{title: "Communication of each rank, 4 hosts over TCP", yLabel: "time",
				kind: overRanks,
				lines: at("hosts-4x1", versions("sparse", "sparse", ":comm",
					"armci", "armci-aggregate", "mpi"))},
			{title: "Communication of each rank, 4 nodes over " + softRDMA,
				yLabel: "time",
				kind:   overRanks,
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

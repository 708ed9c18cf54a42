// SPDX-License-Identifier: BSD-3-Clause

// Paper 002: get by scheme and by network, LU and NWChem.
package main

// schemes are those of paper 001, too.
var schemes = []line{
	lineOf("zero copy", "get-schemes", "get-schemes/zerocopy", "rdma-2x6"),
	lineOf("baseline", "get-schemes", "get-schemes/baseline", "rdma-2x6"),
	lineOf("pipelined", "get-schemes", "get-schemes/buffered", "rdma-2x6"),
}

var myrinet2000 = []paperFigure{
	{id: "002-3", title: "Get by scheme, and the models",
		caption: "Performance of three implementations of the ARMCI get operation",
		paper: "Baseline, pipelined, and pipelined with overlapped registration: up to " +
			"73.5 MB/s, 30 MB/s more than the baseline. The models predict 43.0, " +
			"51.7 and 60.5 MB/s.",
		here: "Agrees in part: the baseline is last, and what the library chooses is " +
			"ahead of all. Registration that is overlapped gains nothing, since this " +
			"device copies when a request is posted. The model of one copy predicts " +
			"the baseline within a fifth from 16 KiB on; that of two copies is too " +
			"slow, since the target's memory is registered once and read in place.",
		charts: []chart{
			{title: "Get by scheme over RDMA", yLabel: "bandwidth", rate: true,
				lines: append(schemes[1:3:3],
					lineOf("the same, overlapped", "get-schemes",
						"get-schemes/overlap",
						"rdma-2x6"),
					lineOf("registered each time", "get-schemes",
						"get-schemes/register", "rdma-2x6"),
					lineOf("chosen", "get-schemes", "get-schemes/auto",
						"rdma-2x6"))},
			{title: "What the paper's models make of the rates measured here, and " +
				"the scheme", yLabel: "bandwidth", rate: true, lines: []line{
				lineOf("baseline", "get-schemes", "get-schemes/baseline",
					"rdma-2x6"),
				lineOf("model: two copies", "get-schemes",
					"get-schemes/model-baseline", "rdma-2x6"),
				lineOf("model: one copy", "get-schemes",
					"get-schemes/model-baseline-here", "rdma-2x6"),
				lineOf("registration", "get-schemes", "get-schemes/register",
					"rdma-2x6"),
				lineOf("model: one registration", "get-schemes",
					"get-schemes/model-register-here", "rdma-2x6"),
				lineOf("overlapped", "get-schemes", "get-schemes/overlap",
					"rdma-2x6"),
				lineOf("model: overlapped", "get-schemes",
					"get-schemes/model-overlap", "rdma-2x6")}},
		}},
	{id: "002-4", title: "Get by transport",
		caption: "Performance of the ARMCI get operation using Myrinet and Ethernet",
		paper:   "Get over GM is ahead of TCP/IP on Myrinet and on Ethernet.",
		here:    "Agrees: the closer the transport, the faster, at every size.",
		charts: []chart{{title: "Get by transport", yLabel: "bandwidth", rate: true,
			lines: []line{
				lineOf("shared memory", "transfer", "transfer/get", "node-2"),
				lineOf("RDMA", "transfer", "transfer/get", "rdma-2x1"),
				lineOf("TCP", "transfer", "transfer/get", "hosts-2x1")}}}},
	{id: "002-lu", title: "Blocked LU",
		caption: "SPLASH-2 LU, matrix size of 3072 and block size of 32, block cyclic " +
			"and block distributions (section 4, application study)",
		paper: "On several nodes the block distribution is better; GM is always better " +
			"than IP, which is poor with the block cyclic distribution.",
		here: "Agrees in part: with blocks one-sided gets are ahead of messages by 8 to " +
			"15 % over RDMA, beside MPI over UCX on the same device, by 21 % on a " +
			"node with four ranks, by 3 to 6 % on hosts with four, 5 % behind on two " +
			"hosts. With the cyclic distribution they are ahead by 2 to 14 % on a " +
			"node and by 2 to 4 % over RDMA, 6 to 17 % behind over TCP.",
		charts: []chart{
			{title: "LU of 3072 x 3072, blocks of 32", yLabel: "time", kind: overPlaces,
				places: allPlaces,
				lines: versions("lu", "lu", "", "mpi", "mpi-block", "armci-cyclic",
					"armci-cyclic-nb", "armci-block", "armci-block-nb")},
			{title: "LU: communication of each rank, 4 hosts over TCP", yLabel: "time",
				kind: overRanks,
				lines: at("hosts-4x1", versions("lu", "lu", ":comm", "mpi",
					"mpi-block", "armci-cyclic", "armci-block"))},
		}},
	{id: "002-5", title: "NWChem, SiOSi3",
		caption: "Scaling of NWChem, DFT SiOSi3, from 1 to 16 processors",
		paper: "The program scales well from 1 to 16 processors; TCP over Myrinet is " +
			"much slower than over Ethernet.",
		here: "Agrees: the program scales from one rank to two and over hosts; 2x1 " +
			"hosts over TCP take 1.17 times one node's two ranks (bar 1.3), and " +
			"0.45 of ARMCI-MPI's time there, in one start. One rank alone takes " +
			"far longer than two with either library: NWChem chooses another " +
			"algorithm there.",
		charts: []chart{
			{title: "NWChem, dft_siosi3", yLabel: "time", kind: overPlaces,
				places: []string{"node-1", "node-2", "node-4", "hosts-2x1",
					"hosts-2x2"}, lines: []line{
					{name: "libarmci", experiment: "nwchem",
						op: "nwchem/libarmci"},
					{name: "ARMCI-MPI", experiment: "nwchem-armci-mpi",
						op: "nwchem/armci-mpi"},
					{name: "ARMCI-MPI, osc/pt2pt",
						experiment: "nwchem-armci-mpi-hosts",
						op:         "nwchem/armci-mpi"}}},
			{title: "NWChem, dft_he2+ over RDMA", kind: asTable,
				places: []string{"rdma-2x1"}, lines: []line{
					{name: "libarmci", experiment: "nwchem-rdma",
						op: "nwchem/libarmci"}}},
		}},
}

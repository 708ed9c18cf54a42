// SPDX-License-Identifier: BSD-3-Clause

// The table of settings: one row per variable that this library honours.
// It must hold data only; parsing lives in parse.go, former names in former.go,
// names of other ARMCI implementations in foreign.go.

package config

// Kind says how the value of a setting is written.
type Kind int

// The kinds of settings. KindAny is never parsed: it is what variables of
// other implementations have, which are accepted without effect.
const (
	KindBool     Kind = iota // y n yes no 1 0 true false on off
	KindInt                  // whole number, not negative
	KindSize                 // bytes: 4096, 64k, 1m, 2g, 16t (powers of 1024)
	KindDuration             // 5ms, 2s, 1m30s
	KindString               // any text
	KindChoice               // one of Row.Choices
	KindAddress              // virtual address, hexadecimal: 0x400000000000
	KindAny                  // not parsed
)

// Class is the kind of reader that a setting is for.
type Class int

// The classes of settings.
const (
	ClassUser   Class = iota // set by users
	ClassExpert              // for tests and measurements: users are not expected to need it
	ClassJob                 // set by armcirun for the ranks it starts, never by hand
	// former name of a setting: still works, with a warning (former.go)
	ClassFormer
	ClassForeign // of another ARMCI implementation: accepted, no effect
)

// Row describes one setting.
type Row struct {
	Name    string
	Kind    Kind
	Default string // as it would be written in the environment; "" is unset
	Unit    string // of the value; "" where there is none
	Doc     string // one line
	Choices []string
	Class   Class
	// Least and Most bound a number, as they would be written in the environment; "" is no
	// bound.
	Least, Most string
	// Auto is what the default "auto" stands for on each network, which then must be named by
	// For to read the setting.
	Auto map[string]string
	// Former names by network: they set the setting for that network alone.
	Former map[string]string
}

var table = []Row{
	{Name: "ARMCI_VERBOSE", Kind: KindBool, Default: "n",
		Doc: "print a one-line summary at init, and messages of level info"},
	{Name: "ARMCI_ERRORS", Kind: KindChoice, Default: "auto",
		Choices: []string{"auto", "return", "abort"},
		Doc: "what a wrong argument does: return the documented code, or abort the job; " +
			"auto is return, and abort under the ARMCI-MPI ABI"},
	{Name: "ARMCI_FASTPATH", Kind: KindBool, Class: ClassExpert, Default: "y",
		Doc: "serve plain calls in C without entering Go"},
	{Name: "ARMCI_STATS", Kind: KindBool, Default: "n",
		Doc: "count calls, bytes and time by operation, size and node, and print tables " +
			"at finalize; armci_info -s shows them before"},
	{Name: "ARMCI_TRACE", Kind: KindString, Default: "n",
		Doc: "FILE = write begin and end of every call to FILE, in Chrome's trace format " +
			"(Perfetto); y = print one line per call, " +
			"which switches the fast path off"},
	{Name: "ARMCI_TRACE_LIMIT", Kind: KindSize, Class: ClassExpert, Least: "68k", Default: "1g",
		Unit: "bytes",
		Doc:  "most bytes that a rank writes to its file of ARMCI_TRACE"},
	{Name: "ARMCI_BACKTRACE", Kind: KindBool, Default: "y",
		Doc: "report a crash inside the library with rank, host, and the C and Go " +
			"functions that led to it"},
	{Name: "ARMCI_SPIN", Kind: KindInt, Class: ClassExpert, Most: "1000000000", Default: "0",
		Unit: "polls",
		Doc: "how often a waiter on a node looks before it yields its core, for tests; 0 " +
			"= for as long as a wake-up costs here, " +
			"hardly at all if ranks outnumber cores"},
	{Name: "ARMCI_REPORTER", Kind: KindChoice, Class: ClassExpert, Default: "auto",
		Choices: []string{"auto", "y", "n"},
		Doc: "keep a small process on each node that names a dead rank when the launcher " +
			"ends all others before one can; " +
			"auto is y under MPICH's mpiexec"},
	{Name: "ARMCI_NODE", Kind: KindString,
		Doc: "pretended node name: ranks with different names behave as if on different " +
			"hosts"},
	{Name: "ARMCI_ALONE", Kind: KindBool, Class: ClassExpert, Default: "n",
		Doc: "y = the variables of a launcher say nothing about this process: it is a " +
			"job of one rank, or of its MPI's processes; " +
			"under armcirun, MPI may have one process in each rank"},
	{Name: "ARMCI_TRANSPORT", Kind: KindChoice, Default: "auto",
		Choices: []string{"auto", "rdma", "ofi", "tcp"},
		Doc: "transport between nodes: rdma, ofi (libfabric), tcp; auto is the first of " +
			"these that every rank can use"},
	{Name: "ARMCI_TIMEOUT", Kind: KindDuration, Least: "100ms", Default: "10s",
		Former: formerly("TIMEOUT"),
		Doc: "time after which a node that does not answer is given up, and the job with " +
			"it"},
	{Name: "ARMCI_POLL", Kind: KindDuration, Most: "1m", Default: "auto",
		Auto:   map[string]string{"tcp": "20us", "rdma": "200us", "ofi": "200us"},
		Former: formerly("POLL"),
		Doc: "longest time for which a data server polls for the next request before it " +
			"sleeps; auto = 20us over TCP, 200us " +
			"over RDMA and libfabric, where it polls that long only if requests come " +
			"that soon after each other"},
	{Name: "ARMCI_EAGER", Kind: KindSize, Most: "64k", Default: "8k", Unit: "bytes",
		Former: formerly("EAGER"),
		Doc: "puts and accumulates of up to this size are copied at once and complete at " +
			"the caller; over RDMA and libfabric " +
			"puts only, and 16k at most"},
	{Name: "ARMCI_BUFFER", Kind: KindSize, Least: "1m", Default: "16m", Unit: "bytes",
		Former: formerly("BUFFER"),
		Doc: "most memory that a process has in buffers for other nodes, pinned over " +
			"RDMA; there a quarter of it where no data " +
			"server runs"},
	{Name: "ARMCI_CONNECTIONS", Kind: KindInt, Class: ClassExpert, Most: "1000000",
		Default: "4096", Unit: "connections",
		Doc: "connections that a data server should have at most, and as many that a " +
			"process makes to other nodes; beyond that " +
			"idle ones are given back, and made again when they are used; over TCP " +
			"at most a quarter of RLIMIT_NOFILE; 0 = any number"},
	{Name: "ARMCI_SHM_ARENA", Kind: KindSize, Most: "128t", Default: "16t", Unit: "bytes",
		Doc: "virtual size of the node's arena; less where RLIMIT_AS or RLIMIT_FSIZE " +
			"allows less"},
	{Name: "ARMCI_SHM_BASE", Kind: KindAddress, Class: ClassExpert, Default: "0x400000000000",
		Doc: "virtual address at which the arena is tried first"},
	{Name: "ARMCI_SHM_KEEP", Kind: KindSize, Default: "256m", Unit: "bytes",
		Doc: "freed memory kept populated for reuse, per rank"},
	{Name: "ARMCI_SHM_MARGIN", Kind: KindSize, Default: "256m", Unit: "bytes",
		Doc: "memory that allocations always leave to the machine; unless set, at most " +
			"an eighth of what there is"},
	{Name: "ARMCI_SHM_VM", Kind: KindBool, Class: ClassExpert, Default: "y",
		Doc: "access private memory of other ranks of the node by the kernel " +
			"(process_vm_readv) where it allows that; n = always " +
			"by a thread of the owner"},
	{Name: "ARMCI_CAF_ACCESSORS", Kind: KindChoice, Class: ClassExpert, Default: "caller",
		Choices: []string{"caller", "target"},
		Doc: "where libcaf_armci runs accesses of gfortran 15 and later to derived types " +
			"on a node: in the calling process, or at " +
			"the image accessed"},
	{Name: "ARMCI_TCP_SERVERS", Kind: KindInt, Class: ClassExpert, Most: "4096", Default: "0",
		Unit: "ranks",
		Doc: "number of data servers per node, in its first ranks; 0 = one in each rank, " +
			"or fewer where the ranks of the job " +
			"times the servers of a node would exceed ARMCI_CONNECTIONS"},
	{Name: "ARMCI_TCP_INTERFACE", Kind: KindString,
		Doc: "name (eth0) or network (10.0.0.0/8) of the interface that leads to the " +
			"other hosts; unset = detected"},
	{Name: "ARMCI_TCP_PORTS", Kind: KindString,
		Doc: "ports at which data servers may listen, such as 7000-7100; unset = any"},
	{Name: "ARMCI_TCP_GATHER", Kind: KindSize, Class: ClassExpert, Default: "0", Unit: "bytes",
		Doc: "rows of strided and vector transfers of at least this length are not " +
			"packed; 0 = by a cost model " +
			"that armci_info prints"},
	{Name: "ARMCI_TCP_CONGESTION", Kind: KindString, Class: ClassExpert, Default: "auto",
		Doc: "congestion control of connections, by the kernel's name; auto = the " +
			"system's, unless that paces (bbr): " +
			"then cubic, or reno"},
	{Name: "ARMCI_RDMA_DEVICE", Kind: KindString,
		Doc: "RDMA device (mlx5_0) or one of its ports (mlx5_0:1) to use; unset = " +
			"detected"},
	{Name: "ARMCI_RDMA_GID", Kind: KindString,
		Doc: "index of the port's address (GID) to use; unset = detected: RoCE v2 and " +
			"IPv4 first"},
	{Name: "ARMCI_RDMA_CONTIGUOUS", Kind: KindChoice, Class: ClassExpert, Default: "auto",
		Choices: []string{"auto", "buffered", "zerocopy", "baseline", "register",
			"overlap"},
		Doc: "how contiguous transfers use local memory: through registered buffers, or " +
			"as it is, registered where it " +
			"is not; to compare with: through one buffer after the other, as it is " +
			"but registered for each transfer alone, " +
			"the same while what comes before travels; auto = by size and kind of " +
			"memory"},
	{Name: "ARMCI_RDMA_STRIDED", Kind: KindChoice, Class: ClassExpert, Default: "auto",
		Choices: []string{"auto", "nic", "host", "host-atomic", "push"},
		Doc: "how strided and vector transfers travel: a request of the device for each " +
			"row; packed into messages; packed " +
			"into buffers claimed by atomics; gets written by the target's server " +
			"(puts as auto); auto = by a cost model " +
			"that armci_info prints"},
	{Name: "ARMCI_RDMA_MODEL", Kind: KindString, Class: ClassExpert, Default: "auto",
		Doc: "parameters of that model, as armci_info prints them (what is not named is " +
			"as usual); auto = measured at first use"},
	{Name: "ARMCI_RDMA_ACC", Kind: KindChoice, Class: ClassExpert, Default: "server",
		Choices: []string{"server", "device"},
		Doc: "who accumulates in memory of another host: its data server, or the caller, " +
			"by atomics, reads and writes of " +
			"the devices, which disturbs nobody there; the same for all ranks"},
	{Name: "ARMCI_RDMA_SYSFS", Kind: KindString, Class: ClassExpert,
		Doc: "directory that tells which RDMA devices there are, for tests; unset = " +
			"/sys/class/infiniband"},
	{Name: "ARMCI_RDMA_PIN", Kind: KindSize, Default: "0", Unit: "bytes",
		Doc: "most memory of the application that a process keeps pinned between " +
			"transfers; 0 = its part of half the " +
			"machine's memory, at most a quarter of RLIMIT_MEMLOCK"},
	{Name: "ARMCI_OFI_PROVIDER", Kind: KindString,
		Doc: "provider of libfabric that ARMCI_TRANSPORT=ofi uses, as fi_info names it " +
			"(tcp;ofi_rxm); unset = the best of those " +
			"whose network the kernel tells of"},
	{Name: "ARMCI_OFI_DOMAIN", Kind: KindString, Class: ClassExpert,
		Doc: "domain of the provider to use: an interface or device, as fi_info names " +
			"it; unset = detected"},
	{Name: "ARMCI_OFI_SYSFS", Kind: KindString, Class: ClassExpert,
		Doc: "directory that tells which networks there are, for tests; unset = " +
			"/sys/class"},
	{Name: "ARMCI_PMI", Kind: KindChoice, Class: ClassExpert, Default: "auto",
		Choices: []string{"auto", "pmix", "pmi2", "n"},
		Doc: "interface to a launcher by which ranks without MPI find each other: PMIx, " +
			"PMI-2, or none; a program that is not " +
			"linked with MPI then does not load that of the launcher; auto = what " +
			"the launcher offers"},
	{Name: "ARMCI_JOB_ADDR", Kind: KindString, Class: ClassJob,
		Doc: "where armcirun's job server listens: an abstract unix socket, or host:port"},
	{Name: "ARMCI_JOB_RANK", Kind: KindInt, Default: "0", Class: ClassJob,
		Doc: "rank of this process"},
	{Name: "ARMCI_JOB_SIZE", Kind: KindInt, Default: "1", Unit: "ranks", Class: ClassJob,
		Doc: "ranks in the job"},
	{Name: "ARMCI_JOB_SECRET", Kind: KindString, Class: ClassJob,
		Doc: "what a rank proves to the job server, in hexadecimal; never printed"},
}

// lookup finds the row of a name, or nil.
func lookup(name string) *Row {
	for _, rows := range [][]Row{table, former, foreign} {
		for i := range rows {
			if rows[i].Name == name {
				return &rows[i]
			}
		}
	}
	return nil
}

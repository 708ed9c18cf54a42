// SPDX-License-Identifier: BSD-3-Clause

// Package launch says how the programs of bench/ are started: on a node, on
// pretended nodes over TCP or RDMA, or on hosts, by armcirun, Open MPI or MPICH. It
// starts nothing itself.
package launch

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Launchers; a program without an MPI is started by armcirun.
const (
	OpenMPI  = "openmpi"
	MPICH    = "mpich"
	Armcirun = "armci"
)

// List are the words of a list with commas, as of hosts.
func List(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' })
}

// Place is where ranks run.
type Place struct {
	Network string   // node; nodes or rdma: pretended nodes; hosts
	Hosts   []string // of the network hosts
	Agent   string   // what brings a command to a host
	Ranks   int      // in all
	Each    int      // ranks of a node; of the network node: all
	Spin    bool     // between nodes ranks of Open MPI do not yield while they wait
	NoUCX   bool     // over RDMA Open MPI's messages go through shared memory
}

// Words are the first word of a launcher, and with it what every start has.
func Words(launcher, build string) []string {
	switch launcher {
	case OpenMPI:
		return []string{"mpirun.openmpi", "--oversubscribe"}
	case MPICH:
		return []string{"mpiexec.hydra"}
	}
	return []string{build + "/bin/armcirun"}
}

// Environment is what a launcher itself needs.
func Environment(launcher string) []string {
	if launcher == OpenMPI && os.Getuid() == 0 {
		return []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}
	}
	return nil
}

// Remote: ranks talk over TCP or through a device.
func (p *Place) Remote() bool { return p.Network != "node" }

// pretended: the ranks of one machine are told which node they are on.
func (p *Place) pretended() bool { return p.Network == "nodes" || p.Network == "rdma" }

// Words are what keeps a launcher to a place, behind its first words: its options, and settings of
// each rank, which are to follow the word env.
func (p *Place) Words(launcher string) (argv, env []string) {
	argv = []string{"-n", strconv.Itoa(p.Ranks)}
	if launcher != Armcirun {
		argv = append(argv, map[string]string{OpenMPI: "--bind-to",
			MPICH: "-bind-to"}[launcher], p.binding())
	}
	hosts := p.Hosts[:min(len(p.Hosts), p.Ranks/max(p.Each, 1))]
	shared := "" // an MPI's transport within a host
	if p.Each > 1 {
		shared = "vader,"
	}
	switch p.Network + " " + launcher {
	case "nodes openmpi":
		argv = append(argv, "--mca", "pml", "ob1", "--mca", "btl", shared+"tcp,self",
			"--mca", "btl_tcp_if_include", "lo")
		argv = append(argv, Yield(!p.Spin)...)
	case "nodes mpich":
		env = append(env, "MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo")
	case "hosts openmpi":
		slots := fmt.Sprintf(":%d", p.Each)
		argv = append(argv, oneSession)
		argv = append(argv, "--host", strings.Join(hosts, slots+",")+slots, "--map-by",
			"slot", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", p.Agent,
			"--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "oob_tcp_if_include",
			"eth0", "--mca", "btl_tcp_if_include", "eth0",
			"--mca", "pml", "ob1", "--mca", "btl", shared+"tcp,self")
		argv = append(argv, Yield(!p.Spin)...)
	case "hosts mpich":
		argv = append(argv, "-launcher", "rsh", "-launcher-exec", p.Agent, "-hosts",
			strings.Join(hosts, ","), "-ppn", strconv.Itoa(p.Each), "-iface", "eth0")
		env = append(env, "UCX_TLS=tcp,self")
	case "nodes armci", "rdma armci":
		argv = append(argv, "-nodes", strconv.Itoa(p.Ranks/p.Each))
	case "hosts armci":
		argv = append(argv, "-hosts", strings.Join(hosts, ","), "-ppn",
			strconv.Itoa(p.Each), "-agent", p.Agent)
	case "rdma openmpi":
		if p.NoUCX {
			argv = append(argv, "--mca", "pml", "ob1", "--mca", "btl", "vader,self")
		} else {
			env = append(env, OverUCX(launcher)...)
		}
		argv = append(argv, Yield(!p.Spin)...)
	case "rdma mpich":
		env = append(env, OverUCX(launcher)...)
	}
	return argv, env
}

// OverUCX are settings by which an MPI's messages and windows take UCX over the verbs device,
// between all ranks: pretended nodes are one machine, on which UCX does not tell ranks of a node
// from others.
func OverUCX(launcher string) []string {
	own := []string{"MPIR_CVAR_NOLOCAL=1"}
	if launcher == OpenMPI {
		own = []string{"OMPI_MCA_pml=ucx", "OMPI_MCA_osc=ucx",
			"OMPI_MCA_opal_common_ucx_tls=any", "OMPI_MCA_opal_common_ucx_devices=any"}
	}
	return append(own, "UCX_TLS=rc_v,self")
}

// HasUCX: UCX finds the software device only where there is a directory that root can make
// (tests/softverbs/with.sh).
func HasUCX() bool {
	_, err := os.Stat("/dev/infiniband")
	return err == nil || os.Getuid() == 0
}

// OverDevice are the words before a launcher that give its ranks the software verbs device, which
// UCX finds, too. script is with.sh of tests/softverbs.
func OverDevice(script, device string) []string {
	return []string{"env", "SOFTVERBS_UCX=1", script, device}
}

// oneSession keeps the daemons of Open MPI from making sessions of their own. Hosts of network
// namespaces share this machine's cores, and the kernel schedules sessions as groups
// (sched_autogroup_enabled): a rank that yields would not give its core to a rank of another host,
// which would then wait for some ten milliseconds, as no ranks of one real host do.
const oneSession = "--leave-session-attached"

// Yield are Open MPI's words for ranks that yield the processor while they wait, or do not.
func Yield(on bool) []string {
	return []string{"--mca", "mpi_yield_when_idle", map[bool]string{true: "1", false: "0"}[on]}
}

// Pretend are the words before a program of an MPI whose ranks have to be told on which node they
// are.
func (p *Place) Pretend() []string {
	if !p.pretended() {
		return nil
	}
	script := fmt.Sprintf(
		`ARMCI_NODE=node$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} / %d)) && `+
			`export ARMCI_NODE && exec "$@"`, p.Each)
	return []string{"sh", "-c", script, "-"}
}

// binding gives each rank a core of its own where nothing else is busy: two ranks that poll may
// stay on one for milliseconds. Between nodes threads answer for ranks.
func (p *Place) binding() string {
	if !p.Remote() && p.Ranks <= runtime.NumCPU() {
		return "core"
	}
	return "none"
}

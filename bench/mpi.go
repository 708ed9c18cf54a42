// SPDX-License-Identifier: BSD-3-Clause

// Jobs under MPIs, whose own calls are the baselines. Between pretended nodes
// the MPI is told to use TCP on the loopback interface, or UCX over the verbs
// device, and no shared memory.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"libarmci/bench/launch"
)

var mpis = []struct {
	name, title, launcher string
	tcp                   []string // settings that keep it to TCP
	// and let it yield the processor while it waits; MPICH over UCX has none
	yield []string
}{
	{"openmpi", "Open MPI", "mpirun.openmpi --allow-run-as-root --oversubscribe",
		[]string{"OMPI_MCA_pml=ob1", "OMPI_MCA_btl=tcp,self",
			"OMPI_MCA_btl_tcp_if_include=lo", "OMPI_MCA_osc=pt2pt"},
		[]string{"OMPI_MCA_mpi_yield_when_idle=1"}},
	{"mpich", "MPICH", "mpiexec.hydra",
		[]string{"MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"}, nil},
}

// underMPI is a job for each MPI that is here.
func (o *options) underMPI(j job) []job {
	var jobs []job
	if o.rdma && !launch.HasUCX() {
		fmt.Fprintln(os.Stderr,
			"bench: no comparison with MPIs: for UCX root has to make /dev/infiniband")
		return nil
	}
	where := o.title(&j)
	for _, m := range mpis {
		j.worker, j.launcher = filepath.Join(o.workers, "worker-"+m.name),
			m.launcher+" -n "+strconv.Itoa(j.load.ranks)
		j.title = where + ", " + m.title
		j.env = slices.Clone(j.part.env)
		switch {
		case o.rdma:
			j.env = append(j.env, launch.OverUCX(m.name)...)
		case o.nodes > 1:
			j.env = append(j.env, m.tcp...)
		}
		if j.crowded {
			j.env = append(j.env, m.yield...)
		}
		_, missing := exec.LookPath(strings.Fields(m.launcher)[0])
		if _, err := os.Stat(j.worker); slices.Contains(o.mpi, m.name) &&
			(err != nil || missing != nil) {
			fmt.Fprintf(os.Stderr,
				"bench: no comparison with %s: no launcher or no worker of it\n",
				m.title)
		} else if slices.Contains(o.mpi, m.name) {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

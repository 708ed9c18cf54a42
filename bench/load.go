// SPDX-License-Identifier: BSD-3-Clause

// Crowded machines: jobs with more ranks than cores, and jobs beside a busy
// program on every core.
package main

import "runtime"

// crowd is what is measured on crowded machines, beside MPIs that yield and beside the library with
// every wait asleep at once.
const crowd = "barrier lock message collective one-sided"

var allAsleep = []string{"ARMCI_SPIN=1", "ARMCI_POLL=0"}

// load is what else the machine has to do: ranks for each core, or a busy program on every core.
type load struct {
	ranks int // in all
	busy  bool
}

func (o *options) loads() []load {
	var all []load
	for _, factor := range o.crowded {
		all = append(all, load{ranks: factor * runtime.NumCPU()})
	}
	if o.busy {
		all = append(all, load{ranks: max(runtime.NumCPU(), o.nodes), busy: true})
	}
	return all
}

// loaded is a job for each load, and for each MPI.
func (o *options) loaded(j job) (jobs []job, err error) {
	if !j.crowded {
		j.load.ranks = o.ranks(&j.part)
		return o.launched(j)
	}
	for _, l := range o.loads() {
		j.load = l
		some, err := o.launched(j)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, some...)
	}
	return jobs, nil
}

// busy keeps every core busy until stop is called. Its threads are those of one process, which is
// as unfair to a rank as separate programs are.
func busy() (stop func()) {
	quit := make(chan struct{})
	for range runtime.NumCPU() {
		go func() {
			for {
				select {
				case <-quit:
					return
				default:
					for range 1 << 16 {
					}
				}
			}
		}()
	}
	return func() { close(quit) }
}

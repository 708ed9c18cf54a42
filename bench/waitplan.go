// SPDX-License-Identifier: BSD-3-Clause

// What bench -waits starts: the places and ways that were asked for and are there,
// and the command line of each.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/bench/launch"
	"libarmci/internal/figure"
)

func rowName(op string, bytes int64) string { return op + "-" + strconv.FormatInt(bytes, 10) }

// chosen are the places with the rows that -rows names.
func (o *waitOptions) chosen() []waitPlace {
	var all []waitPlace
	for _, p := range waitPlaces {
		p.rows = slices.DeleteFunc(slices.Clone(p.rows), func(r waitRow) bool { return !o.rows.MatchString(p.name + "/" + r.name) })
		if len(p.rows) > 0 {
			all = append(all, p)
		}
	}
	return all
}

func allowedCores() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("cores that may be used: %w", err)
	}
	var all []int
	for i := range 8 * 128 {
		if set.IsSet(i) {
			all = append(all, i)
		}
	}
	return all, nil
}

// find takes the places and ways that can be measured here, and notes what cannot.
func (m *waitRun) find() {
	for _, p := range m.chosen() {
		if reason := m.missing(&p); reason != "" {
			m.left = append(m.left, p.name+": "+reason)
			continue
		}
		ours := false
		all := p.ways
		p.ways = nil
		for _, w := range all {
			if reason := m.missingWay(&w); reason != "" {
				m.left = append(m.left, fmt.Sprintf("%s, %s: %s", p.name, w.title, reason))
				continue
			}
			if !slices.ContainsFunc(p.rows, func(r waitRow) bool { return w.op(&r) != "" }) {
				continue
			}
			ours = ours || w.role == isOurs
			p.ways = append(p.ways, w)
			if w.role == isOurs && m.beside != "" {
				w.name, w.title, w.role = "before", w.title+", before", isBefore
				p.ways = append(p.ways, w)
			}
		}
		if ours {
			m.places = append(m.places, p)
		}
	}
}

// missing says why a place cannot be measured.
func (o *waitOptions) missing(p *waitPlace) string {
	_, noTaskset := exec.LookPath("taskset")
	switch {
	case p.cores != asLaunched && noTaskset != nil:
		return "no taskset (package util-linux)"
	case p.cores == oneEach && len(o.cores) < p.ranks:
		return fmt.Sprintf("needs %d cores", p.ranks)
	case p.network == "hosts" && len(o.hosts) > 0 && len(o.hosts) < p.ranks:
		return fmt.Sprintf("needs %d hosts", p.ranks)
	case p.network == "rdma" && o.device == "":
		return "the software verbs device is not built (target armci_tests)"
	}
	return ""
}

// missingWay says why a way cannot be measured.
func (o *waitOptions) missingWay(w *waitWay) string {
	if w.launcher != launch.Armcirun && w.role == isRival && !slices.Contains(o.mpi, w.launcher) {
		return "not asked for"
	}
	needed := []string{filepath.Join(o.workers, w.program)}
	for _, build := range []string{o.build, o.beside} {
		if build != "" && w.role == isOurs && w.preload {
			needed = append(needed, windowsLibrary(build))
		}
		if build != "" && w.launcher == launch.Armcirun {
			needed = append(needed, launch.Words(w.launcher, build)[0])
		}
	}
	for _, file := range needed {
		if _, err := os.Stat(file); err != nil {
			return err.Error()
		}
	}
	if _, err := exec.LookPath(launch.Words(w.launcher, o.build)[0]); err != nil {
		return "no launcher"
	}
	return ""
}

func windowsLibrary(build string) string { return filepath.Join(build, "lib", "libarmci-mpirma.so") }

// isRaw: a way that has only what is held against ours as a raw socket.
func (w *waitWay) isRaw() bool { return w.name == byRaw.name }

// op is the operation of a row by this way; "": it has none.
func (w *waitWay) op(r *waitRow) string {
	switch {
	case w.role != isRival:
		return r.ours()
	case w.isRaw() == strings.HasPrefix(r.rival, "trip-"):
		return r.rival
	}
	return ""
}

// operations are the words of a program: what it is to measure at a place.
func (w *waitWay) operations(p *waitPlace) []string {
	if p.figures != "" {
		return []string{p.figures}
	}
	var all []string
	for i := range p.rows {
		word := fmt.Sprintf("%s:%d", w.op(&p.rows[i]), p.rows[i].bytes)
		if w.op(&p.rows[i]) != "" && !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

// launched is a place for the launchers.
func (o *waitOptions) launched(p *waitPlace, w *waitWay) launch.Place {
	at := launch.Place{Network: p.network, Ranks: p.ranks, Each: 1, Spin: !w.yields}
	switch {
	case p.network == "node":
		at.Each = p.ranks
	case p.network == "hosts" && len(o.hosts) == 0:
		at.Network = "nodes"
	case p.network == "hosts":
		at.Hosts, at.Agent = o.hosts, o.agent
	}
	return at
}

// buildOf is the build whose library a way has.
func (o *waitOptions) buildOf(w *waitWay) string {
	if w.role == isBefore {
		return o.beside
	}
	return o.build
}

// job is one start of a way at a place: launcher, environment of each rank, its cores, program.
func (o *waitOptions) job(p *waitPlace, w *waitWay) figure.Job {
	at, build := o.launched(p, w), o.buildOf(w)
	words, env := at.Words(w.launcher)
	argv := append(append(launch.Words(w.launcher, build), words...), w.words...)
	if w.launcher == launch.OpenMPI && p.network == "node" {
		argv = append(argv, launch.Yield(w.yields)...)
	}
	if p.network == "rdma" {
		argv = append([]string{filepath.Join(o.source(), "tests", "softverbs", "with.sh"), o.device}, argv...)
		argv, env = append(argv, "--mca", "pml", "ob1"), append(env, "ARMCI_TRANSPORT=rdma")
	}
	if w.role != isRival || w.isRaw() {
		env = append(env, "LD_LIBRARY_PATH="+libraries(build))
	}
	if w.role != isRival {
		env = append(env, p.env...)
	}
	if w.preload {
		env = append(env, "LD_PRELOAD="+windowsLibrary(build))
		argv = append(argv, at.Pretend()...)
	}
	argv = append(argv, o.pin(p)...)
	if len(env) > 0 {
		argv = append(append(argv, "env"), env...)
	}
	argv = append(append(argv, filepath.Join(o.workers, w.program)), o.samples(w, build)...)
	return figure.Job{Title: p.title, Argv: append(argv, w.operations(p)...), Env: launch.Environment(w.launcher),
		Limit: startLimit}
}

// startLimit ends a start that hangs.
const startLimit = 90 * time.Second

func (o *waitOptions) source() string { return filepath.Dir(o.build) }

// samples are the options of a program: how long it measures, and which library it must have.
func (o *waitOptions) samples(w *waitWay, build string) []string {
	words := []string{"-t", strconv.FormatFloat(o.sample, 'g', -1, 64), "-r", "5"}
	if w.role != isRival && w.launcher == launch.Armcirun && strings.HasPrefix(w.program, "waits") {
		words = append(words, "-b", build)
	}
	return words
}

// pin are the words before a program that give each rank its cores.
func (o *waitOptions) pin(p *waitPlace) []string {
	switch {
	case p.cores == oneEach:
		script := `case $((${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$ARMCI_JOB_RANK}})) in `
		for rank := range p.ranks {
			script += fmt.Sprintf("%d) core=%d ;; ", rank, o.cores[rank])
		}
		return []string{"sh", "-c", script + `esac; exec taskset -c $core "$@"`, "-"}
	case p.cores == firstTwo && len(o.cores) > 2:
		return []string{"taskset", "-c", fmt.Sprintf("%d,%d", o.cores[0], o.cores[1])}
	}
	return nil
}

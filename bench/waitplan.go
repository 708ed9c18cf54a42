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

	"libarmci/bench/launch"
	"libarmci/internal/figure"
)

// chosen are the places with the rows that -rows names.
func (o *waitOptions) chosen() []waitPlace {
	var all []waitPlace
	for _, p := range waitPlaces {
		p.rows = slices.DeleteFunc(slices.Clone(p.rows), func(r waitRow) bool {
			return !o.rows.MatchString(p.name + "/" + r.name)
		})
		if len(p.rows) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// findPlaces takes the places and ways that can be measured here, and notes what cannot.
func (m *waitRun) findPlaces() {
	for _, p := range m.chosen() {
		if reason := m.missing(&p); reason != "" {
			m.noteSkipped("%s: %s", p.name, reason)
			continue
		}
		if p.network == "hosts" && len(m.hosts) == 0 {
			p.title += " (pretended)"
		}
		p.ways = m.waysOf(&p)
		if slices.ContainsFunc(p.ways, func(w waitWay) bool { return w.role == isOurs }) {
			m.places = append(m.places, p)
		}
	}
}

// waysOf are the ways of a place that have one of its rows, with the other build behind ours.
func (m *waitRun) waysOf(p *waitPlace) []waitWay {
	var all []waitWay
	for _, w := range p.ways {
		has := func(r waitRow) bool { return w.op(&r) != "" }
		if m.unwanted(&w) || !slices.ContainsFunc(p.rows, has) {
			continue
		}
		if reason := m.missingWay(&w); reason != "" {
			m.noteSkipped("%s, %s: %s", p.name, w.title, reason)
			continue
		}
		all = append(all, w)
		if w.role == isOurs && m.beside != "" {
			w.name, w.title, w.role = "before", w.title+", before", isBefore
			all = append(all, w)
		}
	}
	return all
}

// unwanted: an MPI that is not to be compared with.
func (o *waitOptions) unwanted(w *waitWay) bool {
	return w.role == isRival && !w.isRaw() && !slices.Contains(o.mpi, w.launcher)
}

// missing says why a place cannot be measured.
func (o *waitOptions) missing(p *waitPlace) string {
	_, noTaskset := exec.LookPath("taskset")
	_, noScript := os.Stat(o.withDevice())
	switch {
	case p.cores != asLaunched && noTaskset != nil:
		return "no taskset (package util-linux)"
	case p.cores == oneEach && len(o.cores) < p.ranks:
		return fmt.Sprintf("needs %d cores", p.ranks)
	case p.network == "hosts" && len(o.hosts) > 0 && len(o.hosts) < p.ranks:
		return fmt.Sprintf("needs %d hosts", p.ranks)
	case p.network == "rdma" && o.device == "":
		return "the software verbs device is not built (target armci_tests)"
	case p.network == "rdma" && noScript != nil:
		return noScript.Error()
	}
	return ""
}

// missingWay says why a way cannot be measured.
func (o *waitOptions) missingWay(w *waitWay) string {
	needed := []string{filepath.Join(o.workers, w.program)}
	for _, build := range []string{o.build, o.beside} {
		if build != "" && w.preload {
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

func windowsLibrary(build string) string {
	return filepath.Join(build, "lib", "libarmci-mpirma.so")
}

// isRaw: the way of the raw socket, which has round trips and nothing else.
func (w *waitWay) isRaw() bool { return w.name == byRaw.name }

// op is the operation of a row by this way; "": it has none.
func (w *waitWay) op(r *waitRow) string {
	switch {
	case w.role != isRival && r.op != "":
		return r.op
	case w.role != isRival:
		return r.name
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
	at := launch.Place{Network: p.network, Ranks: p.ranks, Each: 1, Spin: !w.yields,
		NoUCX: !launch.HasUCX()}
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

// job is one start of a way at a place: launcher, cores, environment of each rank, program.
func (o *waitOptions) job(p *waitPlace, w *waitWay) figure.Job {
	build := o.build
	if w.role == isBefore {
		build = o.beside
	}
	at := o.launched(p, w)
	words, env := at.Words(w.launcher)
	argv := append(append(launch.Words(w.launcher, build), words...), w.words...)
	switch {
	case p.network == "rdma":
		argv = append(launch.OverDevice(o.withDevice(), o.device), argv...)
		env = append(env, "ARMCI_TRANSPORT=rdma")
	case p.network == "node" && w.launcher == launch.OpenMPI:
		argv = append(argv, launch.Yield(w.yields)...)
	}
	if w.preload {
		argv = append(argv, at.Pretend()...)
	}
	argv = append(argv, o.pin(p)...)
	if env = append(env, o.settings(p, w, build)...); len(env) > 0 {
		argv = append(append(argv, "env"), env...)
	}
	argv = append(append(argv, filepath.Join(o.workers, w.program)), o.samples(w, build)...)
	return figure.Job{Title: p.title, Argv: append(argv, w.operations(p)...),
		Env: launch.Environment(w.launcher), Limit: startLimit}
}

// withDevice is the script that runs a command where there is the software verbs device. The build
// is below the sources.
func (o *waitOptions) withDevice() string {
	return filepath.Join(filepath.Dir(o.build), "tests", "softverbs", "with.sh")
}

// settings are the environment of a way's ranks: where the library is, and what ours is to do.
func (o *waitOptions) settings(p *waitPlace, w *waitWay, build string) (env []string) {
	path := libraries(build)
	if p.network == "rdma" { // the device is libibverbs
		path = o.device + ":" + path
	}
	if w.role != isRival || w.isRaw() {
		env = append(env, "LD_LIBRARY_PATH="+path)
	}
	if w.role != isRival {
		env = append(env, p.env...)
	}
	if w.preload {
		env = append(env, "LD_PRELOAD="+windowsLibrary(build))
	}
	return env
}

// samples are the options of a program: how long it measures, and which library it must have.
func (o *waitOptions) samples(w *waitWay, build string) []string {
	words := []string{"-t", strconv.FormatFloat(o.sample, 'g', -1, 64), "-r", "5"}
	if w.program == byLibrary.program || w.preload {
		words = append(words, "-b", build)
	}
	return words
}

// pin are the words before a program that give each rank its cores.
func (o *waitOptions) pin(p *waitPlace) []string {
	switch {
	case p.cores == oneEach:
		script := "case ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$ARMCI_JOB_RANK}} in "
		for rank := range p.ranks {
			script += fmt.Sprintf("%d) core=%d ;; ", rank, o.cores[rank])
		}
		return []string{"sh", "-c", script + `esac; exec taskset -c $core "$@"`, "-"}
	case p.cores == firstTwo && len(o.cores) > 2:
		return []string{"taskset", "-c", fmt.Sprintf("%d,%d", o.cores[0], o.cores[1])}
	}
	return nil
}

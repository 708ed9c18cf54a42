// SPDX-License-Identifier: BSD-3-Clause

// The report: what is in it, and the verdict. JSON is these types as they are; text.go writes them
// for people. Names of hosts and people are removed in private.go.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"libarmci/internal/config"
	"libarmci/internal/figure"
)

// The verdicts. unfinished is the verdict of a report before its command ends.
const (
	passed     = "passed"
	failed     = "failed"
	unfinished = "unfinished"
)

// Report is the whole report.
type Report struct {
	Format   int      `json:"format"` // of this object: 1
	Version  string   `json:"libarmci"`
	Verdict  string   `json:"verdict"`  // passed, failed or unfinished
	Failures []string `json:"failures"` // why it is failed
	Notes    []string `json:"notes"`    // what was not shown, and what looks odd
	Run

	Nodes       []Node        `json:"nodes"`
	Differences []string      `json:"differences"` // between nodes
	Checks      []Check       `json:"correctness"`
	Figures     []Figure      `json:"speed"`
	Growth      []Growth      `json:"growth"`
	Application []Application `json:"application"`
}

// Run is how the report came about. Its fields are the report's in JSON.
type Run struct {
	Command  string  `json:"command"`
	Quick    bool    `json:"quick"`
	Date     string  `json:"date"`
	Seconds  float64 `json:"seconds"`
	Launcher string  `json:"started_by"` // as the library sees it
	MPI      string  `json:"mpi"`        // in the processes of the launcher; "": none
	Ranks    int     `json:"ranks"`
}

// Node is a node of the job.
type Node struct {
	Ranks      []int   `json:"ranks"`
	Facts      []Fact  `json:"facts"`
	Transports []Probe `json:"transports"`
}

// Fact is one thing about a node.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Probe says whether a node can use a transport.
type Probe struct {
	Transport string `json:"transport"` // tcp, rdma, or ofi:PROVIDER
	Usable    bool   `json:"usable"`
	Text      string `json:"text"` // how, or why not
	loaded    []string
}

// Check is random operations over one transport, or the reason why there were none.
type Check struct {
	Transport string  `json:"transport"`
	Result    string  `json:"result"` // passed, failed or skipped
	Seconds   float64 `json:"seconds"`
	Ranks     int     `json:"ranks"`
	Seed      int64   `json:"seed"`
	Done      string  `json:"done"`   // phases and operations
	Detail    string  `json:"detail"` // why it failed or was skipped
	Again     string  `json:"again"`  // the command that repeats it
}

// Range is the median of several starts, and their extremes.
type Range struct {
	Median   float64 `json:"median"`
	Least    float64 `json:"least"`
	Greatest float64 `json:"greatest"`
}

func rangeOf(s figure.Samples) *Range {
	if len(s) == 0 {
		return nil
	}
	v := s.Value()
	return &Range{v.Median, v.Least, v.Most}
}

// Figure is the speed of an operation, and of what it stands beside. Each start gives the median of
// its repetitions.
type Figure struct {
	Transport string `json:"transport"`
	Beside    string `json:"beside"` // what raw is, if there is any: raw verbs, ...
	Operation string `json:"operation"`
	Place     string `json:"size"`
	Ranks     int    `json:"ranks"`
	Unit      string `json:"unit"`
	Starts    int    `json:"starts"`
	Ours      *Range `json:"ours"`
	Raw       *Range `json:"raw,omitempty"`
	// how many times as much ours costs as raw: above 1 it is slower, for rates, too
	Ratio *Range `json:"ratio,omitempty"`
}

// Growth is a job of so many ranks that does nothing but start and reach every other rank.
type Growth struct {
	Ranks   int     `json:"ranks"`
	Seconds float64 `json:"seconds"`  // of the whole job, with its launcher
	Start   float64 `json:"start_ms"` // of the library, on the slowest rank
	// MiB of the greatest process: resident after the start; its own, without shared memory;
	// its own when it has used every other rank
	Resident float64 `json:"resident_mib"`
	Own      float64 `json:"own_mib"`
	Used     float64 `json:"own_used_mib"`
	Detail   string  `json:"detail"` // why there are no figures
}

// Application is a run of an application that verifies its result.
type Application struct {
	Name      string `json:"name"`
	Transport string `json:"transport"`
	Result    string `json:"result"` // passed, failed or skipped
	Unit      string `json:"unit"`
	Ours      *Range `json:"ours,omitempty"`
	Messages  *Range `json:"messages,omitempty"`
	Ratio     *Range `json:"ratio,omitempty"` // as of a Figure
	Detail    string `json:"detail"`
}

func newReport(o *options) *Report {
	return &Report{Format: 1, Version: config.Version, Verdict: unfinished,
		Run:      Run{Quick: o.quick, Date: time.Now().UTC().Format("2006-01-02")},
		Failures: []string{}, Notes: []string{}, Nodes: []Node{}, Differences: []string{},
		Checks: []Check{}, Figures: []Figure{}, Growth: []Growth{},
		Application: []Application{}}
}

func (r *Report) fail(format string, args ...any) {
	r.Failures = append(r.Failures, fmt.Sprintf(format, args...))
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// conclude decides on the verdict.
func (r *Report) conclude() {
	r.Verdict = passed
	if len(r.Failures) > 0 {
		r.Verdict = failed
	}
}

func (r *Report) writeJSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(r)
}

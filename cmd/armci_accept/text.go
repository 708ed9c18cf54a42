// SPDX-License-Identifier: BSD-3-Clause

// The report as plain text, for people. It has what JSON has.

package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"libarmci/internal/figure"
)

// sendWords say what happens with a report.
const sendWords = `What to send where: look through both files for names that you do not want to
show (hosts, users, paths and addresses are removed where they were known), then send
them, the .json at least, to the maintainers of libarmci: docs/clusters.md says how. The
line "again" of a failure repeats it.
`

// writeText writes all sections.
func (r *Report) writeText(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Acceptance of libarmci %s, %s\n\nVerdict: %s\n", r.Version, r.Date,
		strings.ToUpper(r.Verdict))
	listing(&b, "Failures", r.Failures)
	listing(&b, "Notes", r.Notes)
	fmt.Fprintf(&b, "\n%s", sendWords)
	fmt.Fprintf(&b, "\nCommand: %s\nStarted by %s; %d ranks, %d nodes; %.0f s", r.Command,
		orNone(r.Launcher), r.Ranks, len(r.Nodes), r.Seconds)
	if r.MPI != "" {
		fmt.Fprintf(&b, "; %s", r.MPI)
	}
	if r.Quick {
		b.WriteString("; -quick: times mean nothing")
	}
	b.WriteString("\n")
	r.nodesText(&b)
	r.checksText(&b)
	r.figuresText(&b)
	r.growthText(&b)
	r.applicationText(&b)
	_, err := w.Write(b.Bytes())
	return err
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// listing writes lines under a title, further lines of each indented.
func listing(b *bytes.Buffer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", indented(line))
	}
}

func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// nodesText writes node 0, and of the others what differs.
func (r *Report) nodesText(b *bytes.Buffer) {
	for i, n := range r.Nodes {
		fmt.Fprintf(b, "\nNode %d: ranks %s\n", i, strings.Trim(fmt.Sprint(n.Ranks), "[]"))
		if i == 0 {
			for _, f := range n.Facts {
				fmt.Fprintf(b, "  %-24s %s\n", f.Name, f.Value)
			}
		} else {
			fmt.Fprintf(b, "  as node 0 but for the differences below\n")
		}
		for _, p := range n.Transports {
			word := "not usable"
			if p.Usable {
				word = "usable"
			}
			fmt.Fprintf(b, "  %-24s %s: %s\n", p.Transport, word, indented(p.Text))
		}
	}
	if len(r.Nodes) > 1 && len(r.Differences) == 0 {
		b.WriteString("\nThe nodes do not differ.\n")
	}
	listing(b, "Differences", r.Differences)
}

// checksText writes the random operations over each transport.
func (r *Report) checksText(b *bytes.Buffer) {
	if len(r.Checks) > 0 {
		b.WriteString("\nCorrectness: random operations against a model\n")
	}
	for _, c := range r.Checks {
		fmt.Fprintf(b, "  %-24s %s", c.Transport, c.Result)
		if c.Ranks > 0 {
			fmt.Fprintf(b, ", %d ranks, %.1f s, seed %d; %s\n    again: %s", c.Ranks,
				c.Seconds, c.Seed, orNone(c.Done), c.Again)
		}
		if c.Detail != "" {
			fmt.Fprintf(b, "\n    %s", indented(c.Detail))
		}
		b.WriteString("\n")
	}
}

// amount is a range in a unit: the median, and in brackets the extremes.
func amount(v *Range, unit string) string {
	if v == nil {
		return "-"
	}
	text := figure.Amount(v.Median, unit)
	if v.Least < v.Greatest && v.Median > 0 {
		suited, _ := figure.Suited(v.Median, unit)
		by := suited / v.Median
		text += fmt.Sprintf(" (%.3g..%.3g)", v.Least*by, v.Greatest*by)
	}
	return text
}

// times is a ratio.
func times(v *Range) string {
	if v == nil {
		return "-"
	}
	if v.Least == v.Greatest {
		return fmt.Sprintf("%.2f", v.Median)
	}
	return fmt.Sprintf("%.2f (%.2f..%.2f)", v.Median, v.Least, v.Greatest)
}

// figuresText writes a table for each worker.
func (r *Report) figuresText(b *bytes.Buffer) {
	title := ""
	for _, f := range r.Figures {
		t := fmt.Sprintf("over %s%s, %d ranks, starts: %d", f.Transport,
			besideWords(f.Beside), f.Ranks, f.Starts)
		if t != title {
			fmt.Fprintf(b, "\nSpeed %s: median of the starts (least..greatest)\n"+
				"  %-24s %9s %-24s %-24s %s\n", t, "operation", "size", "ours",
				orNone(f.Beside), "times as slow")
			title = t
		}
		fmt.Fprintf(b, "  %-24s %9s %-24s %-24s %s\n", f.Operation, f.Place,
			amount(f.Ours, f.Unit), amount(f.Raw, f.Unit), times(f.Ratio))
	}
}

// growthText writes a line for each number of ranks.
func (r *Report) growthText(b *bytes.Buffer) {
	if len(r.Growth) > 0 {
		fmt.Fprintf(b, "\nGrowth: the greatest process of a job, memory in MiB\n"+
			"  %8s %12s %12s %12s %12s %22s\n", "ranks", "job, s", "start, ms",
			"resident", "own", "own, all ranks used")
	}
	for _, g := range r.Growth {
		fmt.Fprintf(b, "  %8d %12.2f %12.1f %12.1f %12.1f %22.1f %s\n", g.Ranks, g.Seconds,
			g.Start, g.Resident, g.Own, g.Used, indented(g.Detail))
	}
}

// applicationText writes a line for each application.
func (r *Report) applicationText(b *bytes.Buffer) {
	if len(r.Application) > 0 {
		b.WriteString("\nApplications, their results verified: median (least..greatest)\n")
	}
	for _, p := range r.Application {
		fmt.Fprintf(b, "  %s over %s: %s; ours %s", p.Name, p.Transport, p.Result,
			amount(p.Ours, p.Unit))
		if p.Messages != nil {
			fmt.Fprintf(b, ", messages %s; times as slow: %s",
				amount(p.Messages, p.Unit), times(p.Ratio))
		}
		if p.Detail != "" {
			fmt.Fprintf(b, "\n    %s", indented(p.Detail))
		}
		b.WriteString("\n")
	}
}

// sentence begins a sentence with an error.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

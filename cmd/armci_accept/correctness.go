// SPDX-License-Identifier: BSD-3-Clause

// Correctness: random operations of all kinds by all ranks against a model (tests/c/model.c), over
// each transport, with a time limit.

package main

import (
	"fmt"
	"strings"
	"time"
)

// mostModelRanks bounds the ranks of the random operations: each keeps an image of all memories.
const mostModelRanks = 64

// checkAll tries all transports, and keeps the good ones.
func (a *acceptance) checkAll() {
	model, err := program("accept-model")
	if err != nil {
		a.report.fail("%v", err)
		a.good = nil
		return
	}
	all := a.good
	a.good = nil
	for _, t := range all {
		a.progress("correctness over %s, %d s", t, a.seconds)
		c := a.check(t, model)
		a.report.Checks = append(a.report.Checks, c)
		if c.Result == passed {
			a.good = append(a.good, t)
		} else {
			a.report.fail("Random operations over %s: %s. Again: %s", t,
				firstLine(c.Detail), c.Again)
		}
	}
}

// check runs the random operations over one transport.
func (a *acceptance) check(t transport, model string) Check {
	n := a.launcher.atMost(mostModelRanks)
	settings := append(t.settings(), fmt.Sprintf("MODEL_SECONDS=%d", a.seconds),
		fmt.Sprintf("MODEL_SEED=%d", a.seed))
	j := a.run(a.limit(time.Duration(a.seconds)*time.Second), n, settings, model)
	c := Check{Transport: t.String(), Result: passed, Seconds: j.took.Seconds(), Ranks: n,
		Seed: a.seed, Again: a.names.words(j.command)}
	for _, line := range j.lines {
		if strings.Contains(line, " phases, ") {
			c.Done = line
		}
	}
	if j.err != nil || !j.says(fmt.Sprintf("ok model (%d ranks)", n)) {
		c.Result, c.Detail = failed, j.why()
	}
	return c
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

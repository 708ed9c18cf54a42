// SPDX-License-Identifier: BSD-3-Clause

// Startup consensus: all ranks learn whether one of them cannot take part, so that none waits for it, and so that a
// reason is printed once, not once per rank.
package core

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// StartError is why the library cannot start. Every rank gets one; the one that is to print it has Print set.
type StartError struct {
	Text  string
	Print bool
}

func (e *StartError) Error() string { return e.Text }

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// consequence marks the report of a rank that failed only because another one did.
const consequence = "consequence: "

func isConsequence(err error) bool {
	for _, of := range []error{io.EOF, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNREFUSED, os.ErrDeadlineExceeded} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// consensus is collective: it succeeds if all ranks have reached this step without an error.
func (r *Runtime) consensus(err error) error {
	_, err = r.consensusOn(nil, err)
	return err
}

// consensusOn is consensus, and exchanges a few bytes of each rank.
func (r *Runtime) consensusOn(mine []byte, err error) ([][]byte, error) {
	text := textOf(err)
	if err != nil && isConsequence(err) {
		text = consequence + text
	}
	reports := []report{{text, mine}}
	if r.N > 1 {
		all, lost := exchangeJSON(r, reports[0])
		if lost != nil {
			return nil, errors.Join(err, lost)
		}
		reports = all
	}
	texts, bytes := make([]string, len(reports)), make([][]byte, len(reports))
	for i, rep := range reports {
		texts[i], bytes[i] = rep.Problem, rep.Bytes
	}
	return bytes, consensusError(texts, int(r.Me))
}

// report is what a rank sends at a step of the start.
type report struct {
	Problem string
	Bytes   []byte
}

// consensusError turns all reports into one error: that of the lowest rank with a cause of its own, or, if there is none, of the
// lowest rank with a consequence; and the number of ranks that report something else.
func consensusError(reports []string, me int) error {
	text, from := firstReport(reports, false)
	if text == "" {
		text, from = firstReport(reports, true)
	}
	if text == "" {
		return nil
	}
	return &StartError{strings.TrimPrefix(text, consequence) + otherCauses(reports, text, from), from == me}
}

// firstReport is the first report with an error that is a consequence, or that is a cause.
func firstReport(reports []string, effect bool) (string, int) {
	for rank, text := range reports {
		if text != "" && strings.HasPrefix(text, consequence) == effect {
			return text, rank
		}
	}
	return "", -1
}

// otherCauses is the text about further ranks that have causes of their own.
func otherCauses(reports []string, told string, from int) string {
	count, example := 0, -1
	for rank, text := range reports {
		if text != "" && text != told && !strings.HasPrefix(text, consequence) {
			count++
			if example < 0 {
				example = rank
			}
		}
	}
	switch count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (and rank %d: %s)", example, reports[example])
	}
	return fmt.Sprintf(" (and %d more ranks have other reasons; rank %d: %s)", count, example, reports[example])
}

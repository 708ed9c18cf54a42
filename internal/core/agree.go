// SPDX-License-Identifier: BSD-3-Clause

// How the ranks learn at the start that one of them cannot take part, so that none waits for it, and so that the same
// reason is not printed once per rank.
package core

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
)

// StartError is why the library cannot start. Every rank gets one; those that are to print it have Tell set.
type StartError struct {
	Text string
	Tell bool
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

// agree is collective: it succeeds if all ranks have come so far without an error.
func (r *Runtime) agree(err error) error {
	_, err = r.agreeOn(nil, err)
	return err
}

// agreeOn also shows every rank a few bytes of all ranks.
func (r *Runtime) agreeOn(mine []byte, err error) ([][]byte, error) {
	text := textOf(err)
	if err != nil && isConsequence(err) {
		text = consequence + text
	}
	reports := []report{{text, mine}}
	if r.N > 1 {
		all, lost := swapJSON(r, reports[0])
		if lost != nil {
			return nil, errors.Join(err, lost)
		}
		reports = all
	}
	texts, bytes := make([]string, len(reports)), make([][]byte, len(reports))
	for i, rep := range reports {
		texts[i], bytes[i] = rep.Problem, rep.Bytes
	}
	return bytes, verdict(texts, int(r.Me))
}

// report is what a rank has to say at a step of the start.
type report struct {
	Problem string
	Bytes   []byte
}

// verdict is what a rank makes of all reports. Of equal ones the lowest rank's is told, consequences only if there is
// nothing else.
func verdict(reports []string, me int) error {
	var causes, effects []string
	first := map[string]int{}
	for rank, text := range reports {
		_, known := first[text]
		switch {
		case text == "" || known:
			continue
		case strings.HasPrefix(text, consequence):
			effects = append(effects, text)
		default:
			causes = append(causes, text)
		}
		first[text] = rank
	}
	if causes == nil {
		causes = effects
	}
	if causes == nil {
		return nil
	}
	for _, text := range causes {
		if first[text] == me {
			return &StartError{strings.TrimPrefix(text, consequence), true}
		}
	}
	return &StartError{strings.TrimPrefix(causes[0], consequence), false}
}

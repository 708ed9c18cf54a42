// SPDX-License-Identifier: BSD-3-Clause

// Figures for other programs: JSON, and the format of Go's benchmarks, which benchstat reads.

package figure

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
)

// Run describes a measurement for readers of another machine.
type Run struct {
	Version, Where string
	Repetitions    int
}

// jsonRow is a figure in JSON; times are in ns, rates in MB/s, as unit says.
type jsonRow struct {
	Operation  string  `json:"operation"`
	Shape      string  `json:"shape,omitempty"`
	Bytes      int64   `json:"bytes"`
	Ranks      int     `json:"ranks"`
	Where      string  `json:"where,omitempty"` // if it is not the run's
	Unit       string  `json:"unit"`
	Median     float64 `json:"median"`
	Least      float64 `json:"least"`
	Greatest   float64 `json:"greatest"`
	Spread     float64 `json:"spread"` // distance of the quartiles by the median
	Samples    Samples `json:"samples"`
	Ratio      float64 `json:"ratio,omitempty"` // to the baseline, pair by pair
	RawMedian  float64 `json:"raw_median,omitempty"`
	RawSamples Samples `json:"raw_samples,omitempty"`
}

// WriteJSON writes one object: what was measured on, and an array of figures.
func WriteJSON(w io.Writer, run Run, rows []Row) error {
	figures := []jsonRow{}
	for _, r := range rows {
		j := jsonRow{r.Op, r.Shape, r.Bytes, r.Ranks, r.Where, r.Unit, r.Ours.Median,
			r.Ours.Least, r.Ours.Most, r.Samples.Spread(), r.Samples, r.Ratio,
			r.Raw.Median, r.RawSamples}
		if j.Shape == "-" {
			j.Shape = ""
		}
		if j.Where == run.Where {
			j.Where = ""
		}
		figures = append(figures, j)
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(struct {
		Version     string    `json:"version"`
		Processor   string    `json:"processor"`
		Processors  int       `json:"processors"`
		Where       string    `json:"where"`
		Repetitions int       `json:"repetitions"`
		Figures     []jsonRow `json:"figures"`
	}{run.Version, processor(), runtime.NumCPU(), run.Where, run.Repetitions, figures})
}

// units of Go's benchmarks; what has none keeps its own.
var benchUnits = map[string]string{"ns": "ns/op", "Mop/s": "Mop/s", "MB/s": "MB/s", "%": "percent"}

// WriteBenchmarks writes a line for the least, the median and the greatest repetition of each
// figure, so that benchstat sees the spread: its median is ours.
func WriteBenchmarks(w io.Writer, run Run, rows []Row) error {
	_, err := fmt.Fprintf(w,
		"goos: linux\ngoarch: %s\npkg: libarmci\ncpu: %s\nlibarmci: %s\nwhere: %s\n",
		runtime.GOARCH, processor(), run.Version, run.Where)
	for _, r := range rows {
		name := fmt.Sprintf("Benchmark%s/bytes=%d/ranks=%d", camel(r.Op), r.Bytes, r.Ranks)
		if strings.Contains(r.Shape, "x") {
			name = fmt.Sprintf("Benchmark%s/shape=%s/ranks=%d", camel(r.Op), r.Shape,
				r.Ranks)
		}
		unit := benchUnits[r.Unit]
		if unit == "" {
			unit = strings.ReplaceAll(r.Unit, " ", "-")
		}
		for _, v := range []float64{r.Ours.Least, r.Ours.Median, r.Ours.Most} {
			if err == nil {
				_, err = fmt.Fprintf(w, "%s 1 %.6g %s\n", name, v, unit)
			}
		}
	}
	return err
}

// camel is an operation's name as Go names benchmarks: put-strided is PutStrided.
func camel(op string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(op, func(c rune) bool { return c == '-' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

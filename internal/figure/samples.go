// SPDX-License-Identifier: BSD-3-Clause

// Samples of a figure, and what is said of them.

package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Samples are the repetitions of a figure, in its unit, in the order in which they were taken.
type Samples []float64

// Value is the median of a figure's repetitions and their extremes.
type Value struct{ Median, Least, Most float64 }

// Value summarises the samples; it is 0 where there are none.
func (s Samples) Value() Value {
	if len(s) == 0 {
		return Value{}
	}
	return Value{s.Median(), slices.Min(s), slices.Max(s)}
}

// Median is the middle of the samples, or the mean of the two in the middle; 0 of none.
func (s Samples) Median() float64 {
	all := slices.Sorted(slices.Values(s))
	if len(all) == 0 {
		return 0
	}
	return (all[len(all)/2] + all[(len(all)-1)/2]) / 2
}

// Percentile is the least sample that so many in a hundred do not exceed; 0 of none.
func (s Samples) Percentile(percent int) float64 {
	all := slices.Sorted(slices.Values(s))
	if len(all) == 0 {
		return 0
	}
	return all[max(int(math.Ceil(float64(len(all)*percent)/100)), 1)-1]
}

// Spread is the distance of the quartiles by the median: 0 where all samples are the same.
func (s Samples) Spread() float64 {
	if m := s.Median(); m != 0 {
		return (s.Percentile(75) - s.Percentile(25)) / math.Abs(m)
	}
	return 0
}

// Ratios are those to the samples of a baseline, pair by pair; none where it has none.
func (s Samples) Ratios(raw Samples) Samples {
	var all Samples
	for i := range min(len(s), len(raw)) {
		if raw[i] != 0 {
			all = append(all, s[i]/raw[i])
		}
	}
	return all
}

// String is the samples as workers print them.
func (s Samples) String() string {
	var b []byte
	for i, v := range s {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendFloat(b, v, 'g', 6, 64)
	}
	return string(b)
}

// parseSamples reads what String returns. What is no finite number is no sample.
func parseSamples(text string) (Samples, error) {
	var all Samples
	for word := range strings.FieldsSeq(text) {
		v, err := strconv.ParseFloat(word, 64)
		if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
			err = fmt.Errorf("%q is not finite", word)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// Median is that of some values, 0 of none.
func Median(values []float64) float64 { return Samples(values).Median() }

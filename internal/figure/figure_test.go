// SPDX-License-Identifier: BSD-3-Clause

// Tests of reading figures, running jobs, units and charts. They start no
// worker.
package figure

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestParseRow reads a line of a worker, and refuses those that are incomplete.
func TestParseRow(t *testing.T) {
	r, err := ParseRow("put\t-\t8\t2\tns\t4.5 4.1 5\t2 1 4")
	want := Row{Op: "put", Shape: "-", Bytes: 8, Ranks: 2, Unit: "ns", Ours: Value{4.5, 4.1, 5},
		Raw: Value{2, 1, 4}, Ratio: 2.25, Samples: Samples{4.5, 4.1, 5},
		RawSamples: Samples{2, 1, 4}}
	if err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("got %+v, %v", r, err)
	}
	r, err = ParseRow("put\t-\t8\t2\tns\t4.5\t-")
	want = Row{Op: "put", Shape: "-", Bytes: 8, Ranks: 2, Unit: "ns",
		Ours: Value{4.5, 4.5, 4.5}, Samples: Samples{4.5}}
	if err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("without a baseline: got %+v, %v", r, err)
	}
	for _, bad := range []string{"", "put\t-\t8\t2\tns\t4.5", "put\t-\t8\t2\tns\t\t-",
		"put\t-\tx\t2\tns\t1\t1", "put\t-\t8\t2\tMB/s\t1 inf\t-",
		"put\t-\t8\t2\tns\t1\tq"} {
		if _, err := ParseRow(bad); err == nil {
			t.Errorf("%q was taken for a figure", bad)
		}
	}
}

// A job's figures arrive, wrong totals are counted, and what fails is told.
func TestJob(t *testing.T) {
	line := `put\t-\t8\t2\tns\t4.5 4.1 5\t-\n`
	var rows []Row
	run := func(script string) (int, error) {
		rows = nil
		j := Job{Title: "here", Argv: []string{"sh", "-c", script},
			Env: []string{"FIGURE=1"}}
		return j.Run(func(r Row) { rows = append(rows, r) })
	}
	wrong, err := run(`test "$FIGURE" = 1 && printf 'PERF\t` + line +
		`CHECK\tlock\t5\t5\tok\nCHECK\tacc\t4\t5\tWRONG\n'`)
	if err != nil || wrong != 1 || len(rows) != 1 || rows[0].Where != "here" {
		t.Errorf("%d wrong, %+v, %v", wrong, rows, err)
	}
	if _, err := run("exit 3"); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("a job that fails: %v", err)
	}
	if _, err := run("echo nothing"); err == nil {
		t.Error("a job without figures was taken")
	}
}

// TestUnits compares sizes and amounts as they are printed.
func TestUnits(t *testing.T) {
	for got, want := range map[string]string{
		Size(0): "-", Size(8): "8 B", Size(4096): "4 KiB", Size(3 << 20): "3 MiB",
		Amount(3.25, "ns"):   "3.25 ns",
		Amount(100000, "ns"): "100 us", Amount(2.5e9, "ns"): "2.50 s",
		Amount(56917, "MB/s"): "56.9 GB/s", Amount(-5, "%"): "-5.00 %",
		Amount(0.5, ""): "0.50", Amount(0.5, "MB/s"): "500 kB/s",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// count is how many elements of a name a picture has; it must be XML.
func count(t *testing.T, picture io.Reader, name string) int {
	t.Helper()
	n := 0
	for d := xml.NewDecoder(picture); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == name {
			n++
		}
	}
}

// TestDraw counts the lines and bands of the charts of a few figures.
func TestDraw(t *testing.T) {
	var rows []Row
	for bytes := int64(1024); bytes <= 16<<10; bytes *= 2 {
		v := float64(bytes)
		rows = append(rows, Row{Op: "put-bandwidth", Bytes: bytes, Unit: "MB/s",
			Ours: Value{v, v / 2, v * 2}, Raw: Value{v, v, v}, Where: "a & b"},
			Row{Op: "put-strided", Bytes: bytes, Unit: "ns",
				Ours: Value{v, v / 2, v * 2}, Where: "a & b"},
			Row{Op: "overlap-put", Bytes: bytes, Unit: "%", Ours: Value{80, -30, 90},
				Where: "a & b"})
	}
	dir := t.TempDir()
	if one := Footer("1.0", 1); strings.Contains(one, "medians") {
		t.Errorf("of one repetition: %s", one)
	}
	if err := Draw(dir, Common, rows, Footer("1.0", 3)); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]struct {
		lines, bands int
		text         string
	}{
		"bandwidth-a-b.svg": {2, 1, "put, raw"}, // a band only where there is a spread
		"strided-a-b.svg":   {1, 1, "1 GB/s"},   // bytes a ns
		"overlap-a-b.svg":   {1, 1, "80 %"},
	} {
		picture, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		lines, bands := count(t, bytes.NewReader(picture), "polyline"),
			count(t, bytes.NewReader(picture), "polygon")
		if lines != want.lines || bands != want.bands ||
			!bytes.Contains(picture, []byte(">"+want.text+"<")) ||
			!bytes.Contains(picture, []byte("libarmci 1.0")) ||
			bytes.Contains(picture, []byte("NaN")) {
			t.Errorf("%s: %d lines, %d bands:\n%s", file, lines, bands, picture)
		}
	}
	if files, _ := filepath.Glob(dir + "/*"); len(files) != 3 {
		t.Errorf("got %v", files)
	}
}

// What is not above zero has no place on a logarithmic axis, and one value makes an axis too.
func TestStrangeValues(t *testing.T) {
	for _, values := range [][]float64{{0, 0}, {-1, 5}, {7, 7}} {
		c := Chart{Unit: "ns",
			Series: []Series{{Points: []Point{{8, Value{values[0], values[0],
				values[0]}}, {16, Value{values[1], values[1], values[1]}}}}}}
		var out bytes.Buffer
		if err := c.Write(&out); err != nil || strings.Contains(out.String(), "NaN") ||
			strings.Contains(out.String(), "Inf") {
			t.Errorf("%v: %v\n%s", values, err, out.String())
		}
	}
}

// An axis with a label of its own is linear, and its numbers are no sizes.
func TestLinearAxis(t *testing.T) {
	c := Chart{Unit: "MB/s", XLabel: "late by, ms",
		Series: []Series{{Name: "put", Points: []Point{{0, Value{5, 5, 5}},
			{10, Value{5, 5, 5}}}}}}
	var out bytes.Buffer
	if err := c.Write(&out); err != nil || strings.Contains(out.String(), "KiB") ||
		strings.Contains(out.String(), "NaN") ||
		!strings.Contains(out.String(), ">late by, ms<") || !strings.Contains(out.String(),
		">8<") || !strings.Contains(out.String(), `cx="664"`) {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestCSV(t *testing.T) {
	var out bytes.Buffer
	err := WriteCSV(&out, []Row{{Op: "put", Shape: "-", Bytes: 8, Ranks: 2, Unit: "ns",
		Ours: Value{4.5, 4, 5}, Where: "here"}})
	if want := "put,-,8,2,here,ns,4.5,4,5,0,0,0,0,,\n"; err != nil ||
		!strings.HasSuffix(out.String(), want) {
		t.Errorf("%v, got %s", err, out.String())
	}
}

// What is written is read again, and what is damaged is not taken.
func TestReadCSV(t *testing.T) {
	want := []Row{{Op: "put", Shape: "-", Bytes: 8, Ranks: 2, Unit: "ns",
		Ours: Value{4.5, 4, 5}, Where: "here, there"},
		{Op: "get", Shape: "4x4", Bytes: 128, Ranks: 4, Unit: "MB/s", Ours: Value{3, 2, 4},
			Raw: Value{6, 5, 7}, Ratio: 0.5, Where: "x",
			Samples: Samples{2, 3, 4}, RawSamples: Samples{5, 7, 6}}}
	var out bytes.Buffer
	if err := WriteCSV(&out, want); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if got, err := ReadCSV(&out); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, got %+v", err, got)
	}
	if _, err := ReadCSV(strings.NewReader(strings.Replace(text, "4.5", "x", 1))); err == nil {
		t.Error("a damaged file was taken")
	}
}

// Files of programs that did not write samples are read without them.
func TestReadCSVWithoutSamples(t *testing.T) {
	got, err := ReadCSV(strings.NewReader(strings.Join(columns[:13], ",") +
		"\nput,-,8,2,here,ns,4.5,4,5,0,0,0,0\n"))
	want := []Row{{Op: "put", Shape: "-", Bytes: 8, Ranks: 2, Unit: "ns",
		Ours: Value{4.5, 4, 5}, Where: "here"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, got %+v", err, got)
	}
}

// TestCosts shows that a lower rate costs more, and that only times and rates beside a baseline
// have costs.
func TestCosts(t *testing.T) {
	for _, c := range []struct {
		unit string
		raw  Samples
		want float64
	}{{"ns", Samples{1, 2}, 3}, {"MB/s", Samples{8, 16}, 3}, {"%", Samples{1, 2}, 0},
		{"ns", nil, 0}} {
		r := Row{Unit: c.unit, Samples: Samples{4, 4}, RawSamples: c.raw}
		if got := r.Costs().Median(); got != c.want {
			t.Errorf("%v beside %v costs %v", c.unit, c.raw, got)
		}
	}
}

// TestSpread compares percentiles, and the distance of quartiles by the median.
func TestSpread(t *testing.T) {
	s := Samples{8, 2, 4, 6, 10, 12, 14, 16}
	if s.Percentile(25) != 4 || s.Percentile(75) != 12 || s.Percentile(100) != 16 {
		t.Errorf("quartiles %v, %v", s.Percentile(25), s.Percentile(75))
	}
	if got := s.Spread(); got != 8.0/9 {
		t.Errorf("spread %v", got)
	}
	twenty := make(Samples, 20)
	for i := range twenty {
		twenty[i] = float64(20 - i)
	}
	for want, of := range map[float64]Samples{7: {7}, 9: {3, 9}, 18: twenty} {
		if got := of.Percentile(90); got != want {
			t.Errorf("%v: %v, want %v", of, got, want)
		}
	}
	if (Samples{}).Spread() != 0 || (Samples{}).Percentile(90) != 0 {
		t.Error("of no samples")
	}
}

func TestMedian(t *testing.T) {
	for want, of := range map[float64][]float64{0: nil, 3: {5, 3, 1}, 4: {9, 3, 5, 1}} {
		if got := Samples(of).Median(); got != want {
			t.Errorf("of %v: %v", of, got)
		}
	}
}

// Each value is a bar, as high as it is beside the others; what there is no value of has none.
func TestBars(t *testing.T) {
	b := Bars{Unit: "ns", Groups: []string{"1 < 2", "2 x 2"}, Series: []BarSeries{
		{Name: "MPI", Values: []Value{{200, 100, 300}, {100, 100, 100}}},
		{Name: "ARMCI", Values: []Value{{50, 50, 50}, {}}}}}
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if n := strings.Count(text, "<title>"); n != 3 || strings.Contains(text, "NaN") ||
		!strings.Contains(text, "ARMCI, 1 &lt; 2: 50.0 ns") {
		t.Errorf("%d bars:\n%s", n, text)
	}
	if n := count(t, strings.NewReader(text), "polyline"); n != 1 {
		t.Errorf("%d bars show a spread, one has one", n)
	}
	if !strings.Contains(text, `height="106.8"`) || !strings.Contains(text, `height="213.6"`) {
		t.Errorf("one bar is not twice as high as the other:\n%s", text)
	}
	b.Log = true
	out.Reset()
	if err := b.Write(&out); err != nil || strings.Contains(out.String(), "NaN") ||
		!strings.Contains(out.String(), ">100 ns<") {
		t.Errorf("over a logarithmic axis: %v\n%s", err, out.String())
	}
	if err := (&Bars{}).Write(&out); err != nil || strings.Contains(out.String(), "NaN") {
		t.Errorf("no bars at all: %v", err)
	}
}

var (
	viewBox   = regexp.MustCompile(`viewBox="0 0 ([0-9.]+) `)
	startText = regexp.MustCompile(`<text x="([0-9.]+)" y="[0-9.]+"` +
		`( font-size="[0-9]+")?[^>]*>([^<]*)<`)
)

// outside returns the first text of a picture that its right edge cuts, "" if there is none. Texts
// that end or are centred at their place are labels of the grid, which have room.
func outside(picture string) string {
	width := 0.0
	if m := viewBox.FindStringSubmatch(picture); m != nil {
		width, _ = strconv.ParseFloat(m[1], 64)
	}
	for _, m := range startText.FindAllStringSubmatch(picture, -1) {
		if strings.Contains(m[0], "text-anchor") {
			continue
		}
		x, _ := strconv.ParseFloat(m[1], 64)
		size := 13.0
		if m[2] != "" {
			size, _ = strconv.ParseFloat(strings.Trim(m[2], ` font-size="`), 64)
		}
		if x+textWidth(html.UnescapeString(m[3]), size) > width {
			return m[3]
		}
	}
	return ""
}

// Names, titles and footers are inside the picture, however long; a spread beyond the axis ends in
// a tip; bars below 0 hang from it.
func TestInside(t *testing.T) {
	long := strings.Repeat("a long name ", 6)
	b := Bars{Unit: "%", Footer: strings.Repeat(long, 4), Groups: []string{"tcp 2x1"},
		Marks: []Mark{{Name: long, Low: 14, High: 25}},
		Series: []BarSeries{{Name: "up", Values: []Value{{10, 5, 900}}},
			{Name: "down", Values: []Value{{-10, -10, -10}}}}}
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if cut := outside(text); cut != "" {
		t.Errorf("outside of the picture: %s", cut)
	}
	if count(t, strings.NewReader(text), "polygon") != 1 || strings.Contains(text, "NaN") {
		t.Errorf("not one tip:\n%s", text)
	}
	if outside(`<svg viewBox="0 0 900 480"><text x="720" y="62">`+long+`</text>`) == "" {
		t.Error("a name that is cut is not found")
	}
}

// JSON and Go's benchmark format have the figures that were measured.
func TestFormats(t *testing.T) {
	rows := []Row{{Op: "put-strided", Shape: "4x4", Bytes: 128, Ranks: 2, Unit: "ns",
		Ours: Value{5, 4, 9}}, {Op: "put", Shape: "-", Bytes: 8, Ranks: 2, Unit: "MB/s",
		Ours: Value{7, 6, 8}}}
	run := Run{Version: "1.0", Where: "here", Repetitions: 3}
	var out bytes.Buffer
	if err := WriteJSON(&out, run, rows); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version string
		Figures []struct {
			Operation, Shape, Unit  string
			Bytes                   int64
			Median, Least, Greatest float64
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got.Figures) != 2 ||
		got.Version != "1.0" || got.Figures[0].Shape != "4x4" ||
		got.Figures[0].Greatest != 9 || got.Figures[1].Shape != "" ||
		got.Figures[1].Bytes != 8 {
		t.Errorf("%v, %+v", err, got)
	}
	out.Reset()
	if err := WriteBenchmarks(&out, run, rows); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"BenchmarkPutStrided/shape=4x4/ranks=2 1 4 ns/op\n",
		"BenchmarkPutStrided/shape=4x4/ranks=2 1 5 ns/op\n",
		"BenchmarkPut/bytes=8/ranks=2 1 8 MB/s\n", "libarmci: 1.0\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no %q in\n%s", line, out.String())
		}
	}
}

func TestLibrarySays(t *testing.T) {
	const line = "[3@node1] MPI_Init: no transport"
	for text, want := range map[string]string{
		"": "", "a warning\n" + line + "\nmore\n": line, "[host:123] of Open MPI\n": "",
		"behind " + line: ""} {
		if got := LibrarySays([]byte(text)); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

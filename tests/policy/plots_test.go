// SPDX-License-Identifier: BSD-3-Clause

// Pictures of the documents: all their names are inside, and below each stands on what it was
// measured, when, and of how many repetitions it is.

package policy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	pictureWidth = regexp.MustCompile(`viewBox="0 0 ([0-9.]+) `)
	pictureText  = regexp.MustCompile(`<text x="([0-9.]+)"([^>]*)>([^<]*)</text>`)
	textSize     = regexp.MustCompile(`font-size="([0-9]+)"`)
	repetitions  = regexp.MustCompile(`[0-9]+ repetitions`)
)

// TestPictures looks at every picture below docs/plots.
func TestPictures(t *testing.T) {
	root, count := filepath.Join("..", "..", "docs", "plots"), 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".svg" {
			return err
		}
		text, err := os.ReadFile(path)
		count++
		for _, problem := range judgePicture(string(text)) {
			t.Errorf("%s: %s", path, problem)
		}
		return err
	})
	if err != nil || count == 0 {
		t.Errorf("%d pictures, %v", count, err)
	}
}

// pixels is a number of a picture.
func pixels(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64) // the pattern has only digits
	return v
}

// judgePicture returns what is wrong with a picture. A letter of the widest usual font is 0.62
// times as wide as it is high.
func judgePicture(picture string) (problems []string) {
	width := 0.0
	if m := pictureWidth.FindStringSubmatch(picture); m != nil {
		width = pixels(m[1])
	}
	all := ""
	for _, m := range pictureText.FindAllStringSubmatch(picture, -1) {
		all += " " + m[3]
		size := 13.0
		if s := textSize.FindStringSubmatch(m[2]); s != nil {
			size = pixels(s[1])
		}
		if !strings.Contains(m[2], "text-anchor") &&
			pixels(m[1])+0.62*size*float64(len([]rune(m[3]))) > width {
			problems = append(problems, "cut at the edge: "+m[3])
		}
	}
	if !repetitions.MatchString(all) || strings.Contains(all, " of 1 repetition") ||
		strings.Contains(all, "not recorded") {
		problems = append(problems, "does not say of how many repetitions it is")
	}
	if !strings.Contains(all, "2026") || !strings.Contains(all, "libarmci") {
		problems = append(problems, "does not say when and with what it was measured")
	}
	if strings.Contains(all, "RDMA") && !strings.Contains(all, "software") {
		problems = append(problems, "does not say that RDMA is a device in software")
	}
	return problems
}

// TestJudgePicture shows what is found.
func TestJudgePicture(t *testing.T) {
	const begin, end = `<svg viewBox="0 0 900 500">`,
		`<text x="92" y="1">libarmci 0.1.0, 28 November 2026, ` +
			`medians of 6 repetitions</text>`
	for text, want := range map[string]int{
		begin + end: 0,
		begin:       2,
		begin + `<text x="720" y="1">a name that is far too long for it</text>` + end: 1,
		begin + `<text x="9" y="1">over RDMA</text>` + end:                            1,
		begin + strings.Replace(end, "6 rep", "1 rep", 1):                             1,
	} {
		if got := judgePicture(text); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// SPDX-License-Identifier: BSD-3-Clause

// Package anchor makes the anchors of headings, which links in the documents name. It must not know
// of pages: two headings of a page may get the same anchor.
package anchor

import (
	"strings"
	"unicode"
)

// Of returns the anchor that a forge gives to a heading: small letters, digits, hyphens for spaces.
func Of(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// SPDX-License-Identifier: BSD-3-Clause

// What C learns about rows.
package fastpath

import "testing"

// What requests for rows that lie far apart take is learnt within some transfers, no single one
// that was held up counts for much, and a way that is not taken any more is tried again.
func TestRowsFarApart(t *testing.T) {
	apart := 0.0
	for range 12 {
		apart = learnApart(apart, 50, 200)
	}
	if apart < 3.8 || apart > 4 {
		t.Errorf("requests take 4 times as long, %g is learnt", apart)
	}
	for range 12 {
		apart = learnApart(apart, 50, 40)
	}
	if apart < 1 || apart > 1.2 {
		t.Errorf("requests take as long as usual, %g is learnt", apart)
	}
	if once := learnApart(1, 50, 4000); once > 3 {
		t.Errorf("one transfer was held up, %g is learnt", once)
	}
	tries := 0
	for apart = 4; apart > 1.2; tries++ {
		apart = forgetApart(apart)
	}
	if tries < 50 || tries > 200 {
		t.Errorf("it is tried again after %d transfers", tries)
	}
}

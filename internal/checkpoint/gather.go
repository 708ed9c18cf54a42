// SPDX-License-Identifier: BSD-3-Clause

// Restoring a range from the files of members that held other parts of its array.
package checkpoint

import "fmt"

// Gather reads a range from the files of all members of a generation; nil memory: it checks what
// it would read. A range that all members have alike is read from the first member's file.
func Gather(saved []*Saved, i int, box *Box, mem []byte) error {
	for _, s := range saved {
		if i >= len(s.ranges) || s.ranges[i].box == nil {
			return fmt.Errorf("%s: range %d has no declared distribution: it can be "+
				"restored on %d members only", s.file.Name(), i, s.Members)
		}
		if !s.ranges[i].box.sameArray(box) {
			return fmt.Errorf("%s: range %d is of another array than the one declared",
				s.file.Name(), i)
		}
	}
	if len(box.Dims) == 0 {
		return saved[0].Restore(i, mem)
	}
	found, err := parts(saved, i, box)
	if err != nil {
		return err
	}
	for k, part := range found {
		if part == nil {
			continue
		}
		source, err := saved[k].source(i)
		if err != nil {
			return err
		}
		from := saved[k].ranges[i].box
		err = part.eachRow(from, box, func(fromAt, toAt, n int64) error {
			if mem == nil {
				return source.readAt(fromAt, n, nil)
			}
			return source.readAt(fromAt, n, mem[toAt:toAt+n])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// parts is what each file has of a box, nil where there is nothing. All of the box must be there,
// once.
func parts(saved []*Saved, i int, box *Box) ([]*Box, error) {
	all := make([]*Box, len(saved))
	want, _ := box.bytes()
	for k, s := range saved {
		c := s.ranges[i].box.intersect(box)
		if c == nil {
			continue
		}
		for j, o := range all[:k] {
			if o != nil && o.intersect(c) != nil {
				return nil, fmt.Errorf("%s: range %d of members %d and %d "+
					"overlap", s.file.Name(), i, j, k)
			}
		}
		all[k] = c
		n, _ := c.bytes()
		want -= n
	}
	if want != 0 {
		return nil, fmt.Errorf("%s and others: range %d: %d bytes of the array are in no "+
			"member's part", saved[0].file.Name(), i, want)
	}
	return all, nil
}

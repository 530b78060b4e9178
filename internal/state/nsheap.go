package state

import "slices"

// nsHeap orders the namespaces that have rows: a binary heap of which each
// space knows its place.
type nsHeap []*space

func (h *nsHeap) push(s *space) {
	*h = append(*h, s)
	h.up(len(*h) - 1)
}

func (h *nsHeap) remove(s *space) {
	i, last := int(s.heapAt), len(*h)-1
	s.heapAt = -1
	moved := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	if i == last {
		return
	}
	(*h)[i] = moved
	moved.heapAt = int32(i)
	h.down(i)
	h.up(int(moved.heapAt))
}

func (h nsHeap) up(i int) {
	s := h[i]
	for i > 0 {
		p := (i - 1) / 2
		if h[p].ns <= s.ns {
			break
		}
		h[i] = h[p]
		h[i].heapAt = int32(i)
		i = p
	}
	h[i] = s
	s.heapAt = int32(i)
}

func (h nsHeap) down(i int) {
	s := h[i]
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].ns < h[c].ns {
			c++
		}
		if s.ns <= h[c].ns {
			break
		}
		h[i] = h[c]
		h[i].heapAt = int32(i)
		i = c
	}
	h[i] = s
	s.heapAt = int32(i)
}

// upTo returns the namespaces that are <= limit, ascending. It looks only at
// these and at their children.
func (h nsHeap) upTo(limit int64) []int64 {
	var out []int64
	todo := []int{0}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if i < len(h) && h[i].ns <= limit {
			out = append(out, h[i].ns)
			todo = append(todo, 2*i+1, 2*i+2)
		}
	}
	slices.Sort(out)
	return out
}

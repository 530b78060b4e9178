package diag

import (
	"strings"
	"unicode/utf8"
)

// Suggest returns the candidate that the writer of name most likely meant, or "" if none is near. Case differences cost
// nothing; of equally near candidates the first wins, so the answer does not change from run to run.
func Suggest(name string, candidates []string) string {
	n := utf8.RuneCountInString(name)
	limit := max(1, (n+1)/3)
	if n <= 1 {
		limit = 0
	}
	best, bestDist := "", limit+1
	lower := []rune(strings.ToLower(name))
	for _, c := range candidates {
		if c == name || c == "" {
			continue
		}
		if d := distance(lower, []rune(strings.ToLower(c)), bestDist); d < bestDist {
			best, bestDist = c, d
		}
	}
	return best
}

// DidYouMean returns the hint `did you mean "x"?` for the nearest candidate, or "" if none is near.
func DidYouMean(name string, candidates []string) string {
	if s := Suggest(name, candidates); s != "" {
		return `did you mean "` + s + `"?`
	}
	return ""
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that turn a into b. It stops with limit
// as soon as the answer cannot be smaller.
func distance(a, b []rune, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	older, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		low := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], older[j-2]+1)
			}
			low = min(low, cur[j])
		}
		if low >= limit {
			return limit
		}
		older, prev, cur = prev, cur, older
	}
	return min(prev[len(b)], limit)
}

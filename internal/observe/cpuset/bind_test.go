package cpuset

import (
	"slices"
	"testing"

	"rumbench/internal/expect"
)

func TestChoose(t *testing.T) {
	all := expect.Value(Allowed())(t)
	for _, c := range []struct {
		list  Set
		n     int
		taken Set
		want  Set
		fails bool
	}{
		{nil, 0, nil, nil, false},
		{nil, 1, nil, all[:1], false},
		{all[len(all)-1:], 0, nil, all[len(all)-1:], false},
		{Set{1000}, 0, nil, nil, true},
		{nil, len(all), all[:1], nil, true},
		{nil, 1, all[:len(all)-1], all[len(all)-1:], false},
	} {
		got, err := Choose(c.list, c.n, c.taken)
		expect.True(t, slices.Equal(got, c.want) && (err != nil) == c.fails, c, got, err)
	}
}

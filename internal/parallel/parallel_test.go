package parallel_test

import (
	"errors"
	"fmt"
	"testing"

	"rumbench/internal/parallel"
)

func TestEach(t *testing.T) {
	done := make([]int, 100)
	if err := parallel.Each(len(done), func(i int) error { done[i]++; return nil }); err != nil {
		t.Fatal(err)
	}
	for i, n := range done {
		if n != 1 {
			t.Errorf("%d was done %d times", i, n)
		}
	}
	if err := parallel.Each(0, func(int) error { return errors.New("not called") }); err != nil {
		t.Error(err)
	}
	err := parallel.Each(9, func(i int) error {
		if i%3 == 0 {
			return nil
		}
		return fmt.Errorf("e%d", i)
	})
	if err == nil || err.Error() != "e1" {
		t.Error(err)
	}
}

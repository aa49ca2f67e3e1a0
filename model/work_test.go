package model_test

import (
	"reflect"
	"testing"

	"rumbench/internal/expect"
	"rumbench/model"
)

// Every field is added, also one that comes later.
func TestWorkAdd(t *testing.T) {
	var one, sum model.Work
	for i, v := 0, reflect.ValueOf(&one).Elem(); i < v.NumField(); i++ {
		v.Field(i).SetInt(int64(i + 1))
	}
	sum.Add(&one)
	sum.Add(&one)
	for i, v := 0, reflect.ValueOf(sum); i < v.NumField(); i++ {
		expect.Equal(t, v.Field(i).Int(), 2*int64(i+1), v.Type().Field(i).Name, 2*(i+1))
	}
	if got, want := one.Statements(), one.Reads+one.Writes+one.Others; got != want {
		t.Errorf("%d statements, want %d", got, want)
	}
}

package pgwire

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		code, severity string
		class          engine.Class
		hint           string
	}{
		{"40001", "ERROR", engine.Conflict, ""},
		{"08006", "ERROR", engine.Gone, ""},
		{"57P02", "FATAL", engine.Gone, ""},
		{"25P03", "FATAL", engine.Gone, ""},
		{"XX000", "PANIC", engine.Gone, ""},
		{"53100", "ERROR", engine.Fatal, "disk is full"},
		{"53200", "ERROR", engine.Fatal, "lower the cache"},
		{"42P01", "ERROR", engine.Fatal, ""},
	} {
		err := classify(&Error{Code: c.code, SeverityUnlocalized: c.severity, Severity: "FEHLER"})
		expect.True(t, engine.ClassOf(err) == c.class && strings.Contains(hint.Of(err), c.hint) && (c.hint == "") == (hint.Of(err) == ""), c.code, err, engine.ClassOf(err), hint.Of(err))
	}
	expect.True(t, errors.Is(classify(&Error{Code: "53100"}), syscall.ENOSPC), "a full disk is not the system's")
	err := connectError(&Error{Code: "53300", SeverityUnlocalized: "FATAL"})
	expect.True(t, engine.ClassOf(err) == engine.Fatal && strings.Contains(hint.Of(err), "max_connections"),
		"too many clients", err)
}

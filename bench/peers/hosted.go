package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"rumbench/engine"
	"rumbench/internal/server"
	"rumbench/model"
)

// hosted is a private server with rumbench's tables.
type hosted struct {
	server *server.Server
	db     engine.DB // removes rumbench's tables when it is closed
	at     target
}

// start starts the server and fills rumbench's tables with a job.
func (h *hosted) start(ctx context.Context, c server.Config, at func(server.Endpoint) target, fill job) (err error) {
	if h.server, err = server.Start(ctx, c); err != nil {
		return err
	}
	h.at = at(h.server.Endpoint())
	h.at.Schema, h.at.Durability, h.at.PID = "rumbench", model.DurabilityProcess, h.server.PID()
	fill.Target = h.at
	if h.db, err = fill.fill(ctx); err != nil {
		err = errors.Join(err, h.stop())
	}
	return err
}

func (h *hosted) stop() error {
	var err error
	if h.db != nil {
		err = h.db.Close()
	}
	return errors.Join(err, h.server.Stop())
}

// oltp are the tests that are compared with sysbench and pgbench.
var oltp = []string{"oltp_point_select", "oltp_read_only", "oltp_update_index", "oltp_read_write", "oltp_insert"}

// counted parses a number of transactions from the output of a program.
func counted(pattern *regexp.Regexp, output string) (int64, error) {
	m := pattern.FindStringSubmatch(output)
	if m == nil {
		return 0, fmt.Errorf("it prints no number of transactions:\n%s", output)
	}
	return strconv.ParseInt(m[1], 10, 64)
}

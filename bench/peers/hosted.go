package main

import (
	"context"
	"errors"

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

// start starts the server and fills rumbench's tables.
func (h *hosted) start(ctx context.Context, c server.Config, at func(server.Endpoint) target) (err error) {
	if h.server, err = server.Start(ctx, c); err != nil {
		return err
	}
	h.at = at(h.server.Endpoint())
	h.at.Schema, h.at.Durability, h.at.PID = "rumbench", model.DurabilityProcess, h.server.PID()
	load := job{h.at, "sysbench", map[string]any{"tests": []any{}, "table_size": rows}}
	if h.db, err = load.fill(ctx); err != nil {
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

// job returns a test of rumbench's workload sysbench on the server's tables.
func (h *hosted) job(test string, clients, each int) job {
	return job{h.at, "sysbench", map[string]any{"tests": []any{test}, "clients": []any{clients}, "table_size": rows,
		"events": each, "load": false, "check": "none"}}
}

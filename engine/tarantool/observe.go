package tarantool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// readBack are the settings that results show.
var readBack = []string{
	"wal_mode", "wal_max_size", "checkpoint_interval", "checkpoint_count", "checkpoint_wal_threshold",
	"snap_io_rate_limit",
	"memtx_memory", "memtx_max_tuple_size", "slab_alloc_factor", "readahead", "net_msg_max", "too_long_threshold",
	"vinyl_memory", "vinyl_cache", "vinyl_page_size", "vinyl_range_size", "vinyl_run_count_per_level",
	"vinyl_run_size_ratio",
	"vinyl_bloom_fpr", "vinyl_read_threads", "vinyl_write_threads", "vinyl_max_tuple_size", "vinyl_timeout",
}

// settingsOf reads the settings of a server, and the level that they result in.
func settingsOf(ctx context.Context, c *conn) (vars map[string]string, level model.Durability, err error) {
	var raw map[string]json.RawMessage
	if err := c.eval(ctx, &raw, "return require('json').encode(box.cfg)"); err != nil {
		return nil, "", fmt.Errorf("read the settings: %w", err)
	}
	vars = map[string]string{}
	for name, v := range raw {
		var text string
		if json.Unmarshal(v, &text) != nil {
			text = string(v)
		}
		vars[name] = text
	}
	for l, mode := range walModes {
		if mode == vars["wal_mode"] {
			level = l
		}
	}
	return vars, level, nil
}

// vars reads the settings, and returns an error if the durability differs from the requested
// one, or the server may only be read.
func (d *db) vars(ctx context.Context, c *conn) (map[string]string, error) {
	vars, level, err := settingsOf(ctx, c)
	if err != nil {
		return nil, err
	}
	if d.Storage == vinyl && level == model.DurabilityOS {
		level = model.DurabilityProcess // the list of its files is not synced
	}
	return vars, errors.Join(d.CheckSession(d.Server.Schema, vars["read_only"] == "true"),
		d.CheckDurability([]model.Durability{level}, []string{"wal_mode = " + vars["wal_mode"]}))
}

func (d *db) Settings(ctx context.Context) ([]engine.Setting, error) {
	vars, err := d.vars(ctx, d.admin)
	if err != nil {
		return nil, err
	}
	isolation, compression := model.Serializable.String(), "zstd, of runs and logs"
	if d.Storage == memtx {
		isolation, compression = "every operation by itself: there are no transactions",
			"none in memory; zstd, of checkpoints and logs"
	}
	out := append(identity(d.admin, d.Durability),
		engine.Setting{Name: "storage", Value: d.Storage, Source: engine.AsSet},
		engine.Setting{Name: "isolation", Value: isolation, Source: engine.AsSet},
		engine.Setting{Name: "compression", Value: compression, Source: engine.AsSet})
	return append(out, d.ReadBack(vars, readBack...)...), nil
}

func identity(c *conn, level model.Durability) []engine.Setting {
	return []engine.Setting{
		{Name: engine.ServerVersion, Value: c.Version, Source: engine.ReadBack},
		{Name: "durability", Value: string(level), Source: engine.ReadBack},
	}
}

// Sizes reports the size of tables and indexes: for memtx in memory, without the overhead
// of its allocator; for vinyl on disk, and in memory before it is dumped.
func (d *db) Sizes(ctx context.Context) (out []engine.Size, err error) {
	if err := d.do(ctx, d.admin, &out, "sizes", encode(d.tableNames())); err != nil {
		return nil, err
	}
	kind, total := engine.Exact, int64(0)
	if d.Storage == memtx {
		kind = engine.Estimate
	}
	for i := range out {
		out[i].Kind = kind
		total += out[i].Bytes
	}
	return append(out, engine.Size{Bytes: total, Kind: kind}), nil
}

var files = engine.FileUses{
	{Pattern: "*.xlog", Use: engine.UseLog}, {Pattern: "*.vylog", Use: engine.UseSystem},
	{Pattern: "*.inprogress", Use: engine.UseTemp},
	{Pattern: "*.snap", Use: engine.UseData}, {Pattern: "*.run", Use: engine.UseData},
	{Pattern: "*.index", Use: engine.UseData},
}

func (d *db) FileClass(context.Context) (func(path string) engine.FileClass, error) {
	return fileClass, nil
}

func fileClass(path string) engine.FileClass {
	switch filepath.Ext(path) {
	case ".xlog":
		return engine.LogFile
	case ".snap", ".run", ".index":
		return engine.DataFile
	case ".inprogress":
		return engine.TempFile
	}
	return engine.SystemFile
}

// snapshot makes a checkpoint, after the one that a full log may have begun: error 120.
const snapshot = `while true do
	local done, err = pcall(box.snapshot)
	if done then break end
	if type(err) ~= 'cdata' or err.code ~= 120 then error(err) end
	require('fiber').sleep(0.01)
end`

// Settle makes a checkpoint, for which vinyl dumps its data in memory, and waits until
// vinyl has no pending compaction.
func (d *db) Settle(ctx context.Context) ([]engine.SettleAction, error) {
	var s engine.Settling
	s.Do("checkpoint", func() (string, error) {
		var level0 int64
		err := d.admin.eval(ctx, &level0, "local n = box.stat.vinyl().memory.level0 "+snapshot+" return tostring(n)")
		if d.Storage == memtx {
			return "", err
		}
		return quantity.Bytes(level0) + " in memory dumped", err
	})
	if d.Storage == vinyl {
		s.Do("compaction", func() (string, error) {
			first, debt := int64(-1), int64(0)
			err := engine.AwaitRest(ctx, 50*time.Millisecond, 5, func() (bool, error) {
				var state struct{ Tasks, Debt int64 }
				err := d.admin.eval(ctx, &state, "local s = box.stat.vinyl().scheduler "+
					"return require('json').encode({tasks = s.tasks_inprogress, debt = s.compaction_queue})")
				if debt = state.Debt; first < 0 {
					first = debt
				}
				return state.Tasks == 0 && state.Debt == 0, err
			})
			return quantity.Bytes(first) + " to compact before, " + quantity.Bytes(debt) + " after", err
		})
	}
	return s.Result()
}

// watch only queries a server.
type watch struct {
	*serverkit.Host
	*reader
}

func (Engine) Watch(ctx context.Context, dsn string) (engine.Watch, error) {
	a, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	host := serverkit.NewHost(mark, programs)
	c, err := connect(ctx, a, host.Dial)
	if err != nil {
		return nil, err
	}
	if _, _, err := settingsOf(ctx, c); err != nil { // the user may not be allowed to query it
		return nil, errors.Join(err, c.Close())
	}
	return &watch{host, &reader{conn: c}}, nil
}

func (w *watch) Settings(ctx context.Context) ([]engine.Setting, error) {
	vars, level, err := settingsOf(ctx, w.conn)
	if err != nil {
		return nil, err
	}
	return append(identity(w.conn, level), serverkit.ReadBack(vars, readBack...)...), nil
}

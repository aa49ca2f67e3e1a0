package cli

import (
	"context"
	"errors"

	"rumbench/internal/host"
	"rumbench/internal/server"
)

// programs tells which servers can be used on this machine.
func programs(ctx context.Context) (all []host.Program) {
	for _, kind := range server.Kinds() {
		if server.Package(kind) == "" {
			continue // there is no package; plans name its program
		}
		p := host.Program{Name: kind, Package: server.Package(kind)}
		found, err := server.Find(ctx, kind, "")
		var probe *server.ProbeError
		switch {
		case err == nil:
			p.Found, p.Version = found.Path, found.Version
		case errors.As(err, &probe):
			p.Found, p.Problem = probe.Path, probe.Error()
		}
		all = append(all, p)
		if kind == server.MariaDB {
			all = append(all, host.Program{Name: "myrocks", Package: server.MyRocksPackage, Found: server.MyRocks(found)})
		}
	}
	return all
}

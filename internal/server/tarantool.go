package server

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// tarantool is Tarantool's server. Its configuration is a script that it runs.
var tarantool = kind{
	user: "tarantool", superuser: "guest", aptPackage: "tarantool", socket: "s", stop: syscall.SIGTERM,
	paths:     []string{"/opt/tarantool/bin/tarantool", "/usr/local/bin/tarantool", "/usr/bin/tarantool"},
	arguments: func(s *Server) []string { return []string{s.seen(s.configFile())} },
	configure: configureTarantool, variables: tarantoolVariables,
	version: versionIn(regexp.MustCompile(`^Tarantool (\d+\.\d+\.\d+)`)),
}

// configureTarantool writes the script. The server listens at the socket only,
// which none but root and its own user can access, so guest has all rights.
func configureTarantool(s *Server) error {
	settings := append([]Setting{}, s.Settings...)
	settings = append(settings,
		Setting{"listen", "unix/:./" + s.seen(s.endpoint.Socket)},
		Setting{"feedback_enabled", "false"}, // it would report to its makers
	)
	text := "box.cfg{\n" + lines(settings, quoteLua) + "}\n" +
		"box.schema.user.grant('guest', 'super', nil, nil, {if_not_exists = true})\n"
	return os.WriteFile(s.configFile(), []byte(text), 0o644)
}

// quoteLua writes a value in Lua's syntax, and ends the line of a table.
func quoteLua(v string) string {
	if _, err := strconv.ParseFloat(v, 64); err == nil || v == "true" || v == "false" {
		return v + ","
	}
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(v) + "',"
}

// tarantoolVariables reads the names from the table that the server checks its
// configuration with, which only its own functions hold.
func tarantoolVariables(ctx context.Context, p Program) ([]string, error) {
	const script = `
local function find(f, depth)
	for i = 1, 60 do
		local name, v = debug.getupvalue(f, i)
		if name == 'template_cfg' then return v end
		local found = type(v) == 'function' and depth > 0 and find(v, depth - 1)
		if found then return found end
	end
end
for name in pairs(find(box.cfg, 4)) do print(name) end
os.exit(0)`
	text, err := p.output(ctx, "-e", script)
	return strings.Fields(text), err
}

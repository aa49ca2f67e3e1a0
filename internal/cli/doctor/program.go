package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"rumbench/internal/server"
	"rumbench/internal/text/quantity"
)

// Program is a program that targets need, such as a database server.
type Program struct {
	Name    string
	Package string // the Debian or Ubuntu package that contains it
	Found   string // its path; "" if missing
	Version string
	Problem string // why it cannot be used although it is installed
}

// finding returns a program as a finding, like those of the checks.
func (p Program) finding(uid int) Finding {
	f := Finding{
		Name: "program " + p.Name, Status: OK, Found: strings.TrimSpace(p.Found + " " + p.Version),
		Wanted: "package " + p.Package, Why: "targets of a plan that name it need it",
	}
	switch {
	case p.Found == "":
		f.Status, f.Found = Warn, "missing"
		lines := quantity.Texts(InstallCommands([]Program{p}, uid), func(c []string) string { return strings.Join(c, " ") })
		f.Fix = strings.Join(lines, "\n")
	case p.Problem != "":
		f.Status, f.Found = Warn, f.Found+": "+p.Problem
	}
	return f
}

// InstallCommands returns the commands that install the packages of all missing
// programs; none if nothing is missing.
func InstallCommands(programs []Program, uid int) [][]string {
	var missing []string
	for _, p := range programs {
		if p.Found == "" && p.Package != "" && !slices.Contains(missing, p.Package) {
			missing = append(missing, p.Package)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	apt := []string{"sudo", "apt-get"}
	if uid == 0 {
		apt = apt[1:]
	}
	return [][]string{slices.Concat(apt, []string{"update"}),
		slices.Concat(apt, []string{"install", "-y", "--no-install-recommends"}, missing)}
}

// Install runs the commands, and shows each one and its output.
func Install(ctx context.Context, commands [][]string, out io.Writer) error {
	for _, c := range commands {
		fmt.Fprintf(out, "+ %s\n", strings.Join(c, " "))
		cmd := exec.CommandContext(ctx, c[0], c[1:]...)
		cmd.Stdout, cmd.Stderr = out, out
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive") // no user is there to answer
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(c, " "), err)
		}
	}
	return nil
}

// Servers returns the database servers that can be used on this machine, and
// the missing ones.
func Servers(ctx context.Context) (programs []Program) {
	for _, kind := range server.Kinds() {
		if server.Package(kind) == "" {
			continue // there is no package; plans name its program
		}
		p := Program{Name: kind, Package: server.Package(kind)}
		found, err := server.Find(ctx, kind, server.Source{})
		var probe *server.ProbeError
		switch {
		case err == nil:
			p.Found, p.Version = found.Path, found.Version
		case errors.As(err, &probe):
			p.Found, p.Problem = probe.Path, probe.Error()
		}
		programs = append(programs, p)
		if kind == server.MariaDB {
			programs = append(programs, Program{Name: server.MyRocksName, Package: server.MyRocksPackage,
				Found: server.MyRocks(found)})
		}
	}
	return append(programs, containers(ctx))
}

// containers returns the program that would run the images of targets: the first that can.
func containers(ctx context.Context) Program {
	p := Program{Name: "containers", Package: "podman"}
	for _, runtime := range server.Runtimes() {
		path, err := exec.LookPath(runtime)
		if err != nil {
			continue
		}
		p.Found, p.Problem = path, ""
		err = server.Usable(ctx, runtime)
		if err == nil {
			return p
		}
		p.Problem = err.Error()
	}
	return p
}

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/result"
)

const joinPlan = `
workload: ibench
params: {rows: 2k, query_seconds: 0.3, steps: [l.i0, l.x, qr100]}
targets: [sqlite]
trials: 3
machines: [{name: "n[1-2]", join: true}]
spread: {over: ["n[1-2]"]}
fleet: {address: "%s:7070"}
`

// Agents that others have started join a campaign with the file that it writes, each as one machine. What lets
// them in is nowhere else, and the port is closed when all are there.
func TestJoin(t *testing.T) {
	need.Long(t)
	machines := need.Machines(t, 2)
	h := newHost(t)
	t.Setenv("HOME", h.path("home"))
	bridge := machines[0].Gateway()
	h.write("plan.yaml", fmt.Sprintf(joinPlan, bridge))
	pass := h.path("home", ".cache/rumbench/join", bridge+"-7070.json")
	script, _ := h.run(0, "fleet", "manifest", "plan.yaml", "--slurm")
	h.contains("the script", script, "--nodes=2", "agent --join "+pass, "machines n1, n2")
	h.run(2, "fleet", "manifest", "plan.yaml", "--kubernetes")
	h.run(2, "fleet", "manifest", "plan.yaml")

	var agents []*exec.Cmd
	said := make([]bytes.Buffer, len(machines))
	for i, m := range machines { // before there is a campaign
		cmd := m.Command("rumbench", "agent", "--join", pass)
		cmd.Env = append(cmd.Env, fmt.Sprintf("SLURM_PROCID=%d", i))
		cmd.Stderr = &said[i]
		if i == 0 {
			expect.NoError(t, cmd.Start())
		}
		agents = append(agents, cmd)
	}
	wait(t, "the first agent waits for the file", func() bool { return strings.Contains(said[0].String(), "waiting: ") })
	c := h.start("run", "plan.yaml", "--out", "out")
	var held struct{ Tokens map[string]string }
	wait(t, "n1 has joined", func() bool {
		b, err := os.ReadFile(pass)
		return err == nil && json.Unmarshal(b, &held) == nil && strings.Contains(c.stderr.String(), "waiting for n1, n2")
	})
	if info, err := os.Stat(pass); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
	ports, err := exec.Command("ss", "-Hltn").Output()
	expect.True(t, err == nil && strings.Contains(string(ports), bridge+":7070") && !strings.Contains(string(ports), "0.0.0.0:7070"), ports, err)
	expect.NoError(t, agents[1].Start())
	wait(t, "all have joined", func() bool {
		_, err := os.Stat(pass)
		return err != nil
	})
	wait(t, "the campaign has begun", func() bool {
		_, err := os.Stat(h.path("out", "campaign.json"))
		return err == nil
	})
	for _, secret := range held.Tokens {
		for _, where := range leaks(t, secret, h.path("out")) {
			t.Errorf("a token is in %s", where)
		}
	}
	wait(t, "the port is closed", func() bool {
		ports, err := exec.Command("ss", "-Hltn").Output()
		return err == nil && !strings.Contains(string(ports), bridge+":7070")
	})
	c.complete()
	h.contains("the notes", c.stderr.String(), "waiting for n1, n2: rumbench agent --join "+pass)
	used := map[string]bool{}
	for n := 1; n <= 3; n++ {
		trial := h.trial(fmt.Sprintf("out/trials/sqlite.%d", n))
		expect.Equal(t, trial.Status, result.Complete, "trial", n)
		used[trial.Machine] = true
	}
	expect.True(t, used["n1"] && used["n2"], "trials ran on", used)
	for i, a := range agents {
		if err := a.Wait(); err != nil {
			t.Errorf("agent %d: %v: %s", i+1, err, &said[i])
		}
	}
	h.contains("what the first agent said", said[0].String(), "waiting: "+pass+" is not there")
}

// serve runs a server in its environment, nil is that of the test, until the end of the test.
func (h *host) serve(env []string, name string, args ...string) {
	h.Helper()
	var said bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.dir, env, &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	expect.NoError(h.T, cmd.Start())
	h.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if h.Failed() {
			h.Logf("%v: %s", cmd.Args, said.String()[max(0, said.Len()-4000):])
		}
	})
}

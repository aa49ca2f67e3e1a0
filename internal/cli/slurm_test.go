package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/need"
)

const slurmDir = "/opt/rumbench/slurm/usr/" // scripts/slurm.sh

// slurm is a cluster of Slurm whose nodes are machines.
type slurm struct {
	*host
	env []string
}

// startSlurm starts a cluster. It trusts everybody, and its tasks have the homes of their machines.
func startSlurm(t *testing.T, h *host, address string, machines []*need.Machine) *slurm {
	t.Helper()
	_, err := os.Stat(slurmDir + "bin/srun")
	need.Installed(t, err)
	plugins := slurmDir + "lib/x86_64-linux-gnu/slurm-wlm"
	name, err := os.Hostname()
	expect.NoError(t, err)
	state := need.TempDir(t)
	config := fmt.Sprintf(`ClusterName=test
SlurmctldHost=%s(%s)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
PluginDir=%s
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=%s/prolog
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=%[4]s
SlurmdSpoolDir=%[4]s/spool-%%n
SlurmctldPidFile=%[4]s/slurmctld.pid
SlurmdPidFile=%[4]s/%%n.pid
MpiDefault=none
ReturnToService=2
PartitionName=usual Nodes=m1,m2 Default=YES MaxTime=INFINITE State=UP
`, name, address, plugins, state)
	prolog := "#!/bin/sh\ncase $SLURMD_NODENAME in\n"
	for _, m := range machines {
		config += fmt.Sprintf("NodeName=%s NodeAddr=%s CPUs=2\n", m.Name, m.Address)
		prolog += fmt.Sprintf("%s) echo export HOME=%s; echo export RUMBENCH_LOCK=%s;;\n", m.Name, m.Home, m.Lock)
	}
	h.write("slurm.conf", config)
	expect.NoError(t, os.WriteFile(state+"/prolog", []byte(prolog+"esac\n"), 0o700))
	s := &slurm{h, append(os.Environ(), "SLURM_CONF="+h.path("slurm.conf"),
		"PATH="+slurmDir+"bin:"+os.Getenv("PATH"),
		"LD_LIBRARY_PATH="+plugins+":"+slurmDir+"lib/x86_64-linux-gnu")}
	h.serve(s.env, slurmDir+"sbin/slurmctld-wlm", "-D", "-i")
	for _, m := range machines {
		h.serve(s.env, "nsenter", "--net=/run/netns/"+m.Space(), "unshare", "--uts", "sh", "-c",
			`hostname "$0"; exec "$@"`, m.Name, slurmDir+"sbin/slurmd-wlm", "-D", "-d", slurmDir+"sbin/slurmstepd-wlm")
	}
	wait(t, "the nodes are there", func() bool {
		out, err := s.command("sinfo", "-h", "-t", "idle", "-o", "%D").CombinedOutput()
		return err == nil && strings.TrimSpace(string(out)) == fmt.Sprint(len(machines))
	})
	return s
}

func (s *slurm) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(slurmDir+"bin/"+name, args...)
	cmd.Env, cmd.Dir = s.env, s.dir
	return cmd
}

// The nodes of a job of Slurm are the machines of a campaign. When the job is cancelled the machines are lost, and
// nothing runs on them.
func TestSlurm(t *testing.T) {
	need.Long(t)
	machines := need.Machines(t, 2)
	h := newHost(t)
	t.Setenv("HOME", h.path("home"))
	bridge := machines[0].Gateway()
	s := startSlurm(t, h, bridge, machines)
	submit := func(plan string) {
		t.Helper()
		script, _ := h.run(0, "fleet", "manifest", plan, "--slurm")
		h.write("job.sh", script)
		if out, err := s.command("sbatch", "-o", "job.%j", "job.sh").CombinedOutput(); err != nil {
			t.Fatalf("sbatch: %v: %s", err, out)
		}
	}
	jobs := func() string {
		out, err := s.command("squeue", "-h").Output()
		expect.NoError(t, err)
		return string(out)
	}
	h.write("plan.yaml", fmt.Sprintf(joinPlan, bridge))
	submit("plan.yaml")
	_, stderr := h.run(0, "run", "plan.yaml", "--out", "out")
	h.contains("the notes", stderr, "waiting for n1, n2", "[3/3]")
	used := map[string]bool{}
	for n := 1; n <= 3; n++ {
		used[h.trial(fmt.Sprintf("out/trials/sqlite.%d", n)).Machine] = true
	}
	expect.True(t, used["n1"] && used["n2"], "trials ran on", used)
	wait(t, "the job has ended", func() bool { return jobs() == "" })

	h.write("long.yaml", strings.Replace(fmt.Sprintf(joinPlan, bridge), "query_seconds: 0.3", "query_seconds: 600", 1))
	c := h.start("run", "long.yaml", "--out", "cancelled", "--no-preflight")
	submit("long.yaml")
	wait(t, "agents and trials run", func() bool { return len(rumbenches(machines)) >= 4 })
	for _, id := range strings.Fields(jobs())[:1] {
		if out, err := s.command("scancel", id).CombinedOutput(); err != nil {
			t.Fatalf("scancel: %v: %s", err, out)
		}
	}
	if code := c.end(); code == 0 {
		t.Errorf("a campaign without machines: exit code %d: %s", code, c.stderr)
	}
	h.contains("the notes", c.stderr.String(), "was lost: its agent has ended")
	wait(t, "nothing runs", func() bool { return len(rumbenches(machines)) == 0 })
}

// rumbenches returns the processes of rumbench on machines.
func rumbenches(machines []*need.Machine) (pids []string) {
	for _, m := range machines {
		for _, pid := range m.Processes() {
			if name, _ := os.ReadFile("/proc/" + pid + "/comm"); strings.TrimSpace(string(name)) == "rumbench" {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

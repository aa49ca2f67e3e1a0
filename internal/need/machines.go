package need

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Machine is a network namespace with an SSH server: a machine of a fleet, as far as a test can have
// several. It shares files and processors with the others. Its clock is hours ahead of theirs.
type Machine struct {
	t       testing.TB
	Name    string // also for ssh
	Address string
	Home    string // of its user
	Lock    string // its RUMBENCH_LOCK
	space   string // the namespace
}

// spaces numbers the namespaces of this process: the kernel removes one some time after it is deleted.
var spaces atomic.Int32

// Machines makes machines on one network that only ssh reaches, and points RUMBENCH_SSH at a configuration that knows
// them. Their SSH servers forbid forwarding, and greet with a banner.
func Machines(t testing.TB, n int) (out []*Machine) {
	t.Helper()
	Root(t, "make network namespaces")
	for _, program := range []string{"ip", "ssh", "unshare", "/usr/sbin/sshd"} {
		_, err := exec.LookPath(program)
		Installed(t, err)
	}
	dir := TempDir(t)
	key := func(name string) string {
		path := filepath.Join(dir, name)
		must(t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path))
		return path
	}
	host, user := key("host"), key("user")
	public, err := exec.Command("ssh-keygen", "-y", "-f", host).Output()
	if err != nil {
		t.Fatal(err)
	}
	var config, known strings.Builder
	network := fmt.Sprintf("10.%d.%d", 64+rand.IntN(128), rand.IntN(256))
	bridge := fmt.Sprintf("rb%d-%d", os.Getpid(), spaces.Add(1))
	must(t, exec.Command("ip", "link", "add", bridge, "type", "bridge"))
	t.Cleanup(func() { must(t, exec.Command("ip", "link", "del", bridge)) })
	must(t, exec.Command("ip", "addr", "add", network+".1/24", "dev", bridge))
	must(t, exec.Command("ip", "link", "set", bridge, "up"))
	for i := range n {
		m := &Machine{t: t, Name: fmt.Sprintf("m%d", i+1), Address: fmt.Sprintf("%s.%d", network, i+2),
			Home: filepath.Join(dir, fmt.Sprintf("home%d", i+1)), space: fmt.Sprintf("rb%d-%d", os.Getpid(), spaces.Add(1))}
		m.Lock = filepath.Join(m.Home, "lock")
		m.join(bridge, time.Duration(i+1)*time.Hour, dir, host, user)
		fmt.Fprintf(&config, "Host %s\nHostName %s\n", m.Name, m.Address)
		fmt.Fprintf(&known, "%s %s", m.Address, public)
		out = append(out, m)
	}
	fmt.Fprintf(&config, "Host *\nUser root\nIdentityFile %s\nIdentitiesOnly yes\nUserKnownHostsFile %s\n", user,
		filepath.Join(dir, "known"))
	write(t, filepath.Join(dir, "known"), known.String())
	write(t, filepath.Join(dir, "config"), config.String())
	t.Setenv("RUMBENCH_SSH", "ssh -F "+filepath.Join(dir, "config"))
	for _, m := range out {
		m.await()
	}
	return out
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, out)
	}
}

// join makes the namespace, joined to the bridge, and starts its SSH server, with a clock that is ahead.
func (m *Machine) join(bridge string, ahead time.Duration, dir, hostKey, userKey string) {
	t := m.t
	t.Helper()
	ip := func(args ...string) { t.Helper(); must(t, exec.Command("ip", args...)) }
	ip("netns", "add", m.space)
	t.Cleanup(func() { must(t, exec.Command("ip", "netns", "del", m.space)) })
	here, there := m.space+"h", m.space+"m"
	ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", m.space)
	ip("link", "set", here, "master", bridge, "up")
	ip("-n", m.space, "addr", "add", m.Address+"/24", "dev", there)
	ip("-n", m.space, "link", "set", there, "up")
	ip("-n", m.space, "link", "set", "lo", "up")
	if err := os.MkdirAll(m.Home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Fatal(err)
	}
	banner, config := filepath.Join(dir, "banner"), m.Home+".sshd"
	write(t, banner, "This machine is nobody's.\n")
	write(t, config, fmt.Sprintf("Port 22\nListenAddress %s\nHostKey %s\nAuthorizedKeysFile %s.pub\nStrictModes no\n"+
		"UsePAM no\nPermitRootLogin prohibit-password\nDisableForwarding yes\nPidFile none\nBanner %s\nPrintMotd no\n"+
		"SetEnv HOME=%s RUMBENCH_LOCK=%s CI=%s\n", m.Address, hostKey, userKey, banner, m.Home, m.Lock, os.Getenv("CI")))
	var said bytes.Buffer
	server := exec.Command("unshare", "--time", "--fork", "--kill-child", "--monotonic",
		fmt.Sprintf("%.0f", ahead.Seconds()), "ip", "netns", "exec", m.space, "/usr/sbin/sshd", "-D", "-e", "-f", config)
	server.Stderr, server.SysProcAttr = &said, &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.Kill()
		_ = server.Wait()
		if t.Failed() {
			t.Logf("sshd of %s: %s", m.Name, usual.ReplaceAllString(said.String(), ""))
		}
	})
}

// usual matches what an SSH server says when all is well.
var usual = regexp.MustCompile(`(?m)^(Server listening|Accepted|Received disconnect|Disconnected).*\n`)

// await waits until the SSH server answers.
func (m *Machine) await() {
	for {
		c, err := net.DialTimeout("tcp", m.Address+":22", time.Second)
		if err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Command returns a command that runs on the machine, as its user, and not by ssh.
func (m *Machine) Command(args ...string) *exec.Cmd {
	cmd := exec.Command("ip", append([]string{"netns", "exec", m.space}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+m.Home, "RUMBENCH_LOCK="+m.Lock)
	return cmd
}

// Gateway is the address of this machine on the network of the machines.
func (m *Machine) Gateway() string { return m.Address[:strings.LastIndex(m.Address, ".")] + ".1" }

// Processes lists the processes of the machine.
func (m *Machine) Processes() []string {
	out, err := exec.Command("ip", "netns", "pids", m.space).Output()
	if err != nil {
		m.t.Error(err)
	}
	return strings.Fields(string(out))
}

// Kill kills all processes of the machine at once, as a loss of power would.
func (m *Machine) Kill() {
	for _, pid := range m.Processes() {
		_ = exec.Command("kill", "-9", pid).Run()
	}
}

// Cut cuts the machine's network, and Heal mends it.
func (m *Machine) Cut() { must(m.t, exec.Command("ip", "link", "set", m.space+"h", "down")) }

// Heal is the end of Cut.
func (m *Machine) Heal() { must(m.t, exec.Command("ip", "link", "set", m.space+"h", "up")) }

// Space is the name of its network namespace.
func (m *Machine) Space() string { return m.space }

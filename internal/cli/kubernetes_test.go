package cli_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/need"
)

const kubeDir = "/opt/rumbench/kubernetes/" // scripts/kubernetes.sh

// kube is the control plane of a cluster without nodes.
type kube struct {
	*host
	dir string
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	expect.NoError(t, err)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// startKube starts etcd, the API server, and the controllers of jobs. The test is the scheduler and the kubelet.
func startKube(t *testing.T, h *host) *kube {
	t.Helper()
	if _, err := os.Stat(kubeDir + "kubectl"); err != nil {
		t.Skip("scripts/kubernetes.sh builds Kubernetes, in half an hour")
	}
	k := &kube{h, need.TempDir(t)}
	store, peers, port := "http://127.0.0.1:"+freePort(t), "http://127.0.0.1:"+freePort(t), freePort(t)
	key := filepath.Join(k.dir, "key")
	expect.NoError(t, exec.Command("ssh-keygen", "-q", "-t", "rsa", "-m", "PEM", "-N", "", "-f", key).Run())
	expect.NoError(t, os.WriteFile(filepath.Join(k.dir, "tokens"), []byte("secret,admin,admin,system:masters\n"), 0o600))
	expect.NoError(t, os.WriteFile(filepath.Join(k.dir, "config"), []byte(fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:%s", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: secret}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, port)), 0o600))
	h.serve(nil, kubeDir+"etcd", "--data-dir", filepath.Join(k.dir, "etcd"), "--listen-client-urls", store, "--advertise-client-urls", store,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers)
	h.serve(nil, kubeDir+"kube-apiserver", "--etcd-servers", store, "--bind-address", "127.0.0.1", "--secure-port", port,
		"--cert-dir", filepath.Join(k.dir, "certificates"), "--service-account-issuer", "https://test",
		"--service-account-key-file", key, "--service-account-signing-key-file", key, "--authorization-mode", "AlwaysAllow",
		"--token-auth-file", filepath.Join(k.dir, "tokens"), "--disable-admission-plugins", "ServiceAccount",
		"--service-cluster-ip-range", "10.96.0.0/24")
	wait(t, "the API server is ready", func() bool {
		_, err := k.try("", "get", "namespace", "default")
		return err == nil
	})
	h.serve(nil, kubeDir+"kube-controller-manager", "--kubeconfig", filepath.Join(k.dir, "config"), "--leader-elect=false",
		"--controllers", "job-controller", "--secure-port", "0")
	return k
}

func (k *kube) try(input string, args ...string) (string, error) {
	cmd := exec.Command(kubeDir+"kubectl", append([]string{"--kubeconfig", filepath.Join(k.dir, "config")}, args...)...)
	cmd.Stdin, cmd.Dir = strings.NewReader(input), k.dir
	cmd.Env = append(os.Environ(), "HOME="+k.dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (k *kube) kubectl(input string, args ...string) string {
	k.Helper()
	out, err := k.try(input, args...)
	if err != nil {
		k.Fatalf("kubectl %v: %v: %s", args, err, out)
	}
	return out
}

// pod is what the test, as a kubelet, needs of a pod.
type pod struct {
	Metadata struct {
		Name        string
		Annotations map[string]string
	}
	Spec struct {
		Hostname, Subdomain string
		Containers          []struct {
			Command []string
			Env     []struct {
				Name, Value string
				ValueFrom   struct{ FieldRef struct{ FieldPath string } }
			}
		}
	}
}

// The API takes the manifest, and refuses what is wrong in it. The pods of its job are the machines of a campaign: the
// test starts an agent for each, as its container would, and says how it ended. No container is run.
func TestKubernetes(t *testing.T) {
	need.Long(t)
	h := newHost(t)
	k := startKube(t, h)
	machines := need.Machines(t, 2)
	t.Setenv("HOME", h.path("home"))
	bridge := machines[0].Gateway()
	h.write("plan.yaml", fmt.Sprintf(joinPlan, bridge))
	manifest, _ := h.run(0, "fleet", "manifest", "plan.yaml", "--kubernetes", "--image", "registry.lan:5000/bench:1", "--cpus", "2",
		"--memory", "1Gi")
	strict := []string{"create", "--dry-run=server", "--validate=strict", "-f", "-"}
	for mistake, by := range map[string]string{"completionMode: Indexed": "completionMode: Numbered",
		"restartPolicy: Never": "restartPolicy: Always", "backoffLimit: 0": "backOffLimit: 0"} {
		if out, err := k.try(strings.Replace(manifest, mistake, by, 1), strict...); err == nil {
			t.Errorf("%s is accepted: %s", by, out)
		}
	}
	k.kubectl(manifest, strict...)

	c := h.start("run", "plan.yaml", "--out", "out")
	pass := h.path("home", ".cache/rumbench/join", bridge+"-7070.json")
	wait(t, "agents may join", func() bool { _, err := os.Stat(pass); return err == nil })
	k.kubectl("", "create", "secret", "generic", "rumbench-plan", "--from-file=join.json="+pass)
	k.kubectl(manifest, "create", "--validate=strict", "-f", "-")
	var pods struct{ Items []pod }
	wait(t, "the job has its pods", func() bool {
		out, err := k.try("", "get", "pods", "-l", "rumbench=rumbench-plan", "-o", "json")
		return err == nil && json.Unmarshal([]byte(out), &pods) == nil && len(pods.Items) == 2
	})
	var agents []*exec.Cmd
	for i, p := range pods.Items {
		index := p.Metadata.Annotations["batch.kubernetes.io/job-completion-index"]
		expect.True(t, p.Spec.Hostname == "rumbench-plan-"+index && p.Spec.Subdomain == "rumbench-plan",
			"pod", p.Metadata.Name, "is", p.Spec.Hostname, ".", p.Spec.Subdomain, "on the network")
		container := p.Spec.Containers[0]
		expect.Equal(t, strings.Join(container.Command, " "), "rumbench agent --join /run/rumbench/join.json",
			"a pod runs")
		numbered := false
		for _, e := range container.Env {
			numbered = numbered || e.Name == "JOB_COMPLETION_INDEX" && e.ValueFrom.FieldRef.FieldPath != ""
		}
		expect.True(t, numbered, "a pod does not know its number", container.Env)
		k.kubectl("", "patch", "pod", p.Metadata.Name, "--subresource=status", "-p", `{"status":{"phase":"Running"}}`)
		// The kubelet would mount the secret.
		own := h.path("secret" + index)
		text := k.kubectl("", "get", "secret", "rumbench-plan", "-o", `go-template={{index .data "join.json" | base64decode}}`)
		expect.NoError(t, os.WriteFile(own, []byte(text), 0o400))
		agent := machines[i].Command("rumbench", "agent", "--join", own)
		agent.Env = append(agent.Env, "JOB_COMPLETION_INDEX="+index)
		expect.NoError(t, agent.Start())
		agents = append(agents, agent)
	}
	c.complete()
	for i, a := range agents {
		phase := "Succeeded"
		if err := a.Wait(); err != nil {
			phase = "Failed"
		}
		k.kubectl("", "patch", "pod", pods.Items[i].Metadata.Name, "--subresource=status", "-p", `{"status":{"phase":"`+phase+`"}}`)
	}
	wait(t, "the job is complete", func() bool {
		out, _ := k.try("", "get", "job", "rumbench-plan", "-o", "jsonpath={.status.succeeded}")
		return out == "2"
	})
}

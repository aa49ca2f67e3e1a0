package fleet

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/template"

	"rumbench/internal/plan"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/quantity"
)

// Manifest is what starts the agents that join the machines of a plan.
type Manifest struct {
	Plan     string
	Machines []plan.Host // that join
	Program  string      // this rumbench
	Pass     string      // the path of the file with which agents join
	// Image has this rumbench and the servers' programs; CPUs and Memory are what each machine has. They are for
	// Kubernetes.
	Image, CPUs, Memory string
}

// NewManifest returns the manifest of a plan's machines that join.
func NewManifest(p *plan.Plan, program string) (m Manifest, err error) {
	m = Manifest{Plan: p.Name, Program: program, Machines: joining(&p.Fleet)}
	if len(m.Machines) == 0 {
		return m, fmt.Errorf("no machine of plan %s joins: {name: …, join: true}", p.Name)
	}
	m.Pass, err = PassPath(p.Fleet.Address)
	return m, err
}

// joining returns the machines whose agents join.
func joining(f *plan.Fleet) (out []plan.Host) {
	for _, h := range f.Used() {
		if h.Join {
			out = append(out, h)
		}
	}
	return out
}

// Names returns the names of the machines, in the order in which they are numbered.
func (m *Manifest) Names() string {
	return strings.Join(namesOf(m.Machines), ", ")
}

func namesOf(hosts []plan.Host) []string {
	return quantity.Texts(hosts, func(h plan.Host) string { return h.Name })
}

// Label is a name that Slurm and Kubernetes accept.
func (m *Manifest) Label() string {
	const room = 40 // with the number of a pod, a name of the network
	label := strings.ToLower(notInLabels.ReplaceAllString("rumbench-"+m.Plan, "-"))
	return strings.Trim(label[:min(len(label), room)], "-")
}

var notInLabels = regexp.MustCompile(`[^A-Za-z0-9]+`)

// Data is where machines keep data.
func (m *Manifest) Data() string { return cmp.Or(m.Machines[0].Dir, "/data") }

// Slurm writes a batch script for Slurm: an agent on each of as many nodes.
func (m *Manifest) Slurm(w io.Writer) error { return slurmScript.Execute(w, m) }

// Kubernetes writes manifests for Kubernetes: an agent in each pod of a job, one pod on a node.
func (m *Manifest) Kubernetes(w io.Writer) error {
	for _, h := range m.Machines {
		if h.Dir != m.Machines[0].Dir {
			return fmt.Errorf("all pods keep data in one dir, and %s and %s have different ones", m.Machines[0].Name, h.Name)
		}
	}
	return kubernetesFile.Execute(w, m)
}

func parse(text string) *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"quote": escape.Argument}).Parse(text))
}

// A node has nothing else to do, and an agent has all of it: Slurm would give it one processor. One that is lost
// does not end the others.
var slurmScript = parse(`#!/bin/sh
#SBATCH --job-name={{.Label}}
#SBATCH --nodes={{len .Machines}}
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --mem=0
# The machines {{.Names}} of plan {{printf "%q" .Plan}}: submit this with sbatch, before or after rumbench run.
exec srun --ntasks-per-node=1 --cpus-per-task="$SLURM_CPUS_ON_NODE" --cpu-bind=none --mem=0 --kill-on-bad-exit=0 \
  {{quote .Program}} agent --join {{quote .Pass}}
`)

var kubernetesFile = parse(`# The machines {{.Names}} of plan {{printf "%q" .Plan}}. Start rumbench run, which writes the pass; its tokens hold for ten minutes:
#   kubectl create secret generic {{.Label}} --from-file=join.json={{printf "%q" .Pass}}
#   kubectl apply -f THIS_FILE
# Pod number 0 has the name {{.Label}}-0.{{.Label}} on the network: listen of a server's machine.
apiVersion: v1
kind: Service
metadata:
  name: {{.Label}}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {rumbench: {{.Label}}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{.Label}}
spec:
  completionMode: Indexed
  completions: {{len .Machines}}
  parallelism: {{len .Machines}}
  backoffLimit: 0
  template:
    metadata:
      labels: {rumbench: {{.Label}}}
    spec:
      restartPolicy: Never
      subdomain: {{.Label}}
      terminationGracePeriodSeconds: 60
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: {matchLabels: {rumbench: {{.Label}}}}
      containers:
        - name: agent
          image: {{printf "%q" .Image}}
          command: [rumbench, agent, --join, /run/rumbench/join.json]
          env: [{name: HOME, value: {{printf "%q" .Data}}}]
          resources:
            requests: {cpu: {{printf "%q" .CPUs}}, memory: {{printf "%q" .Memory}}}
            limits: {cpu: {{printf "%q" .CPUs}}, memory: {{printf "%q" .Memory}}}
          volumeMounts:
            - {name: pass, mountPath: /run/rumbench, readOnly: true}
            - {name: data, mountPath: {{printf "%q" .Data}}}
      volumes:
        - {name: pass, secret: {secretName: {{.Label}}, defaultMode: 0400}}
        - {name: data, emptyDir: {}}
`)

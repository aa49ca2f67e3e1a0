package observe

import (
	"testing"

	"rumbench/internal/expect"
)

// The processors that serve the interrupts of a disk and of network interfaces: of NVMe, of virtio and of
// drivers that name the PCI address; not of others with names that begin alike, nor of virtual interfaces.
func TestInterrupts(t *testing.T) {
	root := plant(t, map[string]string{
		"proc/interrupts": `           CPU0       CPU1       CPU2       CPU3
 24:          1          0          0          0  IO-APIC   5-edge      ACPI:Ged
 30:          0          0          0          0 PCI-MSIX-0000:00:01.0   0-edge      nvme0q0
 31:          0      17696          0          0 PCI-MSIX-0000:00:01.0   1-edge      nvme0q1
 32:          0      17696          0          0 PCI-MSIX-0000:00:02.0   1-edge      nvme01q1
 35:          0          1          0          0 PCI-MSIX-0000:00:03.0   0-edge      virtio1-config
 36:          0   93664799          0          0 PCI-MSIX-0000:00:03.0   1-edge      virtio1-input.0
 37:          0   93664799          0          0 PCI-MSIX-0000:00:04.0   1-edge      virtio12-input.0
 38:          0          0          0          0 PCI-MSIX-0000:05:00.0   1-edge      mlx5_comp0@pci:0000:05:00.0
 39:          0          0          0          0 PCI-MSIX-0000:05:00.0   1-edge      eth2-TxRx-0
NMI:          0          0          0          0   Non-maskable interrupts
`,
		"proc/irq/30/effective_affinity_list": "0\n",
		"proc/irq/31/effective_affinity_list": "2-3\n",
		"proc/irq/32/effective_affinity_list": "1\n",
		"proc/irq/35/effective_affinity_list": "1\n",
		"proc/irq/36/effective_affinity_list": "1\n",
		"proc/irq/37/effective_affinity_list": "3\n",
		"proc/irq/38/effective_affinity_list": "2\n",
		"sys/class/block/nvme0n1/device":      "-> ../../../devices/nvme0",
		"sys/class/net/eth0/device":           "-> ../../../devices/virtio1",
		"sys/class/net/eth1/device":           "-> ../../../devices/0000:05:00.0",
		"sys/class/net/eth2/device":           "-> ../../../devices/usb",
		"sys/class/net/lo/mtu":                "65536\n",
		"sys/devices/nvme0/":                  "",
		"sys/devices/virtio1/":                "",
		"sys/devices/0000:05:00.0/":           "",
		"sys/devices/usb/":                    "",
	})
	m := machine{proc: root + "/proc", sys: root + "/sys"}
	want := Facts{{"interrupts of nvme0n1", "2, on processors 0,2-3"}, {"interrupts of eth0", "1, on processors 1"},
		{"interrupts of eth1", "1, on processors 2"}}
	expect.Same(t, want, interrupts(m, []string{"nvme0n1"}))
	got := interrupts(machine{proc: root, sys: root}, []string{"nvme0n1"})
	expect.True(t, got == nil, "a machine that shows nothing", got)
}

// What a file system does not report is unknown.
func TestFileSystem(t *testing.T) {
	if got := append(fileSystem("/nowhere"), fileSystem("")...); got != nil {
		t.Error(got)
	}
	if got := fileSystem(t.TempDir()).Value(UsedFact); got == "" {
		t.Error("nothing is known of a file system that exists")
	}
}

package explain

import (
	"os"
	"strings"
	"testing"

	"rumbench/internal/expect"
)

// What rules act on are subsystems that there are.
func TestActs(t *testing.T) {
	catalogue := string(expect.Value(os.ReadFile("../observe/profile/subsystem.txt"))(t))
	for rule, on := range acts {
		for _, name := range on {
			expect.True(t, strings.Contains(catalogue, "\n"+string(name)+": "), rule, name)
		}
	}
	for _, name := range besides {
		expect.True(t, strings.Contains(catalogue, "\n"+string(name)+": "), name)
	}
}

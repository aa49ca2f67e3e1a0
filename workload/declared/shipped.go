package declared

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"

	"rumbench/workload"
)

//go:embed files/*.yaml
var files embed.FS

// Shipped returns the workloads that come with rumbench.
var Shipped = sync.OnceValue(func() (out []workload.Workload) {
	entries, err := files.ReadDir("files")
	if err != nil {
		panic(err) // it is part of the binary
	}
	for _, e := range entries {
		content, _ := File(strings.TrimSuffix(e.Name(), ".yaml"))
		w, err := Read(e.Name(), content)
		if err != nil {
			panic(fmt.Sprintf("the workload file %s: %v", e.Name(), err)) // as every test would show
		}
		out = append(out, w)
	}
	return out
})

// File returns the content of a file that comes with rumbench, by the workload's name.
func File(name string) (content []byte, ok bool) {
	content, err := files.ReadFile(path.Join("files", name+".yaml"))
	return content, err == nil
}

package cli

import (
	"os"

	"golang.org/x/term"
)

// Process is the App of this process: the only place that touches its
// standard files, arguments and environment.
func Process() *App {
	return &App{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Width: func() int {
			w, _, err := term.GetSize(int(os.Stderr.Fd()))
			if err != nil {
				return 0
			}
			return w
		},
	}
}

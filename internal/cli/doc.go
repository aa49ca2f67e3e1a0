// Package cli is the command line: it reads flags, calls the other packages and prints.
// Standard output carries data, standard error messages.
//
// A command is a file with its options, its declaration and the function that runs it, of
// which show.go is a short one. Below them, cli.go starts commands and explains errors,
// complete.go knows the choices and completions of flags and arguments, selection.go and
// sides.go read the campaigns that arguments name, write.go names and writes files,
// programs.go finds the programs for a plan, and running.go tells how far a campaign is.
package cli

// Package importer turns the logs of other tools into campaign directories:
// sysbench, pgbench, db_bench, the insert benchmark, YCSB, go-ycsb, HammerDB, benchbase, and tables of numbers, with
// the output of iostat, vmstat and /usr/bin/time from the same runs.
//
// It invents nothing. Data missing from a log are left out, partial data are
// marked, and contradictions are refused, with the file, the line and a hint. It
// writes the same files as a run does, and judges no number.
//
// Read it in this order; a file uses only files below it, or those of its own format. The files from grammar.go on
// are the kit: they know no format, and each other.
//
//	importer.go     an import from files to a campaign
//	companion.go    what iostat, vmstat and time measured next to a log
//	place.go        files, folders, and what their names say
//	sections.go     the runs in one file
//	steps.go        names of targets, steps and trials
//	clients.go      several client processes of one run
//	agree.go        runs that do not fit the others
//	campaign.go     trials, and the files of a campaign
//	format.go       the list of formats
//	sysbench….go, pgbench.go, pglog.go, ibench….go, dbbench.go, dbtable.go, ycsb….go, goycsb.go, gotpc.go,
//	hammerdb.go, tpccmysql.go, benchmarksql.go, benchbase.go, gobench.go, csv.go: the formats of logs
//	met.go, figures.go, iostat.go, vmstat.go, time.go: the formats of the files next to a log
//	grammar.go      what a format is made of: recognition, kinds of lines, refusals
//	printed.go      printed times, operations and rates
//	names.go        names of files
//	check.go        figures with their rounding, and contradictions
//	run.go          a run and its rows, warnings and parameters
//	source.go       text, lines and numbers
//
// To add a format: declare how it is recognised (anyLine) and its kinds of lines (a grammar, whose expressions name
// what they give), write the function that makes the rows at the end, and list it in formats, Formats and foreign of
// format.go, and in docs/import.md. If a file may hold several runs, add the lines that separate them to anatomies in
// sections.go. gotpc.go is a short example. A contradiction is a requireSame or requireWithin, a file that is of no
// use a refuseIf: it ends the reading.
package importer

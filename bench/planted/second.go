package main

import (
	"rumbench/internal/explain"
)

// second is the second set: causes that were not considered while the rules were
// written, to detect rules that fit only the first set. Anyone who changes a rule
// because of one of these moves it to the first set, and plants a different one.
var second = []cause{
	{number: 101, name: "four times the rows", rules: rules{explain.RuleReads}, on: []string{"innodb"},
		params: small + "tests: [point-query]",
		common: "cache: 24MiB, durability: process, direct_io: true", change: "params: {table_size: 400k}"},
	{number: 102, name: "no full pages in the log", rules: rules{explain.RuleWholePages}, on: []string{"postgres"},
		params: wide + "tests: [update-nonindex]",
		common: "cache: 256MiB, durability: os", base: "options: {max_wal_size: 32MB}",
		change: `options: {max_wal_size: 32MB, full_page_writes: "off"}`},
	{number: 103, name: "large blocks", rules: rules{explain.RulePageSize}, on: []string{"myrocks"},
		params: wide + "tests: [point-query]",
		common: "cache: 16MiB, durability: process, direct_io: true", change: "page: 32KiB"},
	{number: 104, name: "the performance schema", rules: rules{explain.RuleCPU}, on: []string{"innodb"},
		params: small + "tests: [point-query]",
		common: "cache: 256MiB, durability: process",
		change: `options: {performance_schema: "ON", performance_schema_instrument: "%=ON"}`},
	{number: 105, name: "statements as text", rules: rules{explain.RuleProtocol, explain.RuleCPU}, on: []string{"myrocks"},
		params: small + "tests: [read-only-10]", common: "cache: 256MiB, durability: process",
		change: "protocol: text"},
	{number: 106, name: "commits are not synced", rules: rules{explain.RuleCommits}, on: []string{"bbolt"},
		params: small + "tests: [update-nonindex]",
		common: "durability: os", change: "durability: process"},
	{number: 108, name: "longer ranges", rules: rules{explain.RuleLookups, explain.RuleCPU},
		on:     []string{"innodb", "postgres", "sqlite"},
		params: small + "tests: [simple-ranges]", common: "cache: 256MiB, durability: process",
		change: "params: {range_size: 400}"},
	{number: 112, name: "blocks that are not compressed", rules: rules{compression}, on: []string{"pebble"},
		params: wide + "tests: [random-points-10]", common: "cache: 8MiB, durability: process, compression: zstd",
		change: "compression: none"},
	{number: 110, name: "large blocks", rules: rules{explain.RulePageSize}, on: []string{"pebble"},
		params: wide + "tests: [point-query]",
		common: "cache: 8MiB, durability: process", change: "page: 32KiB"},
	{number: 111, name: "full pages compressed in the log", rules: rules{explain.RuleWholePages, compression},
		on:     []string{"postgres"},
		params: wide + "tests: [update-nonindex]", common: "cache: 256MiB, durability: os",
		base: "options: {max_wal_size: 32MB}", change: "options: {max_wal_size: 32MB, wal_compression: pglz}"},
}

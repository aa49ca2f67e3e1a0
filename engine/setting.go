package engine

import (
	"strings"

	"rumbench/model"
)

// Setting is an effective setting of a database.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Source is ReadBack if the engine reported the value, else AsSet.
	Source string `json:"source"`
	// Aside reports that it is of a part of the server that the target's tables do not use: it
	// is shown, and not compared.
	Aside bool `json:"aside,omitempty"`
}

// The sources of a Setting.
const (
	Seen     = "as the kernel shows it"
	Imposed  = "as the host imposes it"   // on the engine's processes, whatever engine it is
	Changed  = "changed from the default" // as the server reports, by whomever; another server may have the default
	ReadBack = "read back"
	AsSet    = "as set"
)

// Compressed returns the setting that every database has, whether it was asked for or is the
// engine's default: how data are compressed. The names are the engine's own, as of several
// levels: "kZSTD", "NoCompression", or "". RocksDB's last level may have no algorithm of its own.
func Compressed(source string, names ...string) Setting {
	var algorithms []string
	for _, name := range names {
		if name == "kDisableCompressionOption" {
			continue
		}
		name = strings.TrimSuffix(strings.ToLower(strings.TrimPrefix(name, "k")), "compression")
		if name == "" || name == "no" {
			name = string(model.CompressionNone)
		}
		algorithms = append(algorithms, name)
	}
	return Setting{Name: "compression", Value: strings.Join(Unique(algorithms), " and "), Source: source}
}

// PageCache is how an engine uses the page cache of the operating system.
type PageCache string

// The uses of the page cache.
const (
	CacheUsed     PageCache = "used"
	CacheBypassed PageCache = "bypassed"
)

// PageCacheSetting names the setting of engines that can bypass the page cache.
const PageCacheSetting = "page cache"

// Bypasses returns whether an engine bypasses the page cache, as a setting.
func Bypasses(direct bool) Setting {
	use := CacheUsed
	if direct {
		use = CacheBypassed
	}
	return Setting{Name: PageCacheSetting, Value: string(use), Source: ReadBack}
}

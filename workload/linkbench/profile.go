package linkbench

import (
	"math"

	"rumbench/workload/gen"
)

// kind is a kind of operation.
type kind int

// The kinds, in the original's order of draws. historyList is a variant of
// listLinks.
const (
	addLink kind = iota
	deleteLink
	updateLink
	countLinks
	multigetLink
	listLinks
	addNode
	updateNode
	deleteNode
	getNode
	kinds
	historyList = kinds
)

var kindNames = [kinds]string{
	"add_link", "delete_link", "update_link", "count_link", "multiget_link", "get_link_list", "add_node", "update_node",
	"delete_node", "get_node",
}

// Names of profiles.
const (
	profile2011 = "fb2011"
	profile2017 = "mdc2017"
	profileRUM  = "rum"
)

// profile is a generation of the benchmark: its constants, and the rules in which
// generations differ.
type profile struct {
	mix        [kinds]float64 // percent
	degrees    *gen.Empirical // links per node
	linkMedian float64        // of the length of data
	linkMean   float64
	nodeMedian float64
	nodeMean   float64
	// stepped: the first node has the greatest number of links ever measured, even if
	// there are few nodes.
	stepped bool
	split   func(links, types, turn, i int64) int64 // links of type i
	target  targets
	// writeTheta is the skew of link writes whose ids are not those of nodes with many
	// links; writeScattered is the share of these writes.
	writeTheta, writeScattered float64
	// leastGet is the minimum number of links in a multiget.
	leastGet int64
}

// targets is the way in which a link's second id is chosen.
type targets uint8

const (
	// window draws from a window that starts at the first id, so that lists have a
	// bounded length: (n/p) ids, a share p of which exist.
	window targets = iota
	// anywhere draws an existing id with probability p, else any id: lists grow without
	// bound.
	anywhere
	// slots draws an existing id with probability p, else a different id from a window of
	// four times the list, and at least eight ids.
	slots
)

// existing is the probability p of a second id that was loaded, by kind.
var existing = map[kind]float64{addLink: 0.05, updateLink: 0.9, deleteLink: 0.9, multigetLink: 0.5}

var mix2011 = [kinds]float64{8.9886601, 2.9907664, 8.0122125, 4.8863567, 0.5261142, 50.7119145, 2.5732789, 7.366437,
	1.0115914, 12.9326683}
var mix2017 = [kinds]float64{5.35038, 0.98401, 4.75589, 4.27898, 12.14725, 22.57039, 2.61198, 3.06256, 0.25166, 43.9869}

var profiles = map[string]*profile{
	profile2011: {
		mix: mix2011, degrees: degrees2011, linkMedian: 8, linkMean: 13.2, nodeMedian: 128, nodeMean: 211,
		stepped: true, split: split2011, target: window, writeTheta: readTheta, writeScattered: readScattered, leastGet: 2,
	},
	profile2017: {
		mix: mix2017, degrees: degrees2017, linkMedian: 23, linkMean: 36.9, nodeMedian: 168, nodeMean: 277,
		stepped: true, split: split2020, target: anywhere, writeTheta: readTheta, writeScattered: readScattered, leastGet: 2,
	},
	profileRUM: {
		mix: mix2017, degrees: degrees2017, linkMedian: 23, linkMean: 36.9, nodeMedian: 168, nodeMean: 277,
		split: splitEven, target: slots, writeTheta: 0.741, writeScattered: 0.95, leastGet: 1,
	},
}

// The skews are exponents of Zipf's law. The share readScattered of link reads uses ids
// that are not those of nodes with many links.
const (
	readTheta       = 0.8
	readScattered   = 0.995
	writeTheta      = 0.741
	nodeReadTheta   = 0.625
	nodeUpdateTheta = 0.606
)

// split2011 is the original's split, which gives the first types one link too many.
func split2011(links, types, _, i int64) int64 {
	n := links / types
	if i < links-n {
		n++
	}
	return n
}

// split2020 leaves no list empty, and drops the remainder.
func split2020(links, types, _, _ int64) int64 { return max(links, types) / types }

// splitEven gives the remainder to types in turn.
func splitEven(links, types, turn, i int64) int64 {
	n := links / types
	if (i+turn)%types < links%types {
		n++
	}
	return n
}

// thresholds returns the cumulative shares of the kinds, for a profile's mix or for a mix
// dominated by one kind.
func (p *profile) thresholds(mix string) (out [kinds]float64) {
	var sum float64
	for k := range out {
		share := p.mix[k]
		if mix != mixed {
			share = 1
			if mix == kindNames[k] {
				share = 91
			}
		}
		sum += share
		out[k] = sum / 100
	}
	out[kinds-1] = math.Inf(1) // despite rounding
	return out
}

package linkbench

import (
	"math"

	"rumbench/workload/gen"
)

// data generates the data of rows.
type data struct{ node, link payload }

// payload generates data of random length and known compressibility.
type payload struct {
	motif  *gen.Motif
	median float64
	limit  float64 // longer data are clipped
}

// motifs is the size of the motif buffer, as in the original, which reads the parameter
// for it from the wrong place.
const motifs = 512

// newData returns the generators of a run. All clients share the motifs, so that more
// clients do not make the data less compressible.
func (r *run) newData(seed uint64) data {
	return data{
		node: payload{gen.NewMotif(stream(seed, "motifs", "node"), 50, 220, 0.63, motifs), r.profile.nodeMedian, nodeWidth},
		link: payload{gen.NewMotif(stream(seed, "motifs", "link"), 32, 100, 0.225, motifs), r.profile.linkMedian, linkLimit},
	}
}

func (p *payload) append(dst []byte, s *gen.Source) []byte {
	length := math.Round(p.median * math.Exp(s.Normal()))
	return p.motif.Append(dst, s, int(min(length, p.limit)))
}

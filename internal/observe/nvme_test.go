package observe

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// smart makes a SMART / Health page: every field that is not read is full of ones, so that an offset
// that is wrong shows.
func smart(kelvin uint16, written, errorsOfMedia uint64, first, second uint32) []byte {
	page := full()
	binary.LittleEndian.PutUint16(page[1:], kelvin)
	binary.LittleEndian.PutUint64(page[48:], written)
	binary.LittleEndian.PutUint64(page[56:], 0)
	binary.LittleEndian.PutUint64(page[160:], errorsOfMedia)
	binary.LittleEndian.PutUint64(page[168:], 0)
	binary.LittleEndian.PutUint32(page[216:], first)
	binary.LittleEndian.PutUint32(page[220:], second)
	return page
}

// ocp makes an extended page with the GUID AFD514C9-7C6F-4F9C-A4F2-BFEA2810AFC5.
func ocp(media uint64) []byte {
	page := full()
	binary.LittleEndian.PutUint64(page, media)
	binary.LittleEndian.PutUint64(page[8:], 0)
	binary.LittleEndian.PutUint64(page[496:], 0xa4f2bfea2810afc5)
	binary.LittleEndian.PutUint64(page[504:], 0xafd514c97c6f4f9c)
	return page
}

func full() []byte {
	page := make([]byte, pageBytes)
	for i := range page {
		page[i] = 0xff
	}
	return page
}

func TestNVMe(t *testing.T) {
	drives := map[string]map[byte][]byte{
		"nvme0n1": {smartPage: smart(318, 1000, 2, 3, 4), ocpPage: ocp(900_000_000)},
		"nvme1n1": {smartPage: smart(330, 500, 0, 0, 1), ocpPage: ocp(100_000_000)},
		"nvme2n1": {smartPage: smart(0, 7, 0, 0, 0), ocpPage: full()}, // another vendor's page
		"nvme3n1": {smartPage: make([]byte, pageBytes)},               // a virtual drive
		"nvme4n1": {},
	}
	for name, c := range map[string]struct {
		drives []string
		want   map[string]float64
	}{
		"one": {[]string{"nvme0n1"}, map[string]float64{"nvme.written_bytes": 512e6, "nvme.thermal_transitions": 7, "nvme.media_errors": 2,
			"nvme.temperature_c": 45, "nvme.media_written_bytes": 9e8}},
		"an array": {[]string{"nvme0n1", "nvme1n1"}, map[string]float64{"nvme.written_bytes": 768e6, "nvme.thermal_transitions": 8,
			"nvme.media_errors": 2, "nvme.temperature_c": 57, "nvme.media_written_bytes": 1e9}},
		"one without the extended page": {[]string{"nvme0n1", "nvme2n1"}, map[string]float64{"nvme.written_bytes": 512e6 + 7*512e3,
			"nvme.thermal_transitions": 7, "nvme.media_errors": 2, "nvme.temperature_c": 45}},
		"a virtual drive": {[]string{"nvme0n1", "nvme3n1"}, map[string]float64{}},
		"refused":         {[]string{"nvme4n1"}, map[string]float64{}},
	} {
		var s engine.Sample
		n := &NVMe{c.drives, func(drive string, id byte) ([]byte, error) {
			if page, ok := drives[drive][id]; ok {
				return page, nil
			}
			return nil, errors.New("refused")
		}}
		expect.NoError(t, n.Collect(context.Background(), &s))
		got := map[string]float64{}
		for _, p := range s.Points {
			got[p.Name] = p.Value
		}
		expect.Same(t, c.want, got, name)
	}
	if n := NewNVMe(Device{Leaves: []string{"vda"}}); n != nil {
		t.Error("a disk that is no NVMe drive")
	}
	if n := NewNVMe(Device{Leaves: []string{"nvme99n9"}}); n != nil {
		t.Error("a drive that is not there")
	}
}

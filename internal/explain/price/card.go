package price

import (
	"cmp"
	"math"
)

// Card is a list of prices, for a month of 730 hours. An item without a price is 0. The
// prices are the reader's business: Date and Source are their origin.
type Card struct {
	Name, Doc, Currency, Date, Source string

	GB     float64 // of a GB of space
	Binary bool    // a GB is 2^30 bytes instead of 10^9
	IOPS   Tier    // of an I/O per second
	IOKB   float64 // the most that counts as one I/O; 0: any request is one
	MBps   Tier    // of 2^20 bytes per second
	Core   float64 // of a processor
	Memory float64 // of 2^30 bytes of memory
	Device Device  // that is bought whole, instead of space and I/O
}

// Tier is a price per unit beyond a number of included units.
type Tier struct{ Price, Free float64 }

func (t Tier) cost(units float64) float64 { return t.Price * max(0, units-t.Free) }

// Device is a drive. A value of 0 is no limit.
type Device struct {
	Price  float64 // of one
	Months float64 // over which it is paid; 0: 36
	GB     float64
	IOPS   float64
	MBps   float64
	TB     float64 // 10^12 bytes that may be written to it: its endurance
}

const (
	defaultMonths = 36

	// SecondsPerYear and SecondsPerMonth are the seconds of 365 days and of 730 hours.
	SecondsPerYear  = 365 * 86400
	SecondsPerMonth = 730 * 3600

	mb = 1 << 20
)

func (c *Card) gb() float64 {
	if c.Binary {
		return 1 << 30
	}
	return 1e9
}

// ios returns the number of I/Os that requests count as: large ones count as several,
// small ones are not merged. Unknown requests are assumed to be as large as possible.
func (c *Card) ios(requests, bytes float64) float64 {
	if c.IOKB == 0 {
		return requests
	}
	return max(requests, bytes/1024/c.IOKB)
}

// Storage is the data and the load that storage has to handle.
type Storage struct {
	Bytes        float64 // held
	ReadsPerS    float64 // requests
	WritesPerS   float64 // requests
	ReadBytes    float64 // per second
	WrittenBytes float64 // per second
	// Media is how many bytes a drive wrote to its media for each that it was sent; 0: unknown, and the
	// endurance is taken as rated, in bytes that are sent.
	Media float64
}

// Bill is a monthly price by purpose, such as space.
type Bill struct {
	Parts []Part
	// Count is the number of devices. Limit is the resource that determines it (space,
	// IOPS, throughput or endurance), and Share the number of devices that provides this
	// resource.
	Count, Share float64
	Limit        string
}

// Part is a part of a bill.
type Part struct {
	Purpose string
	Price   float64
}

// Sum returns the whole price.
func (b Bill) Sum() (sum float64) {
	for _, p := range b.Parts {
		sum += p.Price
	}
	return sum
}

// Store returns the bill of storage.
func (c *Card) Store(s Storage) Bill {
	requests := c.ios(s.ReadsPerS, s.ReadBytes) + c.ios(s.WritesPerS, s.WrittenBytes)
	if c.Device.Price > 0 {
		return c.devices(s, requests)
	}
	return Bill{Parts: []Part{{"space", s.Bytes / c.gb() * c.GB}, {"I/O", c.IOPS.cost(requests)},
		{"throughput", c.MBps.cost((s.ReadBytes + s.WrittenBytes) / mb)}}}
}

// Devices is the purpose of the part that is paid for devices.
const Devices = "devices"

func (c *Card) devices(s Storage, requests float64) (b Bill) {
	d := c.Device
	months := cmp.Or(d.Months, defaultMonths)
	written := s.WrittenBytes * cmp.Or(s.Media, 1) * SecondsPerMonth * months / 1e12
	for _, limit := range []struct {
		name      string
		need, has float64
	}{
		{"space", s.Bytes / c.gb(), d.GB}, {"IOPS", requests, d.IOPS},
		{"throughput", (s.ReadBytes + s.WrittenBytes) / mb, d.MBps}, {"endurance", written, d.TB},
	} {
		if limit.has > 0 && limit.need/limit.has > b.Share {
			b.Share, b.Limit = limit.need/limit.has, limit.name
		}
	}
	b.Count = max(1, math.Ceil(b.Share))
	b.Parts = []Part{{Devices, b.Count * d.Price / months}}
	return b
}

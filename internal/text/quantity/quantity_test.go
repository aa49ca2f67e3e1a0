package quantity_test

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/text/quantity"
)

func TestNumbers(t *testing.T) {
	type table map[float64]string
	for name, test := range map[string]struct {
		write func(float64) string
		want  table
	}{
		"Digits":      {quantity.Digits, table{0: "0", 1: "1.00", 9.994: "9.99", 9.996: "10.0", 99.94: "99.9", 99.96: "100", -1234.5: "-1,234", 1e6: "1,000,000", 0.95: "0.950", 0.00012: "0.00012", 1e-7: "1e-07"}},
		"Thousandths": {quantity.Thousandths, table{4e-6: "0", -0.0005: "-0.0005", 0.012: "0.012"}},
		"Whole":       {quantity.Whole, table{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 0.4: "0"}},
		"Amount":      {quantity.Amount, table{0: "0", 3: "3", 3.14159: "3.14", 12345: "12,345"}},
		"Bytes":       {quantity.Bytes[float64], table{0: "0 B", 999: "999 B", 1023: "0.999 KiB", 1024: "1 KiB", 1536 << 20: "1.50 GiB", -2048: "-2 KiB", 5 << 60: "5,120 PiB"}},
		"Micros":      {quantity.Micros, table{0: "0 µs", 0.5: "0.500 µs", 999: "999 µs", 1500: "1.50 ms", 2.5e6: "2.50 s", 999_499: "999 ms", 999_600: "1.00 s"}},
		"Nanos":       {quantity.Nanos, table{0: "0 µs", 250: "250 ns", 1500: "1.50 µs", 90e9: "90.0 s"}},
		"Short": {quantity.Short, table{0: "0", 0.123456: "0.123", 99.94: "99.9", 100.4: "100", 9999: "9,999", 9999.6: "10.0k", 12345: "12.3k", 265_432: "265k",
			1234567: "1.23M", 5e9: "5.00G", -2e6: "-2.00M"}},
		"Percent": {quantity.Percent, table{0: "0.0 %", 0.12345: "12.3 %", 1: "100.0 %"}},
	} {
		for v, want := range test.want {
			expect.Equal(t, test.write(v), want, name, v)
		}
	}
}

func TestIn(t *testing.T) {
	for _, test := range []struct {
		value      float64
		unit, want string
	}{
		{1, "bytes/s", "1 B/s"}, {1536 << 20, "bytes/s", "1.50 GiB/s"}, {250, "ns", "250 ns"}, {2.5e6, "ns/s", "2.50 ms/s"}, {20, "us", "20.0 µs"}, {0.25, "ms", "250 µs"},
		{0.5, "s", "500 ms"}, {2, "seconds", "2.00 s"}, {12.345, "percent", "12.3 %"}, {3, "count/s", "3/s"}, {0.95, "ratio", "0.950"}, {7, "pages/s", "7 pages/s"},
	} {
		expect.Equal(t, quantity.In(test.value, test.unit), test.want, test.value, test.unit)
	}
}

func TestCount(t *testing.T) {
	expect.Equal(t, quantity.Count(1, "run")+", "+quantity.Count(0, "run"), "1 run, 0 runs")
}

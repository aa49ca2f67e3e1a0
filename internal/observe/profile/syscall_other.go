//go:build !amd64

package profile

var olderCalls map[int]string

//go:build !demo

package all

import (
	"rumbench/engine"
	"rumbench/engine/mongodb"
	"rumbench/engine/mysql"
	"rumbench/engine/postgres"
	"rumbench/engine/tarantool"
)

var servers = []engine.Engine{mysql.Engine{}, postgres.Engine{}, tarantool.Engine{}, mongodb.Engine{}}

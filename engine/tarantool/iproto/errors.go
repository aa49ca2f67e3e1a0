package iproto

import (
	"fmt"

	"rumbench/engine"
	"rumbench/internal/text/hint"
)

// Error is an error of the server.
type Error struct {
	Code    uint32
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%s (error %d)", e.Message, e.Code) }

// classes are the classes of the server's errors.
var classes = map[uint32]engine.Class{
	3:   engine.Duplicate, // a key exists
	78:  engine.Timeout,
	97:  engine.Conflict, // a different transaction aborted this one
	135: engine.Timeout,  // vinyl's memory was full for longer than vinyl_timeout
}

// advice is the advice to users about errors.
var advice = map[uint32]string{
	2: "the data does not fit in memory: raise memtx_memory (vinyl_memory with storage vinyl) under options, or " +
		"lower the sizes",
	40: "the log could not be written: the disk may be full; see the server's log",
	42: "the user of the dsn needs the rights read, write, execute, create and drop on the universe: " +
		"box.schema.user.grant(…, 'super')",
	45:  "check the user in the dsn",
	47:  "check the password in the dsn",
	110: tooLong,
	139: tooLong,
	154: "storage memtx has no transactions of several operations; vinyl has",
}

const tooLong = "memtx_max_tuple_size and vinyl_max_tuple_size, under options, limit the size of a row"

func classify(e *Error) error {
	var err error = e
	if class, ok := classes[e.Code]; ok {
		return engine.Classify(class, e)
	}
	if text := advice[e.Code]; text != "" {
		err = hint.With(err, text)
	}
	return engine.Classify(engine.Fatal, err)
}

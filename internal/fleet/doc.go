// Package fleet runs the trials of a campaign on other machines.
//
// rumbench run is the coordinator: it owns the campaign's directory and decides what runs where. On
// each machine it starts an agent, rumbench agent, by ssh. The agent keeps a copy of the campaign in
// a private directory, runs trials as any campaign does, and returns their files.
//
// The two talk through a NATS server in the coordinator's process, one for each agent. It listens nowhere: the agent's
// connection is the standard input and output of its ssh, which has authenticated both sides, so that what one
// agent says reaches no other. Files are read from agents piece by piece. See docs/decisions/0013-fleet.md.
package fleet

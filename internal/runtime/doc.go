// Package runtime runs job graphs. It is the only package with goroutines.
//
// A graph is divided into chains (graph.Chains), and each subtask of a chain is
// a task: a state machine whose step handles one event and never waits. Run
// gives each task a goroutine that steps it and sleeps while there is nothing
// to do; Drain and StepTask step tasks on the caller's goroutine.
//
// A row. A reader asks a split for a chunk and delivers its batch to the first
// stage of its chain; each stage's operator emits to the next one within the
// same call. What leaves the chain goes into the channels of its edges
// (exchange.go), where a hash edge divides the batch and collects small parts.
// The receiving task takes items from its channels in turn. Behind each chunk
// the reader sends its watermark, if it has risen, on the same way; receivers
// combine those of their channels (combine.go).
//
// A barrier. The coordinator (package checkpoint) begins a checkpoint by a
// letter to each source task, which saves its positions and sends the barrier
// on. A task that finds a barrier on an input leaves that input alone until all
// others have come to it. Then the barrier passes through the chain: each
// operator is told, and a snapshot of its tables is taken, before the next one
// is. The task goes on while the snapshots are written. When all parts are
// there the manifest is put, and letters tell the sinks to publish.
//
// An end. A source whose splits have all ended sends the end of time and an end
// item, but its task lives on and passes barriers. When all sources have ended,
// or the job is to stop, there is one last barrier, behind which no row comes;
// a task is done when it has passed it, and a sink when it has published it.
//
// A failure of any part ends the Job. A Runner starts another one from the last
// checkpoint, with the same graph and new operators.
package runtime

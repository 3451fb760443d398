// Options of mocha for a run of all tests: several processes, each of which runs one file after the other.
import { availableParallelism } from 'node:os'

// Tests wait for processes that they have started. More than eight gain nothing: the longest file takes as long.
export default { parallel: true, jobs: Math.min(8, availableParallelism() + 2) }

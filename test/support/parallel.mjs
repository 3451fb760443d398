// Options of mocha for a run of all tests: several processes, each of which runs one file after the other.
import { availableParallelism } from 'node:os'

// More than eight gain nothing: the longest file takes as long.
export default { parallel: true, jobs: Math.min(8, Math.max(2, availableParallelism())) }

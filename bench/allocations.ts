/**
 * Loaded into a process that is measured, by `--import`. Whoever connects to its socket, in the folder of `BENCH_ALLOCATIONS`, gets the bytes
 * that its main thread has allocated on the heap since the connection before; 0 at the first, which begins the count: it costs time.
 */
import { createServer } from 'node:net'
import { join } from 'node:path'
import { GCProfiler } from 'node:v8'
import { isMainThread } from 'node:worker_threads'

const profiler = new GCProfiler()
/** The bytes in use at the connection before, or at the end of the last collection. */
let used: number | undefined

/** What each collection found that the one before had not left, and what is there now. */
function allocated(): number {
  let sum = 0
  if (used !== undefined)
    for (const { beforeGC, afterGC } of profiler.stop().statistics) {
      sum += beforeGC.heapStatistics.usedHeapSize - used
      used = afterGC.heapStatistics.usedHeapSize
    }
  const now = process.memoryUsage().heapUsed
  sum += now - (used ?? now)
  used = now
  profiler.start()
  return sum
}

if (isMainThread)
  createServer((socket) => socket.end(String(allocated())))
    .listen(join(process.env.BENCH_ALLOCATIONS!, String(process.pid)))
    .unref()

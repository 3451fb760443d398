import { setImmediate } from 'node:timers/promises'

/** The longest that work keeps the event loop to itself, in milliseconds. */
const SLICE_MS = 10

/** When work last let the event loop run, in monotonic milliseconds. */
let resumedAt = 0

/** Lets the event loop run if work has kept it for long. Work that may take long, such as a reload, calls it between its steps. */
export async function yieldIfLong(): Promise<void> {
  if (performance.now() - resumedAt < SLICE_MS) return
  await setImmediate()
  resumedAt = performance.now()
}

/** Runs a generator to its end, in slices. Resolves to what it returns. */
export async function inSlices<Result>(steps: Generator<unknown, Result>): Promise<Result> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value
    await yieldIfLong()
  }
}

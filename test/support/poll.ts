import { setTimeout } from 'node:timers/promises'

/** Milliseconds between two requests: what is waited for needs the CPU too. */
const PAUSE_MS = 10

/** Repeats a request until its result fits. */
export async function poll<Result>(request: () => Result | Promise<Result>, fits: (result: Result) => boolean): Promise<Result> {
  for (;;) {
    const result = await request()
    if (fits(result)) return result
    await setTimeout(PAUSE_MS)
  }
}

/** Resolves when `holds` does. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await poll(holds, Boolean)
}

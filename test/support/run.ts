/** What mocha does around a run of the tests: package.json names this file under `require`. */
import { fileURLToPath } from 'node:url'
import { skipped } from './requirements.ts'

// Threads start in half the time with it, as those of the command do.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../../.cache/', import.meta.url))

/** What a test closes late is closed by then, on a busy machine too. */
const PATIENCE_MS = 10_000

/** Says first what this run leaves out, and why. */
export function mochaGlobalSetup(): void {
  const lines = skipped().map((line) => `  ${line}\n`)
  if (lines.length > 0) process.stdout.write(`Skipped here:\n${lines.join('')}`)
}

/**
 * A server, a timer or a process that a test left behind would keep this process for ever: such a run fails, and says what it was.
 * It does not end by mocha's own `exit`, which would hide that a test, or the gateway, does not close what it opens.
 */
export function mochaGlobalTeardown(): void {
  setTimeout(() => {
    process.stderr.write(`Left open by a test, so that this run would not end: ${process.getActiveResourcesInfo().join(', ')}\n`)
    // After mocha's own listener, which sets the code to the number of failures.
    process.once('exit', () => {
      process.exitCode ||= 1
    })
    process.exit()
  }, PATIENCE_MS).unref()
}

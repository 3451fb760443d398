/** What mocha does around a run of the tests: package.json names this file under `require`. */
import { once } from 'node:events'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleCommand, removeCommand } from './command.ts'
import { findAll, skipped } from './requirements.ts'

// Threads start in half the time with it, as those of the command do.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../../.cache/', import.meta.url))

/** Milliseconds in which everything ends that a test has closed without waiting for it. */
const PATIENCE_MS = 2000

let isLeftOpen = false

// Mocha kills a process of a parallel run that takes a second to exit. Writing its coverage takes longer on a busy machine.
if (process.env.MOCHA_WORKER_ID !== undefined) process.on('SIGTERM', () => {})

/** Says first what this run leaves out, and why. */
export async function mochaGlobalSetup(this: Mocha.Runner & { isParallelMode(): boolean }): Promise<void> {
  // The tests are loaded by other processes then.
  if (this.isParallelMode()) findAll()
  const lines = skipped().map((line) => `  ${line}\n`)
  if (lines.length > 0) process.stdout.write(`Skipped here:\n${lines.join('')}`)
  if (this.isParallelMode()) await bundleCommand()
}

/** In a run in parallel, for each file. */
export const mochaHooks = {
  beforeAll(this: Mocha.Context): void {
    // Added now, it runs after the hooks of all files.
    this.test!.parent!.afterAll('closes what the tests opened', expectNothingOpen)
  },
}

/**
 * A server, a timer or a process that a test left open would keep its process for ever. Mocha's own `exit` would hide that a test, or
 * the gateway, does not close what it opens.
 */
async function expectNothingOpen(this: Mocha.Context): Promise<void> {
  // An earlier file of this process has failed for it.
  if (isLeftOpen) return
  const ended = once(process, 'beforeExit', { signal: AbortSignal.timeout(PATIENCE_MS) })
  // Two things do not count: the channel to mocha's main process, and mocha's timer for this hook, which begins when the hook returns.
  process.channel?.unref()
  queueMicrotask(() => this.runnable().clearTimeout())
  isLeftOpen = await ended.then(
    () => false,
    () => true,
  )
  process.channel?.ref()
  if (!isLeftOpen) return
  const resources = process.getActiveResourcesInfo().join(', ')
  throw new Error(`Left open by ${filesOf(this.test!.parent!)}, so that this run would not end: ${resources}`)
}

/** Ends a process that would not end by itself. */
export async function mochaGlobalTeardown(): Promise<void> {
  await removeCommand()
  // After mocha has set the exit code.
  if (isLeftOpen) setImmediate(() => process.exit())
}

function filesOf({ suites, tests }: Mocha.Suite): string {
  const files = [...new Set([...suites, ...tests].map(({ file }) => file!))]
  return files.length === 1 ? relative('', files[0]!) : `one of ${files.length} files`
}

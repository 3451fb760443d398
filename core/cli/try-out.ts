import { FilesRead } from '../config/file/files-read.ts'
import { loadGeneration } from '../gateway/load.ts'
import { openServices } from '../gateway/services.ts'
import type { Generation } from '../http/generation.ts'
import { createLog } from '../observe/log.ts'
import { InstancePool } from '../plugins/instances.ts'
import { openStore } from '../store/database.ts'

/** How long a plugin may take to be created, in milliseconds. */
const PATIENCE_MS = 30_000

/**
 * Loads a routing table and creates its plugins as a start would, looks at what came of it, and closes them. No upstream is asked.
 * Throws a ConfigError with all that is wrong.
 */
export async function tryOut<Result>(
  routes: string,
  env: NodeJS.ProcessEnv,
  look: (generation: Generation) => Result | Promise<Result>,
): Promise<Result> {
  const store = await openStore('sqlite::memory:')
  const log = createLog({ level: 'silent' })
  const services = openServices({ store, log, version: 'tried out', workerThreads: 1 })
  try {
    const source = { routes, env, services, pool: new InstancePool(log), loadTimeout: PATIENCE_MS }
    const generation = await loadGeneration(source, new FilesRead())
    try {
      return await look(generation)
    } finally {
      await generation.retire()
    }
  } finally {
    await services.close()
  }
}

import type { Generation } from '../call/generation.ts'
import { FilesRead } from '../config/file/files-read.ts'
import { loadGeneration, startOf } from '../gateway/load.ts'
import type { ControlPlane } from '../gateway/planes.ts'
import { openServices, type Services } from '../gateway/services.ts'
import { NO_VALUES } from '../kept/value-store.ts'
import { createLog, type Log } from '../observe/log.ts'
import { Metrics } from '../observe/metrics.ts'
import { InstancePool } from '../plugins/instances.ts'
import { ConfigError } from '../text/diagnostic.ts'
import type { CommandIo, JsonOption } from './output.ts'
import { printConfigError } from './validation-report.ts'

const LOAD_TIMEOUT_MS = 30_000

/** No call is served, so that no database is needed. */
const NO_CALLS: ControlPlane = {
  keys: { find: async () => undefined, findAccount: async () => undefined, used: () => undefined, watch: () => () => undefined },
  renewLeases: async () => [],
  recorder: { record: () => undefined },
  values: NO_VALUES,
}

/**
 * Loads routes.yaml and creates its plugins as the gateway does, runs `use` with the Generation, and closes it. Connects to no
 * upstream. Throws a ConfigError.
 */
export async function withGeneration<Result>(
  routes: string,
  env: NodeJS.ProcessEnv,
  use: (generation: Generation) => Result | Promise<Result>,
): Promise<Result> {
  const log = createLog({ level: 'silent' })
  const services = openOwnServices(routes, env, log)
  try {
    const options = { routes, env, services, pool: new InstancePool(log), loadTimeout: LOAD_TIMEOUT_MS }
    const generation = await loadGeneration(options, new FilesRead())
    try {
      return await use(generation)
    } finally {
      await generation.retire()
    }
  } finally {
    await services.close()
  }
}

/** Throws a ConfigError for what the environment says of upstreams, too: it belongs to no line. */
function openOwnServices(routes: string, env: NodeJS.ProcessEnv, log: Log): Services {
  try {
    return openServices({ control: NO_CALLS, log, metrics: new Metrics(), version: 'inspection', workerThreads: 1, env })
  } catch (error) {
    throw new ConfigError([{ ...startOf({ routes }), message: (error as Error).message, frame: '' }])
  }
}

/** Like `withGeneration`, but prints the errors of an invalid routes.yaml and resolves to undefined. */
export async function withValidGeneration<Result>(
  routes: string,
  options: JsonOption,
  io: CommandIo,
  use: (generation: Generation) => Result | Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await withGeneration(routes, io.env, use)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    printConfigError(error, routes, io, options)
    return undefined
  }
}

import type { Position } from './config/config.ts'
import { ConfigError } from './config/diagnostic.ts'
import type { FilesRead } from './config/files-read.ts'
import { type LoadedConfig, loadConfig } from './config/load.ts'
import { inFrames } from './config/text/report.ts'
import { buildGeneration, type Generation, type GenerationServices } from './generation.ts'
import type { InstancePool } from './plugin/instances.ts'
import { Misuse } from './plugin/misuse.ts'
import { within } from './plugin/within.ts'
import { checkDefaults } from './route-defaults.ts'

/** What a table is loaded from, and with. */
export interface TableSource {
  /** Path of routes.yaml. */
  readonly routes: string
  readonly env: NodeJS.ProcessEnv
  readonly services: GenerationServices
  readonly pool: InstancePool
  /** Milliseconds that it may take: a plugin that hangs must not keep the next table away. */
  readonly loadTimeout: number
}

/** A table, and what was built of it. */
export interface BuiltTable extends LoadedConfig {
  readonly generation: Generation
}

/** Reads, checks and builds a routing table. Throws a ConfigError. What comes too late is closed again. */
export async function loadTable(source: TableSource, files: FilesRead): Promise<BuiltTable> {
  const building = build(source, files)
  try {
    return await within(source.loadTimeout, building)
  } catch (error) {
    if (!(error instanceof Misuse)) throw error
    building.then(({ generation }) => generation.retire()).catch(() => undefined)
    const seconds = source.loadTimeout / 1000
    const message = `a plugin is not loaded or created after ${seconds} seconds: look at what it waits for`
    throw new ConfigError([{ ...beginningOf(source), message, frame: '' }])
  }
}

async function build({ routes, env, services, pool }: TableSource, files: FilesRead): Promise<BuiltTable> {
  const loaded = await loadConfig(routes, env, files)
  try {
    const generation = await buildGeneration(loaded.config, services, pool)
    const faults = checkDefaults({ ...loaded, table: generation.table })
    if (faults.length === 0) return { ...loaded, generation }
    await generation.retire()
    throw new ConfigError(faults)
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(inFrames(error.diagnostics, loaded.text)) : error
  }
}

/** Where to point to when there is no better place. */
export const beginningOf = ({ routes }: Pick<TableSource, 'routes'>): Position => ({ file: routes, line: 1, column: 1 })

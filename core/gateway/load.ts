import { TimeoutError, withTimeout } from '../async/timeout.ts'
import { formatPath } from '../config/checks/messages.ts'
import type { Config, RouteConfig } from '../config/config.ts'
import { ConfigFile } from '../config/file/config-file.ts'
import { type LoadedConfig, loadConfig } from '../config/load.ts'
import { addFrames } from '../config/report.ts'
import type { FilesRead } from '../config/watch.ts'
import { GatewayError } from '../errors.ts'
import type { Generation } from '../http/generation.ts'
import type { InstancePool } from '../plugins/instances.ts'
import { chatCompletions } from '../protocol/chat-completions.ts'
import { droppedParameters, tableFor } from '../routing/operation.ts'
import type { Branch, Candidate, Route } from '../routing/route.ts'
import { ANY_KEY, routeFor } from '../routing/simulate.ts'
import type { RoutingTable } from '../routing/table.ts'
import { ConfigError, type Diagnostic, type Position } from '../text/diagnostic.ts'
import { buildGeneration, type GenerationServices } from './build-generation.ts'

/** What a table is loaded from, and with. */
export interface LoadOptions {
  /** Path of routes.yaml. */
  readonly routes: string
  readonly env: NodeJS.ProcessEnv
  readonly services: GenerationServices
  readonly pool: InstancePool
  /** Milliseconds that it may take: a plugin that hangs must not keep the next table away. */
  readonly loadTimeout: number
}

/** A table, and what was built of it. */
export interface LoadedTable extends LoadedConfig {
  readonly generation: Generation
}

/** Reads, checks and builds a routing table. Throws a ConfigError. What comes too late is closed again. */
export async function loadGeneration(source: LoadOptions, files: FilesRead): Promise<LoadedTable> {
  const building = build(source, files)
  try {
    return await withTimeout(source.loadTimeout, building)
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
    building.then(({ generation }) => generation.retire()).catch(() => undefined)
    const seconds = source.loadTimeout / 1000
    const message = `a plugin is not loaded or created after ${seconds} seconds: look at what it waits for`
    throw new ConfigError([{ ...beginningOf(source), message, frame: '' }])
  }
}

async function build({ routes, env, services, pool }: LoadOptions, files: FilesRead): Promise<LoadedTable> {
  const loaded = await loadConfig(routes, env, files)
  try {
    const generation = await buildGeneration(loaded.config, services, pool)
    const faults = checkDefaults({ ...loaded, table: generation.table })
    if (faults.length === 0) return { ...loaded, generation }
    await generation.retire()
    throw new ConfigError(faults)
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(addFrames(error.diagnostics, loaded.text)) : error
  }
}

/** Where to point to when there is no better place. */
export const beginningOf = ({ routes }: Pick<LoadOptions, 'routes'>): Position => ({ file: routes, line: 1, column: 1 })

/** A parameter that a route fills in. */
type Default = Readonly<Record<string, unknown>>

/** What becomes of a default at one candidate. */
type Support = 'sent' | 'dropped' | 'refused'

/** A table, what was built of it, and the text of its file. */
export interface BuiltRoutes {
  readonly config: Config
  readonly table: RoutingTable
  readonly text: string
}

/**
 * Defaults of curated models that no upstream would take, or whose providers leave them out. Only a built table knows its providers.
 */
export function checkDefaults({ config, table, text }: BuiltRoutes): readonly Diagnostic[] {
  const source = new ConfigFile(config.file, text)
  return [...config.curated.values()].flatMap(({ name, routes }) =>
    [...routes].flatMap(([model, route]) => {
      const candidates = candidatesOf(routeFor(table, route.id, ANY_KEY))
      return Object.entries(route.defaults).flatMap(([parameter, value]) => {
        const fault = faultOf({ [parameter]: value }, route, candidates)
        if (fault === undefined) return []
        const path = ['namespaces', name, 'models', model, 'defaults', parameter]
        return [
          { ...source.position(source.keySpan(path)), file: route.at.file, message: `${formatPath(path)}: ${fault}`, frame: '' },
        ]
      })
    }),
  )
}

function faultOf(parameter: Default, { strict }: RouteConfig, candidates: readonly Candidate[]): string | undefined {
  const wrong = wrongValue(parameter)
  if (wrong !== undefined) return wrong
  const supports = candidates.map((candidate) => supportAt(candidate, parameter, strict))
  if (supports.length === 0 || !supports.some((support) => support !== 'sent')) return undefined
  if (supports.every((support) => support === 'dropped'))
    return 'it has no effect: the providers of all its models leave it out; remove it'
  if (supports.every((support) => support === 'refused'))
    return 'the providers of all its models refuse it, so that no call could be served; remove it'
  const ruledOut = candidates.filter((_, index) => supports[index] === 'refused').map(({ target }) => target.served.provider)
  if (ruledOut.length === 0) return undefined
  return `it rules out its models of ${[...new Set(ruledOut)].join(', ')}, whose provider refuses it; give them a curated model of their own`
}

/** Nothing to fill in, or what a client would be told that sent it. */
function wrongValue(parameter: Default): string | undefined {
  if (Object.values(parameter)[0] === null) return 'it has no effect: nothing stands here; give it a value, or remove it'
  try {
    chatCompletions.check({ model: 'any', messages: [{ role: 'user', content: '' }], ...parameter })
    return undefined
  } catch (error) {
    if (error instanceof GatewayError) return error.message
    throw error
  }
}

function supportAt({ target }: Candidate, parameter: Default, strict: boolean): Support {
  try {
    const dropped = droppedParameters({ ...ANY_REQUEST, ...parameter }, tableFor(target.provider, target.served.model))
    return dropped.length === 0 ? 'sent' : strict ? 'refused' : 'dropped'
  } catch {
    return 'refused'
  }
}

const ANY_REQUEST = { model: 'any', messages: [] }

/** All that a route may lead to. */
function candidatesOf(route: Route | undefined): readonly Candidate[] {
  if (route === undefined) return []
  if ('target' in route.leads) return [route.leads]
  return [...route.leads.targets, ...route.leads.fallbacks].flatMap(candidatesBehind)
}

const candidatesBehind = (branch: Branch): readonly Candidate[] =>
  'candidate' in branch ? [branch.candidate] : [...branch.choice.targets, ...branch.choice.fallbacks].flatMap(candidatesBehind)

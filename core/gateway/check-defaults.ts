import type { Generation } from '../call/generation.ts'
import type { Config, RouteConfig } from '../config/config.ts'
import { ConfigFile } from '../config/file/config-file.ts'
import { formatPath } from '../config/file/path.ts'
import { ANY_KEY, routeFor } from '../dispatch/simulate.ts'
import { GatewayError } from '../errors.ts'
import { chatCompletions, chatRequestSchema } from '../protocol/chat-completions.ts'
import { droppedParameters, tableFor } from '../routing/handler.ts'
import { type Candidate, candidatesOf } from '../routing/route.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import { didYouMean } from '../text/suggestions.ts'

/**
 * Checks the `defaults` of curated models: their values, and whether the providers behind the model support them. It needs a
 * Generation, because only created providers know their parameters.
 */
export function checkDefaults({ config, table }: Pick<Generation, 'config' | 'table'>): readonly Diagnostic[] {
  let file: ConfigFile | undefined
  return [...config.curated.values()].flatMap(({ name, routes }) =>
    [...routes].flatMap(([model, route]) => {
      const found = routeFor(table, route.id, ANY_KEY)
      const candidates = found === undefined ? [] : candidatesOf(found.leads)
      return Object.entries(route.defaults).flatMap(([parameter, value]) => {
        const reason = problemOf({ [parameter]: value }, route, candidates)
        if (reason === undefined) return []
        file ??= new ConfigFile(config.file, config.text)
        const path = ['namespaces', name, 'models', model, 'defaults', parameter]
        const message = `${formatPath(path)}: ${reason}`
        return [{ ...file.position(file.keySpan(path)), file: route.at.file, message, frame: '' }]
      })
    }),
  )
}

/** Notices of defaults that look like misspelt parameters. No errors: an upstream may have parameters of its own. */
export function noticesOfDefaults({ curated }: Config): readonly string[] {
  const known = Object.keys(chatRequestSchema.properties)
  const routes = [...curated.values()].flatMap((namespace) => [...namespace.routes.values()])
  return routes.flatMap(({ id, defaults, at }) =>
    Object.keys(defaults).flatMap((parameter) => {
      const meant = known.includes(parameter) ? '' : didYouMean(parameter, known)
      return meant === ''
        ? []
        : [`line ${at.line}: a default of "${id}", "${parameter}", is not a parameter of chat completions${meant}`]
    }),
  )
}

/** One parameter and its default. */
type Default = Readonly<Record<string, unknown>>

/** How a provider handles a parameter. */
type Support = 'sent' | 'dropped' | 'refused'

function problemOf(parameter: Default, { strict }: RouteConfig, candidates: readonly Candidate[]): string | undefined {
  const invalid = problemOfValue(parameter)
  if (invalid !== undefined) return invalid
  const supports = candidates.map((candidate) => supportAt(candidate, parameter, strict))
  if (supports.length === 0 || !supports.some((support) => support !== 'sent')) return undefined
  if (supports.every((support) => support === 'dropped'))
    return 'it has no effect: the providers of all its models drop it; remove it'
  if (supports.every((support) => support === 'refused'))
    return 'the providers of all its models refuse it, so every call would fail; remove it'
  const refusing = candidates.filter((_, index) => supports[index] === 'refused').map(({ target }) => target.served.provider)
  if (refusing.length === 0) return undefined
  const providers = [...new Set(refusing)].join(', ')
  return `the models of ${providers} would never be used, because their provider refuses it; move them to another curated model`
}

/** An empty value, or the error that a client would get for the value. */
function problemOfValue(parameter: Default): string | undefined {
  if (Object.values(parameter)[0] === null) return 'it has no effect: its value is empty; give it a value, or remove it'
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

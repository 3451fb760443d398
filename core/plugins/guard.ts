import type { EndpointOperation, Provider } from '../sdk/api.ts'
import { type PluginPhase, pluginError } from './faults.ts'

/** Records how long plugins run. */
export interface PluginTimer {
  /** `ms`: the plugin's own time, in milliseconds. */
  ran(plugin: string, phase: PluginPhase, ms: number): void
}

/** The same provider, with the time of its requests measured, and what it throws at a reply named as its fault. */
export function guardProvider(plugin: string, provider: Provider, timer: PluginTimer): Provider {
  function reading<Result>(read: () => Result): Result {
    try {
      return read()
    } catch (thrown) {
      throw pluginError(plugin, 'reply', thrown)
    }
  }

  const ran = (startedAt: number): void => timer.ran(plugin, 'request', performance.now() - startedAt)

  const timed =
    (request: Provider['request']): Provider['request'] =>
    (call, attempt) => {
      const startedAt = performance.now()
      const made = request(call, attempt)
      if (made instanceof Promise) return made.finally(() => ran(startedAt))
      ran(startedAt)
      return made
    }

  const guardEndpoint = (operation: EndpointOperation): EndpointOperation => ({
    parameters: operation.parameters,
    request: timed((call, attempt) => operation.request(call, attempt)),
    ...(operation.reply && { reply: (body, headers) => operation.reply!(body, headers) }),
    ...(operation.error && { error: (reply) => reading(() => operation.error!(reply)) }),
  })

  return {
    parameters: provider.parameters,
    ...(provider.refreshes && { refreshes: true }),
    ...(provider.maxBody !== undefined && { maxBody: provider.maxBody }),
    request: timed((call, attempt) => provider.request(call, attempt)),
    // What is absent means something: it stays away.
    ...(provider.translator && { translator: (call, attempt) => reading(() => provider.translator!(call, attempt)) }),
    ...(provider.endpoints && {
      endpoints: Object.fromEntries(
        Object.entries(provider.endpoints).map(([name, operation]) => [name, guardEndpoint(operation)]),
      ),
    }),
    ...(provider.error && { error: (reply) => reading(() => provider.error!(reply)) }),
    ...(provider.models && { models: (signal) => provider.models!(signal) }),
    ...(provider.check && { check: (signal) => provider.check!(signal) }),
  }
}

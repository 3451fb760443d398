import type { PluginMetrics } from '../observe/plugin-metrics.ts'
import type { Provider } from './api.ts'
import { pluginError } from './plugin-fault.ts'

/** The same provider, with the time of its requests measured, and what it throws at a reply named as its fault. */
export function guardProvider(plugin: string, provider: Provider, metrics: PluginMetrics): Provider {
  function reading<Result>(read: () => Result): Result {
    try {
      return read()
    } catch (thrown) {
      throw pluginError(plugin, 'reply', thrown)
    }
  }

  const ran = (startedAt: number): void => metrics.ran(plugin, 'request', performance.now() - startedAt)

  return {
    parameters: provider.parameters,
    ...(provider.refreshes && { refreshes: true }),
    request(call, attempt) {
      const startedAt = performance.now()
      const request = provider.request(call, attempt)
      if (request instanceof Promise) return request.finally(() => ran(startedAt))
      ran(startedAt)
      return request
    },
    // An absent method means something: what is not there stays away.
    ...(provider.translator && { translator: (call, attempt) => reading(() => provider.translator!(call, attempt)) }),
    ...(provider.error && { error: (reply) => reading(() => provider.error!(reply)) }),
    ...(provider.models && { models: (signal) => provider.models!(signal) }),
    ...(provider.check && { check: (signal) => provider.check!(signal) }),
  }
}

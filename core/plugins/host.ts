import type { Call, CallFunction, Host, HostCounter, HostHistogram, HostLog, HostMetrics, Limits } from '../sdk/api.ts'
import type { InstanceContext } from './instances.ts'

/** What every generation of plugins shares. */
export interface HostServices {
  readonly log: HostLog
  readonly metrics: HostMetrics
  readonly keys: Host['keys']
  readonly limits: Limits
  readonly workers: {
    countTokens(call: Call): Promise<number>
    compute<Input, Result>(call: Call, fn: CallFunction<Input, Result>, input: Input): Promise<Result>
    run(module: URL, exportName: string, input: unknown): Promise<unknown>
  }
  readonly getJson: Host['getJson']
}

/** The facade of core for one plugin instance: it offers what `Host` documents, and nothing else can be reached through it. */
export function createHost({ log, metrics, keys, limits, workers, getJson }: HostServices, context: InstanceContext): Host {
  return Object.freeze({
    log: boundLog(log, context),
    metrics: metricsFacade(metrics),
    keys: Object.freeze<Host['keys']>({ verify: keys.verify.bind(keys) }),
    limits: Object.freeze<Limits>({ reserve: limits.reserve.bind(limits), reserveFor: limits.reserveFor.bind(limits) }),
    countTokens: (call: Call) => workers.countTokens(call),
    compute: async <Input, Result>(call: Call, fn: CallFunction<Input, Result>, input: Input) =>
      call.large ? workers.compute(call, fn, input) : fn.run(call, input),
    offload: (module: URL, exportName: string, input: unknown) => workers.run(module, exportName, input),
    getJson,
    directory: context.directory,
    signal: context.signal,
  })
}

/** The plugin's place is read line by line: a reload may move it. */
function boundLog(log: HostLog, context: InstanceContext): HostLog {
  const bound = (fields: Readonly<Record<string, unknown>>) => ({ plugin: context.plugin, at: context.at, ...fields })
  return Object.freeze<HostLog>({
    info: (fields, message) => log.info(bound(fields), message),
    warn: (fields, message) => log.warn(bound(fields), message),
    error: (fields, message) => log.error(bound(fields), message),
  })
}

function metricsFacade(metrics: HostMetrics): HostMetrics {
  return Object.freeze<HostMetrics>({
    counter(name, help, labels) {
      const counter = metrics.counter(name, help, labels)
      return Object.freeze<HostCounter>({ add: (amount, ...values) => counter.add(amount, ...values) })
    },
    histogram(name, help, labels, buckets) {
      const histogram = metrics.histogram(name, help, labels, buckets)
      return Object.freeze<HostHistogram>({ observe: (value, ...values) => histogram.observe(value, ...values) })
    },
  })
}

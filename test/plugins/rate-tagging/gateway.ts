import type { Call, Host } from 'unified-model-gateway/plugin'
import { memoryLimits } from '../../../core/limits/limits.ts'
import { HostLimits } from '../../../core/limits/reserve.ts'
import { Metrics } from '../../../core/observe/metrics.ts'
import rateTagging from '../../../plugins/chain/rate-tagging/index.ts'
import { type LinkServer, serveLink } from '../../support/link-server.ts'

/** The plugin over real limits and metrics, behind HTTP. */
export interface Gateway extends LinkServer {
  readonly warnings: readonly string[]
  /** Ids of the calls whose prompt was counted. */
  readonly counted: readonly string[]
  /** The samples of a metric, as Prometheus scrapes them. */
  samples(metric: string): Promise<string[]>
}

export interface GatewayOptions {
  /** Tokens of every prompt. */
  readonly countTokens?: (call: Call) => Promise<number>
  readonly metrics?: Metrics
}

export async function startGateway(config: unknown, options: GatewayOptions = {}): Promise<Gateway> {
  const { countTokens = async () => 0, metrics = new Metrics() } = options
  const warnings: string[] = []
  const counted: string[] = []
  const warn: Host['log']['warn'] = (fields, message) => void warnings.push(`${message} ${JSON.stringify(fields)}`)
  const log = { info: () => undefined, warn, error: () => undefined }
  const counting = {
    log,
    countTokens: (call: Call) => {
      counted.push(call.id)
      return countTokens(call)
    },
  }
  const host = { limits: new HostLimits(memoryLimits(), counting), metrics, log } as unknown as Host
  const server = await serveLink(rateTagging, config, host)
  return {
    ...server,
    warnings,
    counted,
    async samples(metric) {
      const { text } = await metrics.render()
      return text.split('\n').filter((line) => line.startsWith(metric))
    },
    async close() {
      await server.close()
    },
  }
}

/** A configuration with one class, `standard`. */
export const standard = (limits: object, rest: object = {}) => ({ classes: { standard: limits }, default: 'standard', ...rest })

import { isLoopback, type Listen } from '../../http/listen.ts'

/** The options that decide what other machines can see. */
interface Exposing {
  readonly host: string
  readonly adminListen?: Listen
  readonly metricsToken?: string
  readonly tlsCert?: string
  readonly publicUrl?: string
  readonly consoleUrl?: string
}

/** Warnings about what other machines can see of a gateway, each with what to do. */
export function exposures(options: Exposing): readonly string[] {
  return [...(isPlain(options) ? [PLAIN] : []), ...(hasOpenMetrics(options) ? [OPEN_METRICS] : [])]
}

const PLAIN =
  'other machines connect without TLS, so that keys and answers can be read on their way. ' +
  'Set --tls-cert and --tls-key, or put a proxy with TLS in front and set --public-url to its https address.'

const OPEN_METRICS =
  'other machines can read /metrics without a token. Set UMG_METRICS_TOKEN, or serve it on --admin-listen 127.0.0.1:9090.'

/** Whether other machines connect without TLS, as far as the options tell. */
function isPlain({ host, adminListen, tlsCert, publicUrl, consoleUrl }: Exposing): boolean {
  if (tlsCert !== undefined) return false
  const isOpen = !isLoopback(host) || (adminListen !== undefined && !isLoopback(adminListen.host))
  return isOpen && ![publicUrl, consoleUrl].some((url) => url !== undefined && isPrivate(new URL(url)))
}

/** What is ended by TLS at this address, or reached on this machine only. */
const isPrivate = ({ protocol, hostname }: URL): boolean => protocol === 'https:' || isLoopback(hostname)

function hasOpenMetrics({ host, adminListen, metricsToken }: Exposing): boolean {
  return metricsToken === undefined && !isLoopback(adminListen?.host ?? host)
}

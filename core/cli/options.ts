import { isIP, isIPv6 } from 'node:net'
import { InvalidArgumentError, Option } from 'commander'
import type { Listen } from '../http/server.ts'
import { instant } from '../text/times.ts'
import type { Dimension } from '../usage/usage-report.ts'

/** Parsers of option values. Each throws an `InvalidArgumentError` that says what to write. */

/** A port; 0 for a free one. */
export function toPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65535)) throw new InvalidArgumentError('A port is a number from 0 to 65535.')
  return port
}

/** A whole number from 1. */
export function toCount(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('Give a number from 1.')
  return count
}

/** A number of seconds. */
export function toSeconds(text: string): number {
  const seconds = Number(text)
  if (!Number.isFinite(seconds) || seconds < 0) throw new InvalidArgumentError('Give a number of seconds.')
  return seconds
}

/** Milliseconds since 1970 of a date (its first moment in UTC) or an instant. */
export function toInstant(text: string): number {
  const time = instant(text)
  if (time === undefined) throw new InvalidArgumentError('Give a date (2027-01-31) or an instant (2027-01-31T18:00:00Z).')
  return time
}

/** How long something is kept, in milliseconds: `12h`, `30d`. */
export function toKeep(text: string): number {
  const [, amount, unit] = /^([1-9]\d{0,4})([hd])$/.exec(text) ?? []
  if (amount === undefined) throw new InvalidArgumentError('Give hours or days: 12h, 30d.')
  return Number(amount) * (unit === 'h' ? 3_600_000 : 86_400_000)
}

/** By what usage is added up. */
export function toDimension(text: string): Dimension {
  if (!/^(?:model|key|account|tag:.+)$/.test(text)) throw new InvalidArgumentError('Give model, key, account or tag:NAME.')
  return text as Dimension
}

/** `127.0.0.1:9090`, `[::1]:9090` */
export function toListen(text: string): Listen {
  const colon = text.lastIndexOf(':')
  if (colon < 1) throw new InvalidArgumentError('Give HOST:PORT, such as 127.0.0.1:9090.')
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: toPort(text.slice(colon + 1)) }
}

/** An origin, without the slash at its end: `https://llm.example.com`. */
export function toOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || text.replace(/\/$/, '') !== url.origin)
    throw new InvalidArgumentError('Give an address without a path, such as https://llm.example.com.')
  return url.origin
}

/** The address of an OpenID provider: what goes there must not be read on the way. */
export function toIssuer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const local = url?.protocol === 'http:' && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  if (url?.protocol !== 'https:' && !local)
    throw new InvalidArgumentError('Give an https address, such as https://login.example.com.')
  return text
}

/** Addresses and networks, with commas between them: `10.0.0.0/8,192.168.1.7`. */
export function toNetworks(text: string): readonly string[] {
  const networks = text.split(',').map((network) => network.trim())
  for (const network of networks) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(network) ?? []
    const most = isIPv6(address) ? 128 : 32
    if (isIP(address) === 0 || Number(bits ?? most) > most)
      throw new InvalidArgumentError('Give addresses or networks, such as 10.0.0.0/8,192.168.1.7.')
  }
  return networks
}

/** `--data` */
export const dataOption = (): Option =>
  new Option('--data <dir>', 'folder of the embedded database').env('UMG_DATA').default('data')

/** `--database` */
export const databaseOption = (): Option =>
  new Option('--database <url>', 'sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE').env('UMG_DATABASE_URL')

import { isIP, isIPv6 } from 'node:net'
import { type Command, type CommandOptions, InvalidArgumentError, Option } from 'commander'
import type { Listen } from '../http/listen.ts'
import { instant } from '../text/times.ts'
import type { SpendGroup } from '../usage/spend.ts'
import type { Dimension } from '../usage/usage-report.ts'

/** The option `--data`. */
export const dataOption = (): Option =>
  new Option('--data <dir>', 'folder of the embedded database').env('UMG_DATA').default('data')

/** The option `--database`. */
export const databaseOption = (): Option =>
  new Option('--database <url>', 'sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE').env('UMG_DATABASE_URL')

/** The option `--json`. */
export const jsonOption = (): Option => new Option('--json', 'print JSON')

/** Adds a command for objects of the store, with the options of all such commands. */
export const addStoreCommand = (parent: Command, usage: string, description: string, options?: CommandOptions): Command =>
  parent
    .command(usage, options)
    .description(description)
    .addOption(jsonOption())
    .addOption(dataOption())
    .addOption(databaseOption())

/** The end of a command's help: examples, and a text below them. */
export function examples(lines: readonly string[], text?: string): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}${text === undefined ? '' : `\n${text}\n`}`
}

// Parsers of option values. Each throws an InvalidArgumentError that says what to write.

/** A port; 0 for a free one. */
export function toPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65535)) throw new InvalidArgumentError('A port is a number from 0 to 65535.')
  return port
}

/** An integer from 1. */
export function toCount(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('Give a number from 1.')
  return count
}

/** A number from 1; null for `none`. */
export const toCountOrNone = (text: string): number | null => (text === 'none' ? null : toCount(text))

/** A number of seconds. */
export function toSeconds(text: string): number {
  const seconds = Number(text)
  if (!Number.isFinite(seconds) || seconds < 0) throw new InvalidArgumentError('Give a number of seconds.')
  return seconds
}

/** A date (its first moment in UTC) or an instant, in milliseconds since 1970. */
export function toInstant(text: string): number {
  const time = instant(text)
  if (time === undefined) throw new InvalidArgumentError('Give a date (2027-01-31) or an instant (2027-01-31T18:00:00Z).')
  return time
}

/** A retention period in milliseconds: `12h`, `30d`. */
export function toRetention(text: string): number {
  if (!/^[1-9]\d{0,4}[hd]$/.test(text)) throw new InvalidArgumentError('Give hours or days: 12h, 30d.')
  return durationOf(text)
}

/** The overlap of a rotated key in milliseconds: `90s`, `30m`, `24h`, `7d`, `0`. */
export function toOverlap(text: string): number {
  if (text === '0') return 0
  if (!/^\d{1,6}[smhd]$/.test(text)) throw new InvalidArgumentError('Give a duration: 30m, 24h, 7d, or 0.')
  return durationOf(text)
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const durationOf = (text: string): number => Number.parseInt(text, 10) * UNITS[text.at(-1)!]!

/** The dimension that usage is grouped by. */
export function toDimension(text: string): Dimension {
  if (!/^(?:model|key|account|tag:.+)$/.test(text)) throw new InvalidArgumentError('Give model, key, account or tag:NAME.')
  return text as Dimension
}

/** The group of a report of spend. */
export function toSpendGroup(text: string): SpendGroup {
  if (!/^(?:model|key|account|price|day|tag:.+)$/.test(text))
    throw new InvalidArgumentError('Give model, key, account, price, day or tag:NAME.')
  return text as SpendGroup
}

/** `127.0.0.1:9090`, `[::1]:9090` */
export function toListen(text: string): Listen {
  const colon = text.lastIndexOf(':')
  if (colon < 1) throw new InvalidArgumentError('Give HOST:PORT, such as 127.0.0.1:9090.')
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: toPort(text.slice(colon + 1)) }
}

/** An HTTP URL: `http://127.0.0.1:8080`. */
export function toHttpUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('Give a URL, such as http://127.0.0.1:8080.')
  return text
}

/** An origin, without a slash at its end: `https://llm.example.com`. */
export function toOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || text.replace(/\/$/, '') !== url.origin)
    throw new InvalidArgumentError('Give an address without a path, such as https://llm.example.com.')
  return url.origin
}

/**
 * Origins of web pages, separated by commas, as browsers send them: `https://chat.example.com,http://localhost:3000`. Apps made of web pages
 * have schemes of their own: `tauri://localhost`.
 */
export function toOrigins(text: string): readonly string[] {
  return text.split(',').map((entry) => {
    const origin = entry.trim()
    if (/^https?:/.test(origin) && !origin.includes('*')) return toOrigin(origin)
    if (/^(?!https?:)[a-z][a-z\d+.-]*:\/\/[\w.:-]+$/.test(origin)) return origin
    throw new InvalidArgumentError('Give origins, such as https://chat.example.com,http://localhost:3000; there is no wildcard.')
  })
}

/** The URL of a Redis or Valkey server: `redis://10.0.0.5:6379`, `rediss://user:password@cache.example.com/0`. */
export function toRedis(text: string): string {
  if (!/^rediss?:\/\/./.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('Give a URL such as redis://10.0.0.5:6379, or rediss:// for TLS.')
  return text
}

/** The URL of an OpenID provider: HTTPS, or HTTP on this machine, because secrets are sent to it. */
export function toIssuer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const local = url?.protocol === 'http:' && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  if (url?.protocol !== 'https:' && !local)
    throw new InvalidArgumentError('Give an https address, such as https://login.example.com.')
  return text
}

/** IP addresses and networks, separated by commas: `10.0.0.0/8,192.168.1.7`. */
export function toNetworks(text: string): readonly string[] {
  const networks = text.split(',').map((network) => network.trim())
  for (const network of networks) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(network) ?? []
    const maximum = isIPv6(address) ? 128 : 32
    if (isIP(address) === 0 || Number(bits ?? maximum) > maximum)
      throw new InvalidArgumentError('Give addresses or networks, such as 10.0.0.0/8,192.168.1.7.')
  }
  return networks
}

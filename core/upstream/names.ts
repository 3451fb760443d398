import dns, { type LookupAddress, type RecordWithTtl } from 'node:dns'
import fs from 'node:fs'
import { isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { BoundedMap } from '../async/bounded-map.ts'
import { CodedError } from '../errors.ts'

/** Limits of a look-up, in milliseconds: of one question to one name server, which doubles with each try, and of all questions. */
const TRY_MS = 1000
const TRIES = 3
const DEADLINE_MS = 5000

/** How long the other family may take once one has answered, in milliseconds (RFC 8305 §3). */
const RESOLUTION_DELAY_MS = 50

/** Range of the time for which an answer is kept, in milliseconds. A failure is kept for the shortest time. */
const KEPT_MS = { least: 1000, most: 60_000 }
const MOST_NAMES = 1000

/** Names that only multicast DNS knows (RFC 6762); a longer name such as `ollama.default.svc.cluster.local` is DNS's. */
const MULTICAST = /^[^.]+\.local\.?$/
/** RFC 6761 §6.3 */
const LOCALHOST = /(?:^|\.)localhost$/
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** c-ares' codes for a name without an address, or too long to have one. */
const NO_ADDRESS: readonly unknown[] = ['ENOTFOUND', 'ENODATA', 'EBADNAME']
const hasNoAddress = (error: unknown): boolean => NO_ADDRESS.includes((error as NodeJS.ErrnoException).code)

/** The addresses of a name. `ttl`: seconds for which they may be kept. */
interface Answer {
  readonly addresses: readonly LookupAddress[]
  readonly ttl: number
}

const names = new BoundedMap<string, KnownName>(MOST_NAMES)

/**
 * Resolves the name of an upstream, for `net.connect` with `autoSelectFamily`. Not by getaddrinfo: it blocks one of libuv's four threads,
 * so four names that hang would stop all others (docs/decisions/names-of-upstreams.md). Fails with the code ENOTFOUND, EAI_AGAIN if a
 * name server fails or is silent, or that of reading /etc/hosts or /etc/resolv.conf.
 */
export const lookup: LookupFunction = (name, _, done) => {
  let known = names.get(name)
  if (known === undefined || known.isExpired) {
    known = new KnownName(name)
    names.set(name, known)
  }
  known.addresses().then(
    (addresses) => done(null, addresses),
    (error) => done(error, []),
  )
}

/** A name and its addresses, or the attempt to find them: calls that ask meanwhile share it. */
class KnownName {
  readonly #answer: Promise<Answer>
  #expiresAt = Number.POSITIVE_INFINITY
  #uses = 0

  constructor(name: string) {
    this.#answer = resolve(name)
    this.#answer.then(
      ({ ttl }) => this.#keep(Math.min(Math.max(ttl * 1000, KEPT_MS.least), KEPT_MS.most)),
      // An error without a host name is not about the name: a file of this machine, such as resolv.conf, could not be read.
      (error) => this.#keep('hostname' in error ? KEPT_MS.least : 0),
    )
  }

  get isExpired(): boolean {
    return performance.now() >= this.#expiresAt
  }

  /** IPv4 first, and each time in another order, so that connections are spread over all addresses. */
  async addresses(): Promise<LookupAddress[]> {
    const { addresses } = await this.#answer
    const use = this.#uses++
    return [4, 6].flatMap((family) => {
      const some = addresses.filter((each) => each.family === family)
      const first = use % some.length
      return [...some.slice(first), ...some.slice(0, first)]
    })
  }

  #keep(ms: number): void {
    this.#expiresAt = performance.now() + ms
  }
}

/** Resolves as getaddrinfo would: by /etc/hosts, then by DNS. */
async function resolve(name: string): Promise<Answer> {
  // Other systems resolve names in ways that their own function alone knows.
  if (process.platform !== 'linux' || MULTICAST.test(name)) return bySystem(name)
  const bare = name.replace(/\.$/, '')
  const addresses = inHosts(bare)
  if (addresses.length > 0) return { addresses, ttl: 0 }
  return LOCALHOST.test(bare) ? { addresses: LOOPBACK, ttl: 0 } : byNameServer(name)
}

async function bySystem(name: string): Promise<Answer> {
  return { addresses: await dns.promises.lookup(name, { all: true, hints: dns.ADDRCONFIG }), ttl: 0 }
}

function inHosts(name: string): readonly LookupAddress[] {
  return linesOf('/etc/hosts').flatMap(([address = '', ...names]) => {
    const family = isIP(address)
    return family !== 0 && names.some((each) => each.toLowerCase() === name) ? [{ address, family }] : []
  })
}

/** The words of each line of a file, without comments. A file that does not exist is empty, as for getaddrinfo. */
function linesOf(path: string): string[][] {
  try {
    const lines = fs
      .readFileSync(path, 'latin1')
      .replace(/[#;].*/g, '')
      .split('\n')
    return lines.map((line) => line.trim().split(/\s+/))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Asks the name servers of /etc/resolv.conf, which c-ares reads again for each look-up. */
async function byNameServer(name: string): Promise<Answer> {
  const resolver = new dns.promises.Resolver({ timeout: TRY_MS, tries: TRIES })
  const deadline = setTimeout(() => resolver.cancel(), DEADLINE_MS)
  let cause: NodeJS.ErrnoException | undefined
  try {
    for (const candidate of candidates(name)) {
      try {
        return await ask(resolver, candidate)
      } catch (error) {
        if (hasNoAddress(error)) continue
        cause = error as NodeJS.ErrnoException
        // As getaddrinfo: a search domain whose server fails is passed over, a silent name server ends the search.
        if (cause.code !== 'ESERVFAIL') break
      }
    }
  } finally {
    clearTimeout(deadline)
    resolver.cancel()
  }
  const code = cause === undefined ? 'ENOTFOUND' : 'EAI_AGAIN'
  throw new LookupError(code, name, cause)
}

/** A name has no address, or none could be found. */
class LookupError extends CodedError {
  /** As Node's errors of the resolver have it. */
  readonly hostname: string

  constructor(code: string, hostname: string, cause: unknown) {
    super(code, `${code} ${hostname}`, { cause })
    this.hostname = hostname
  }
}

/** The full names that a name may stand for, by the search domains of resolv.conf(5). */
function candidates(name: string): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  let domains: readonly string[] = []
  let ndots = 1
  for (const [keyword, ...values] of linesOf('/etc/resolv.conf')) {
    if (keyword === 'search' || keyword === 'domain') domains = values.map((domain) => domain.replace(/\.$/, '')).filter(Boolean)
    const option = keyword === 'options' ? values.findLast((value) => /^ndots:\d+$/.test(value)) : undefined
    if (option !== undefined) ndots = Number(option.slice('ndots:'.length))
  }
  const searched = domains.map((domain) => `${name}.${domain}`)
  return name.split('.').length > ndots ? [name, ...searched] : [...searched, name]
}

/** Asks for the addresses of both families at once. */
async function ask(resolver: dns.promises.Resolver, name: string): Promise<Answer> {
  const found: (LookupAddress & RecordWithTtl)[] = []
  const asking = [resolver.resolve4(name, { ttl: true }), resolver.resolve6(name, { ttl: true })].map(async (answer) => {
    for (const record of await answer) found.push({ ...record, family: isIP(record.address) })
  })
  await Promise.any(asking).catch(({ errors }: AggregateError) => {
    throw errors.find((error) => !hasNoAddress(error)) ?? errors[0]
  })
  await Promise.race([Promise.allSettled(asking), delay(RESOLUTION_DELAY_MS, undefined, { ref: false })])
  return { addresses: reachable(found), ttl: Math.min(...found.map(({ ttl }) => ttl)) }
}

/**
 * Leaves out the family in which this machine has no address, unless all are of that family: `net.connect` gives all addresses but the
 * last one 250 ms, and would give a distant upstream no more because an address follows that cannot be reached.
 */
function reachable(addresses: readonly LookupAddress[]): readonly LookupAddress[] {
  const own = Object.values(networkInterfaces()).flatMap((list = []) =>
    list.filter(({ internal, scopeid }) => !internal && !scopeid),
  )
  const some = addresses.filter(({ family }) => own.some((each) => each.family === `IPv${family}`))
  return some.length > 0 ? some : addresses
}

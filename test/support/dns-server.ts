import dgram from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIP, type Socket } from 'node:net'

/** What a name server says of a name. */
export interface Zone {
  /** Of IPv6 only `::1`. Without one of a family, the name has no record of its type. */
  readonly addresses?: readonly string[]
  /** Seconds. */
  readonly ttl?: number
  /** `silent`: no answer to questions for this family, or for either. */
  readonly silent?: 4 | 6 | 'both'
  readonly failure?: 'NXDOMAIN' | 'SERVFAIL'
  /** Over UDP the answer is cut: it must be asked for over TCP. */
  readonly truncated?: true
}

/** A name server on loopback, which all resolvers of this process ask while it runs. Other names than its own do not exist. */
export interface DnsServer {
  /** `127.0.0.1:12345` */
  readonly address: string
  /** What it says, by name; a test may change it. */
  readonly zones: Map<string, Zone>
  /** The questions so far: `A name`, `AAAA name`; over TCP `A name by TCP`. */
  readonly questions: readonly string[]
  close(): Promise<void>
}

const RCODES = { NXDOMAIN: 3, SERVFAIL: 2 } as const
const TYPES = { 1: { name: 'A', family: 4 }, 28: { name: 'AAAA', family: 6 } } as const
const [RESPONSE, TRUNCATED] = [0x8180, 0x0200]
const HEADER_BYTES = 12
const IPV6_LOOPBACK = Buffer.from([...Array(15).fill(0), 1])

/** Starts a name server. */
export async function dnsServer(zones: Readonly<Record<string, Zone>> = {}): Promise<DnsServer> {
  const known = new Map(Object.entries(zones))
  const questions: string[] = []
  const udp = dgram.createSocket('udp4').on('message', (query, { address, port }) => {
    const answer = answerTo(query, 'UDP')
    if (answer !== undefined) udp.send(answer, port, address)
  })
  const sockets = new Set<Socket>()
  const tcp = createServer((socket) => {
    sockets.add(socket)
    // A query of a resolver comes in one piece, after two bytes of length.
    socket.on('data', (bytes) => {
      const answer = answerTo(bytes.subarray(2), 'TCP')
      if (answer !== undefined) socket.write(Buffer.concat([uint16(answer.length), answer]))
    })
  })
  // TCP first: connections of other processes take free ports of TCP all the time.
  await once(tcp.listen(0, '127.0.0.1'), 'listening')
  const { port } = tcp.address() as AddressInfo
  udp.bind(port, '127.0.0.1')
  await once(udp, 'listening')

  function answerTo(query: Buffer, transport: 'UDP' | 'TCP'): Buffer | undefined {
    const { name, type, end } = questionOf(query)
    const { name: typeName, family } = TYPES[type as keyof typeof TYPES]
    questions.push(`${typeName} ${name}${transport === 'TCP' ? ' by TCP' : ''}`)
    const { addresses = [], ttl = 60, silent, failure, truncated }: Zone = known.get(name) ?? { failure: 'NXDOMAIN' }
    if (silent === 'both' || silent === family) return undefined
    const isCut = truncated === true && transport === 'UDP'
    const records = addresses.filter((address) => isIP(address) === family).map((address) => recordOf(type, ttl, address))
    const flags = RESPONSE | (isCut ? TRUNCATED : 0) | (failure === undefined ? 0 : RCODES[failure])
    const counts = [1, isCut ? 0 : records.length, 0, 0]
    const header = Buffer.concat([query.subarray(0, 2), ...[flags, ...counts].map(uint16)])
    return Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...(isCut ? [] : records)])
  }

  const address = `127.0.0.1:${port}`
  const leave = askNameServer(address)
  return {
    address,
    zones: known,
    questions,
    async close() {
      leave()
      for (const socket of sockets) socket.destroy()
      udp.close()
      tcp.close()
      await Promise.all([once(udp, 'close'), once(tcp, 'close')])
    },
  }
}

/** Makes all resolvers of this process ask a name server. Returns how to undo that. */
export function askNameServer(address: string): () => void {
  const { Resolver } = dns.promises
  dns.promises.Resolver = class extends Resolver {
    constructor(options?: dns.ResolverOptions) {
      super(options)
      this.setServers([address])
    }
  }
  return () => {
    dns.promises.Resolver = Resolver
  }
}

function questionOf(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** A record of the name in question, which a pointer repeats. */
function recordOf(type: number, ttl: number, address: string): Buffer {
  const bytes = isIP(address) === 4 ? Buffer.from(address.split('.').map(Number)) : IPV6_LOOPBACK
  const [pointer, internet] = [0xc00c, 1]
  return Buffer.concat([...[pointer, type, internet, 0, ttl, bytes.length].map(uint16), bytes])
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

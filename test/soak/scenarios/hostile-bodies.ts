/** A body made to block the event loop. */
export interface HostileBody {
  readonly name: string
  readonly body: Buffer
  /** The expected status. */
  readonly status: number
}

const MESSAGES = '{"model":"open/whole","messages":['

const filled = (content: string, count: number): Buffer =>
  Buffer.from(`${MESSAGES}${Array(count).fill(`{"role":"user","content":"${content}"}`).join()}]}`)

/** From bodies that are refused at the first byte to bodies that must be forwarded. */
export const HOSTILE: readonly HostileBody[] = [
  { name: '20 MB of brackets', body: Buffer.alloc(20 << 20, '['), status: 400 },
  { name: '20 MB of brackets for messages', body: Buffer.from(MESSAGES + '['.repeat(20 << 20)), status: 400 },
  { name: '1,000,000 messages', body: filled('', 1_000_000), status: 400 },
  { name: '30 MB of ordinary messages', body: filled('Hello, world! '.repeat(500), 4_300), status: 200 },
  { name: '30 MB in 40,000 messages', body: filled('x'.repeat(720), 40_000), status: 200 },
  { name: '30 MB of escaped quotes', body: filled('\\"'.repeat(15 << 20), 1), status: 200 },
]

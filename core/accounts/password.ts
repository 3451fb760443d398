import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { GatewayError } from '../errors.ts'

/** OWASP's Password Storage Cheat Sheet: 19 MiB, two passes, one lane. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const HASH_BYTES = 32

/** Characters. A phrase of a few words is easier to keep in mind, and harder to guess, than signs in odd places. */
const SHORTEST = 12
const LONGEST = 200

/** Each holds 19 MiB and a processor for some 40 ms. */
const AT_ONCE = 2
const MAX_WAITING = 20

const run = promisify(argon2)

/** Throws `invalid_value` for a new password that is too short, too long to be one, or has in it what others `know`. */
export function checkPassword(password: string, param: string, know: readonly string[] = []): void {
  const { length } = [...password]
  const lowered = password.toLowerCase()
  const detail =
    length < SHORTEST || length > LONGEST
      ? `it must have ${SHORTEST} to ${LONGEST} characters; a few words that only you would put together are good ones`
      : know.some((text) => lowered.includes(text.toLowerCase()))
        ? 'others know what is in it: take nothing of your address or of the link'
        : undefined
  if (detail !== undefined) throw new GatewayError('invalid_value', { param, values: { detail } })
}

/** Hashes a password for the store: argon2id as a PHC string. Throws `service_unavailable` where too many wait for it. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  return phc(COST, salt, await inTurn(() => hash(password, salt, COST)))
}

/**
 * Whether a password is the one of a hash. Without a hash, for somebody who does not exist or has no password, it is as much work,
 * so that its time tells nothing. Throws `service_unavailable` where too many wait for it.
 */
export async function isPassword(password: string, stored: string | null | undefined): Promise<boolean> {
  const { cost, salt, wanted } = readPhc(stored ?? NOBODYS)
  const found = await inTurn(() => hash(password, salt, cost))
  return timingSafeEqual(found, wanted) && stored != null
}

type Cost = typeof COST

async function hash(password: string, nonce: Buffer, cost: Cost): Promise<Buffer> {
  return run('argon2id', { message: password.normalize('NFKC'), nonce, tagLength: HASH_BYTES, ...cost })
}

/** https://github.com/P-H-C/phc-string-format/blob/master/phc-sf-spec.md */
function phc({ memory, passes, parallelism }: Cost, salt: Buffer, found: Buffer): string {
  const [saltText, hashText] = [salt, found].map((bytes) => bytes.toString('base64').replaceAll('=', ''))
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${saltText}$${hashText}`
}

function readPhc(text: string): { readonly cost: Cost; readonly salt: Buffer; readonly wanted: Buffer } {
  const fields = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(text)
  if (fields === null) throw new Error('the stored password is not an argon2id hash')
  const [memory, passes, parallelism] = fields.slice(1, 4).map(Number) as [number, number, number]
  const [salt, wanted] = fields.slice(4).map((part) => Buffer.from(part, 'base64')) as [Buffer, Buffer]
  return { cost: { memory, passes, parallelism }, salt, wanted }
}

/** What nobody's password hashes to: no 32 zero bytes come out of argon2id. */
const NOBODYS = phc(COST, randomBytes(SALT_BYTES), Buffer.alloc(HASH_BYTES))

let running = 0
const waiting: (() => void)[] = []

/** Guessing must not take the processors from the calls: few at once, and the rest in turn. */
async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (waiting.length >= MAX_WAITING) throw new GatewayError('service_unavailable', { headers: { 'retry-after': '5' } })
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  else running++
  try {
    return await work()
  } finally {
    // Whoever is next takes the place over.
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

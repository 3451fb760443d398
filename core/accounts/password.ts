import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Semaphore } from '../async/semaphore.ts'
import { GatewayError } from '../errors.ts'

/** The parameters of OWASP's Password Storage Cheat Sheet: 19 MiB, two passes, one lane. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const HASH_BYTES = 32

/**
 * Characters. No rule asks for odd ones (NIST SP 800-63B): a phrase is easier to remember and harder to guess. What is common, repeated,
 * in a row on a keyboard or a date is refused, however long it is.
 */
const MIN_LENGTH = 12
const MAX_LENGTH = 200
/** Characters that are estimated: the time grows with their square, and a good beginning is not made worse by its end. */
const ESTIMATED = 64
/** Of zxcvbn's scores from 0 to 4: more than 10⁸ guesses. */
const LEAST_SCORE = 3

/** Hashes computed concurrently: each takes 19 MiB, and a processor for some 40 ms. */
const CONCURRENCY = 2
const MAX_QUEUED = 20

const run = promisify(argon2)

/** Throws `invalid_value` for a new password that is too short or too long, contains a text that others know, or is easily guessed. */
export async function checkPassword(password: string, param: string, known: readonly string[] = []): Promise<void> {
  const { length } = [...password]
  const lowered = password.toLowerCase()
  const detail =
    length < MIN_LENGTH || length > MAX_LENGTH
      ? `it must have ${MIN_LENGTH} to ${MAX_LENGTH} characters; a few unrelated words are a good choice`
      : known.some((text) => lowered.includes(text.toLowerCase()))
        ? 'it must not contain your e-mail address or the link'
        : (await isEasilyGuessed(password))
          ? 'it is easily guessed, because it is common, or repeats or continues a pattern; a few unrelated words are a good choice'
          : undefined
  if (detail !== undefined) throw new GatewayError('invalid_value', { param, values: { detail } })
}

async function isEasilyGuessed(password: string): Promise<boolean> {
  estimating ??= openEstimator()
  const estimator = await estimating
  return estimator.check(password.slice(0, ESTIMATED)).score < LEAST_SCORE
}

let estimating: ReturnType<typeof openEstimator> | undefined

/** Loaded when the first password is set: its dictionaries take 30 MB and a fifth of a second. */
async function openEstimator() {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs: graphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ])
  return new ZxcvbnFactory({ dictionary, graphs })
}

/** Hashes a password for the store: argon2id, as a PHC string. Throws `service_unavailable` if too many hashes are queued. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  return phc(COST, salt, await limited(() => hash(password, salt, COST)))
}

/**
 * Whether a password matches a stored hash. Without a hash (an unknown user, or one without a password) it takes as long, so that the
 * time reveals nothing. Throws `service_unavailable` if too many hashes are queued.
 */
export async function verifyPassword(password: string, stored: string | null | undefined): Promise<boolean> {
  const { cost, salt, wanted } = readPhc(stored ?? NO_HASH)
  const found = await limited(() => hash(password, salt, cost))
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

/** The hash of no password: argon2id never yields 32 zero bytes. */
const NO_HASH = phc(COST, randomBytes(SALT_BYTES), Buffer.alloc(HASH_BYTES))

const places = new Semaphore(CONCURRENCY)

/** Runs a few hashes at once and queues the rest, so that guessing passwords does not take the processors from calls. */
function limited<Result>(work: () => Promise<Result>): Promise<Result> {
  if (places.waiting >= MAX_QUEUED) throw new GatewayError('service_unavailable', { headers: { 'retry-after': '5' } })
  return places.run(work)
}

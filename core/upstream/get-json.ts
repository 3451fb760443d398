import type { Dispatcher } from 'undici'
import { CodedError } from '../errors.ts'
import { Agent, request } from '../internals.ts'
import { ScanError } from '../protocol/json.ts'
import { MAX_VALUES, parseWithin } from '../protocol/upstream-json.ts'
import { type Host, readRefusal, Secret, UpstreamError, type UpstreamHeaders } from '../sdk/api.ts'
import { connectorWith } from './client.ts'
import { clean, valuesSent } from './failures.ts'

/** Size limits of a document and of a refusal, in bytes. */
const MAX_DOCUMENT = 4 << 20
const MAX_REFUSAL = 64 << 10

/**
 * Returns what GETs a JSON document by connections that `connect` opens. It follows no redirect, which would forward the credential. It
 * throws an Error that says what is wrong with the reply and contains no secret. The cause of a refusal is an `UpstreamError` with the
 * upstream's message, filtered by `clean`.
 */
export function getJsonBy(connect = connectorWith()): Host['getJson'] {
  const dispatcher = new Agent({ connect })
  return (url, options) => get(url, dispatcher, options)
}

/** A document that is no upstream's, and needs no credential. */
export interface Document {
  readonly bytes: Buffer
  /** When it was changed, in milliseconds since 1970; undefined if its server does not say. */
  readonly modified: number | undefined
}

/** Returns what GETs documents of at most `limit` bytes, by the same rules. */
export function getDocumentBy(connect: ReturnType<typeof connectorWith>, limit: number) {
  const dispatcher = new Agent({ connect })
  return async (url: string, signal: AbortSignal): Promise<Document> => {
    const reply = await ask(url, dispatcher, { headers: {}, signal })
    if (reply.statusCode !== 200) {
      reply.body.on('error', () => undefined).destroy()
      throw new Error(`GET ${url}: status ${reply.statusCode}`)
    }
    const bytes = await readAll(reply.body, limit).catch(rethrow(url))
    if (bytes === undefined) throw new CodedError('REPLY_TOO_LARGE', `GET ${url}: more than ${limit} bytes`)
    const modified = Date.parse(String(reply.headers['last-modified']))
    return { bytes, modified: Number.isNaN(modified) ? undefined : modified }
  }
}

interface GetOptions {
  readonly headers: UpstreamHeaders
  readonly signal: AbortSignal
}

async function get(url: string, dispatcher: Dispatcher, { headers, signal }: GetOptions): Promise<unknown> {
  const reply = await ask(url, dispatcher, { headers, signal })
  if (reply.statusCode !== 200) {
    const cause = await readCause(reply, valuesSent(headers, url))
    throw new Error(`GET ${url}: status ${reply.statusCode}${hintOf(reply.statusCode)}`, { cause })
  }
  const bytes = await readAll(reply.body, MAX_DOCUMENT).catch(rethrow(url))
  if (bytes === undefined) throw new CodedError('REPLY_TOO_LARGE', `GET ${url}: more than ${MAX_DOCUMENT} bytes`)
  return parse(url, bytes)
}

function ask(url: string, dispatcher: Dispatcher, { headers, signal }: GetOptions): Promise<Dispatcher.ResponseData> {
  const plainHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value instanceof Secret ? value.reveal() : value]),
  )
  const { origin, pathname, search } = new URL(url)
  const options = {
    origin,
    path: pathname + search,
    method: 'GET',
    headers: { ...plainHeaders, accept: 'application/json' },
    signal,
  } as const
  return request.call(dispatcher, options).catch(rethrow(url))
}

/** Rethrows a transport error with its code, never its message. */
const rethrow =
  (url: string) =>
  (error: NodeJS.ErrnoException): never => {
    // An abort's code is a number.
    const code = typeof error.code === 'string' ? error.code : ABORTS[error.name]
    throw new CodedError(code ?? 'REQUEST_FAILED', `GET ${url}: ${typeof error.code === 'string' ? error.code : error.name}`)
  }

/** The codes of aborts, by the names of what `AbortSignal` throws. */
const ABORTS: Readonly<Record<string, string>> = { TimeoutError: 'TOOK_TOO_LONG', AbortError: 'REQUEST_ABORTED' }

/** The upstream's message is only in the cause: the Error's may go anywhere. */
async function readCause(
  { statusCode: status, body }: Dispatcher.ResponseData,
  hidden: readonly string[],
): Promise<UpstreamError> {
  const bytes = await readAll(body, MAX_REFUSAL).catch(() => undefined)
  const message = clean(readRefusal(status, {}, bytes?.toString('utf8') ?? '').message ?? '', hidden)
  return new UpstreamError({ status, ...(message && { message }) })
}

/** Advice for a status, or for its class. */
const HINTS: Readonly<Record<string, string>> = {
  401: '; check the API key',
  402: '; the account at the upstream has no credit left',
  403: '; the API key may not read this: allow it to, or use another',
  404: '; check baseUrl',
  405: '; check baseUrl',
  429: '; the account at the upstream is at a limit: ask again later',
  '3xx': '; it has moved: let baseUrl say where to',
  '4xx': '; check the API key and baseUrl',
  '5xx': '; the upstream is at fault: ask again later',
}

const hintOf = (status: number): string => HINTS[status] ?? HINTS[`${Math.floor(status / 100)}xx`] ?? ''

/** Undefined if the body exceeds `limit`. */
async function readAll(body: AsyncIterable<Buffer>, limit: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > limit) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function parse(url: string, bytes: Buffer): unknown {
  try {
    return parseWithin(bytes, MAX_VALUES)
  } catch (error) {
    const isTooMuch = error instanceof ScanError && error.code !== 'syntax'
    if (isTooMuch) throw new CodedError('REPLY_TOO_LARGE', `GET ${url}: more than 50,000 objects and arrays, or 64 levels`)
    throw new CodedError('REPLY_NO_JSON', `GET ${url}: not JSON`)
  }
}

import { type DestinationStream, type Level, type LevelWithSilent, type Logger, pino } from 'pino'
// Not by the seam: every command of the command line would load TypeBox with it.
import { GatewayError } from '../errors.ts'
import { PluginFailure } from '../plugins/faults.ts'
import type { HostLog } from '../sdk/host.ts'
import { UpstreamError } from '../sdk/refusals.ts'

export type { LevelWithSilent as LogLevel } from 'pino'

/** The options of a log. */
interface LogOptions {
  readonly level: LevelWithSilent
  /** Stdout if absent. */
  readonly stream?: DestinationStream
}

/**
 * Creates the gateway's log: one JSON object a line, its time in ISO 8601 and its level a word. Secrets and content are kept out by
 * not being logged; an error in the field `err` is reduced by `describeCause`.
 */
export function createLog({ level, stream = stdout() }: LogOptions): Log {
  const logger = pino(
    {
      level,
      // No pid and host name: log collectors add the origin of a line.
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeCause },
    },
    stream,
  )
  return new Log(logger, stream)
}

/** The gateway's log: pino's logger, and the stream that it writes to. */
export class Log implements HostLog {
  readonly #logger: Logger
  readonly #stream: DestinationStream

  constructor(logger: Logger, stream: DestinationStream) {
    this.#logger = logger
    this.#stream = stream
  }

  info(fields: object, message: string): void {
    this.#logger.info(fields, message)
  }

  warn(fields: object, message: string): void {
    this.#logger.warn(fields, message)
  }

  error(fields: object, message: string): void {
    this.#logger.error(fields, message)
  }

  /** Writes what is buffered. */
  flush(): Promise<void> {
    return new Promise((resolve) => this.#logger.flush(() => resolve()))
  }

  /** Logs an error that ends the process, and flushes the stream. */
  fatal(fields: object, message: string): void {
    this.#logger.fatal(fields, message)
  }

  /** Writes the same line as the method of that level in half the time: for the line of a call. `fields`: at least one. */
  writeLine(level: Level, fields: object, message: string): void {
    if (!this.#logger.isLevelEnabled(level)) return
    const json = stringify(fields)
    // A third-party plugin may tag a call with values that are not JSON: pino writes the rest.
    if (json === undefined) this.#logger[level](fields, message)
    else this.#stream.write(`{"level":"${level}","time":"${new Date().toISOString()}",${json.slice(1, -1)},"msg":"${message}"}\n`)
  }
}

function stringify(fields: object): string | undefined {
  try {
    return JSON.stringify(fields)
  } catch {
    return undefined
  }
}

/**
 * Asynchronous: a slow reader of the log must not delay calls. Lines are buffered for a tenth of a second, since a write for each
 * would cost as much as the rest of a call; pino flushes the buffer at the exit.
 */
function stdout(): DestinationStream & { flush(done: (error?: Error) => void): void; flushSync(): void } {
  // Bytes: the length of buffered text is recomputed with every line.
  const bytes = pino.destination({ fd: 1, sync: false, minLength: 16_000, periodicFlush: 100, contentMode: 'buffer' })
  return {
    // Its types declare text only.
    write: (line) => void bytes.write(Buffer.from(line) as never),
    flush: (done) => bytes.flush(done),
    flushSync: () => bytes.flushSync(),
  }
}

/** The shapes of Node's, undici's, OpenSSL's and SQLite's codes: ECONNRESET, UND_ERR_SOCKET, CERT_HAS_EXPIRED, SQLITE_BUSY. */
const CODE = /^(?:E[A-Z]{2,16}|[A-Z]{2,16}(?:_[A-Z0-9]{1,24}){1,8})$/
const CLASS = /^(?:[A-Z][A-Za-z]{0,40})?(?:Error|Exception)$/
const PLACE = /\(?((?:file:\/\/|node:|\/|[A-Za-z]:\\)[^()\s]*:\d+:\d+)\)?$/
/** The text before the message: `TypeError: `, or the class alone if the message is empty. */
const STACK_OPENING = /^\S*(?:: )?$/
const DEEPEST = 5

/**
 * Reduces a thrown value to a few safe words for the log: a code (`ECONNREFUSED`), or else the class and the place that threw
 * (`TypeError at /srv/audit.ts:12:5`); after the plugin's name if a plugin threw it. Never the message, which may quote a body, a key
 * or a reply: errors of the gateway that say more have a `code` of the same shape. Never throws.
 */
export function describeCause(error: unknown): string | undefined {
  if (error === undefined) return undefined
  if (error instanceof PluginFailure) return `${error.plugin}: ${describeCause(error.cause) ?? 'thrown undefined'}`
  try {
    return codeOf(error) ?? nameOf(error)
  } catch {
    return 'an error that cannot be read'
  }
}

/** The first code of the error and its chain of causes. */
function codeOf(error: unknown): string | undefined {
  let current = error
  for (let depth = 0; depth < DEEPEST && typeof current === 'object' && current !== null; depth++) {
    if (current instanceof GatewayError) return current.row
    if (current instanceof UpstreamError) return `UpstreamError ${Math.trunc(current.refusal.status)}`
    const { code, cause } = current as { readonly code?: unknown; readonly cause?: unknown }
    if (typeof code === 'string' && CODE.test(code)) return code
    current = cause
  }
  return undefined
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return `thrown ${error === null ? 'null' : typeof error}`
  const name = CLASS.test(error.name) ? error.name : 'Error'
  const place = placeOf(error)
  return place === undefined ? name : `${name} at ${place}`
}

/** The first stack frame's file, line and column. A stack begins with the message, which may imitate frames: it is cut off first. */
function placeOf({ stack = '', message }: Error): string | undefined {
  const start = stack.indexOf(`${message}\n`)
  if (start < 0 || !STACK_OPENING.test(stack.slice(0, start))) return undefined
  const frames = stack.slice(start + message.length).split('\n')
  return frames.map((frame) => PLACE.exec(frame)?.[1]).find((place) => place !== undefined)
}

import { type DestinationStream, type Level, type LevelWithSilent, type Logger, pino } from 'pino'
// Not by the seam: every command of the command line would load TypeBox with it.
import { GatewayError } from '../errors.ts'
import { PluginFailure } from '../plugins/faults.ts'
import { UpstreamError } from '../sdk/refusals.ts'

export type { LevelWithSilent as LogLevel, Logger } from 'pino'

/** Which lines are written, and where to. */
export interface LogOptions {
  readonly level: LevelWithSilent
  /** Absent: stdout. */
  readonly stream?: DestinationStream
}

/**
 * The gateway's log: one JSON object a line, its time in ISO 8601 and its level a word. Secrets and content are kept out by not
 * being logged; an error in the field `err` is reduced by `describeCause`.
 */
export function createLog({ level, stream = stdout() }: LogOptions): Logger {
  return pino(
    {
      level,
      // No pid and host name: whoever collects the lines knows where they come from.
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeCause },
    },
    stream,
  )
}

/**
 * Writes a line as `log[level](fields, msg)` does, in half the time: for the one line that every call has. `log`: no child, whose own
 * fields would be left out. `fields`: at least one.
 */
export function writeLine(log: Logger, level: Level, fields: object, msg: string): void {
  if (!log.isLevelEnabled(level)) return
  const text = jsonOf(fields)
  if (text === undefined) {
    // What a stranger's plugin says of a call may be no JSON: pino writes what can be written of it.
    log[level](fields, msg)
    return
  }
  const stream = (log as unknown as { readonly [pino.symbols.streamSym]: DestinationStream })[pino.symbols.streamSym]
  stream.write(`{"level":"${level}","time":"${new Date().toISOString()}",${text.slice(1, -1)},"msg":"${msg}"}\n`)
}

function jsonOf(fields: object): string | undefined {
  try {
    return JSON.stringify(fields)
  } catch {
    return undefined
  }
}

/**
 * Not synchronous: a slow reader of the log must not hold up calls. Lines are gathered for a tenth of a second, since a write for
 * each would cost as much as the rest of a call; what is unwritten at the exit is flushed by pino.
 */
function stdout(): DestinationStream & { flush(done: (error?: Error) => void): void; flushSync(): void } {
  // As bytes: of text that waits, the length in bytes is counted anew with every line.
  const bytes = pino.destination({ fd: 1, sync: false, minLength: 16_000, periodicFlush: 100, contentMode: 'buffer' })
  return {
    // Its types know of text only.
    write: (line) => void bytes.write(Buffer.from(line) as never),
    flush: (done) => bytes.flush(done),
    flushSync: () => bytes.flushSync(),
  }
}

/** The shapes of Node's, undici's, OpenSSL's and SQLite's codes: ECONNRESET, UND_ERR_SOCKET, CERT_HAS_EXPIRED, SQLITE_BUSY. */
const CODE = /^(?:E[A-Z]{2,16}|[A-Z]{2,16}(?:_[A-Z0-9]{1,24}){1,8})$/
const CLASS = /^(?:[A-Z][A-Za-z]{0,40})?(?:Error|Exception)$/
const PLACE = /\(?((?:file:\/\/|node:|\/|[A-Za-z]:\\)[^()\s]*:\d+:\d+)\)?$/
/** What stands before the message: `TypeError: `, or the class alone where there is no message. */
const STACK_OPENING = /^\S*(?:: )?$/
const DEEPEST = 5

/**
 * Reduces whatever was thrown to a few safe words for the log: a code (`ECONNREFUSED`), or else the class and the place that
 * threw (`TypeError at /srv/audit.ts:12:5`); behind the name of the plugin where one is at fault. Never the message: it may quote a body, a key, or a reply. An error of ours that
 * has more to tell carries a `code` of the same shape. Does not throw, whatever it is given.
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

/** The first code on the way from the error to the cause of its causes. */
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

/** The first stack frame's file, line and column. A stack opens with the message, which may imitate frames: it is cut off first. */
function placeOf({ stack = '', message }: Error): string | undefined {
  const start = stack.indexOf(`${message}\n`)
  if (start < 0 || !STACK_OPENING.test(stack.slice(0, start))) return undefined
  const frames = stack.slice(start + message.length).split('\n')
  return frames.map((frame) => PLACE.exec(frame)?.[1]).find((place) => place !== undefined)
}

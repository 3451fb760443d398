import { type DestinationStream, type Level, type LevelWithSilent, type Logger, pino } from 'pino'
import type { HostLog } from '../sdk/host.ts'
import { describeCause } from './describe-cause.ts'

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
    else this.#stream.write(`{"level":"${level}","time":"${isoTime(Date.now())}",${json.slice(1, -1)},"msg":"${message}"}\n`)
  }
}

/** The time of the last line: under load, many are written in one millisecond. */
let lastTime = 0
let lastText = ''

function isoTime(time: number): string {
  if (time !== lastTime) {
    lastTime = time
    lastText = new Date(time).toISOString()
  }
  return lastText
}

function stringify(fields: object): string | undefined {
  try {
    return JSON.stringify(fields)
  } catch {
    return undefined
  }
}

/** How long a line waits for others, in milliseconds. */
const FLUSH_MS = 100

/**
 * Asynchronous: a slow reader of the log must not delay calls. Lines are buffered for a tenth of a second, since a write for each
 * would cost as much as the rest of a call; pino flushes the buffer at the exit, which may overtake a write that a thread has begun.
 */
function stdout(): DestinationStream & { flush(done: (error?: Error) => void): void; flushSync(): void } {
  // Bytes: the length of buffered text is recomputed with every line.
  const bytes = pino.destination({ fd: 1, sync: false, minLength: 16_000, contentMode: 'buffer' })
  let isFlushDue = false
  /** Bytes that are buffered or being written. */
  let unwritten = 0
  const flush = (): void => {
    isFlushDue = false
    bytes.flush()
  }
  bytes.on('write', (written: number) => {
    unwritten = Math.max(0, unwritten - written)
  })
  // A flush does nothing during a write: the lines for which it was due may be few, and the last ones.
  bytes.on('drain', () => {
    if (unwritten > 0 && !isFlushDue) bytes.flush()
  })
  return {
    // Its types declare text only.
    write: (line) => {
      const buffer = Buffer.from(line)
      unwritten += buffer.length
      bytes.write(buffer as never)
      // Not pino's own, which wakes up a process that has written nothing.
      if (isFlushDue) return
      isFlushDue = true
      setTimeout(flush, FLUSH_MS).unref()
    },
    flush: (done) => bytes.flush(done),
    flushSync: () => {
      bytes.flushSync()
      unwritten = 0
    },
  }
}

import type { Duplex } from 'node:stream'

type Result<Method> = Method extends (...args: never[]) => infer Returned ? Awaited<Returned> : never
type Arguments<Method> = Method extends (...args: infer Args) => unknown ? Args : never

/** `[id, name, arguments]` calls a function, and `[id, null, Answer]` is its answer. */
type Message = readonly [id: number, name: string | null, value: unknown]

interface Answer {
  readonly result?: unknown
  /** The message of the error that was thrown. */
  readonly error?: string
}

/** The other process did not answer, because it has ended or hangs, or its function threw. */
export class ChannelError extends Error {
  override readonly name = 'ChannelError'
}

/** A message cannot be sent, since it is not JSON: it will never be. */
export class EncodingError extends Error {
  override readonly name = 'EncodingError'
}

const CLOSED = 'the connection to the other process has closed'

/**
 * Calls between two processes, over a stream that both have one end of: a line of JSON for each message. `Remote`: the functions of the
 * other side, `Local`: those of this one; their arguments and results are JSON. A message that cannot be read closes the connection.
 */
export class Channel<Remote extends object, Local extends object> {
  readonly #stream: Duplex
  readonly #methods: ReadonlyMap<string, (...args: unknown[]) => unknown>
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #lastId = 0

  /** Aborted when the other side is gone. */
  readonly closed: AbortSignal

  /** `methods`: the functions that the other side may call. */
  constructor(stream: Duplex, methods: Local) {
    this.#stream = stream
    this.#methods = new Map(Object.entries(methods))
    const closed = new AbortController()
    this.closed = closed.signal
    // After an error it closes.
    stream.on('error', () => undefined)
    // node:readline would end a line at U+2028, which JSON does not escape, and at the end of the stream, although a process may be killed
    // while it writes a message.
    let rest = ''
    stream.setEncoding('utf8').on('data', (text: string) => {
      rest += text
      if (!text.includes('\n')) return
      const lines = rest.split('\n')
      rest = lines.pop()!
      for (const line of lines) this.#receive(line)
    })
    stream.once('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new ChannelError(CLOSED))
      this.#waiting.clear()
      closed.abort()
    })
  }

  /**
   * Calls a function of the other side. Rejects with a ChannelError if it throws, or if the connection closes before it answers; a process
   * that hangs is ended by the supervisor. Rejects with an EncodingError, and sends nothing, if the arguments are not JSON.
   */
  async call<Name extends keyof Remote & string>(name: Name, ...args: Arguments<Remote[Name]>): Promise<Result<Remote[Name]>> {
    if (this.closed.aborted) throw new ChannelError(CLOSED)
    const id = ++this.#lastId
    const line = lineOf([id, name, args])
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    this.#stream.write(line)
    return (await waiting.promise) as Result<Remote[Name]>
  }

  /** Closes this end. */
  close(): void {
    this.#stream.destroy()
  }

  #receive(line: string): void {
    const message = messageOf(line)
    if (message === undefined) {
      this.#stream.destroy()
      return
    }
    const [id, name, value] = message
    if (name !== null) void this.#answer(id, name, value as unknown[])
    else this.#settle(id, value as Answer)
  }

  #settle(id: number, { result, error }: Answer): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error === undefined) waiting?.resolve(result)
    else waiting?.reject(new ChannelError(error))
  }

  async #answer(id: number, name: string, args: readonly unknown[]): Promise<void> {
    let line: string
    try {
      line = lineOf([id, null, { result: await this.#methods.get(name)!(...args) }])
    } catch (error) {
      line = lineOf([id, null, { error: error instanceof Error ? error.message : String(error) }])
    }
    this.#stream.write(line)
  }
}

function lineOf(message: Message): string {
  try {
    return `${JSON.stringify(message)}\n`
  } catch (cause) {
    throw new EncodingError('the message is not JSON', { cause })
  }
}

/** Undefined for a line that is not a message: a process of another version may have written it. */
function messageOf(line: string): Message | undefined {
  try {
    const [id, name, value] = JSON.parse(line) as unknown[]
    const isCall = typeof name === 'string' && Array.isArray(value)
    const isAnswer = name === null && typeof value === 'object' && value !== null
    return typeof id === 'number' && (isCall || isAnswer) ? [id, name, value] : undefined
  } catch {
    return undefined
  }
}

import { text as textOf } from 'node:stream/consumers'
import { rawConnection } from '../../support/raw-connection.ts'

/** What was asked and answered: it may stand in replies, and nowhere else. */
export const CONTENT = { prompt: 'The prompt of canary 4711, which is secret', answer: 'The answer of canary 4711, which is too' }

/** The keys of clients, good and bad ones. */
export type ClientKeys = Readonly<
  Record<'live' | 'test' | 'few' | 'short' | 'revoked' | 'expired' | 'disabled' | 'unknown', string>
>

/** What of a call may differ from a good one. */
export interface Asked {
  /** Default: the live one. Empty: none. */
  readonly key?: string
  readonly requestLine?: string
  readonly lines?: readonly string[]
  readonly model?: string
  /** Of the body, beside or in place of its own. */
  readonly members?: object
  readonly body?: string
}

/** Sends calls, and keeps every byte of their replies. */
export class Calls {
  readonly replies: string[] = []
  readonly keys: ClientKeys
  readonly #url: string

  constructor(url: string, keys: ClientKeys) {
    this.#url = url
    this.keys = keys
  }

  async ask({ key = this.keys.live, requestLine, lines = [], model = 'open/x', members, body }: Asked): Promise<void> {
    const sent = body ?? JSON.stringify({ model, messages: [{ role: 'user', content: CONTENT.prompt }], ...members })
    const given = new Set(lines.map((line) => line.slice(0, line.indexOf(':'))))
    const usual = [
      'Host: gateway',
      'Connection: close',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(sent)}`,
    ]
    const head = [
      requestLine ?? 'POST /v1/chat/completions HTTP/1.1',
      ...usual.filter((line) => !given.has(line.slice(0, line.indexOf(':')))),
      ...(key === '' ? [] : [`Authorization: Bearer ${key}`]),
      ...lines,
    ]
    await this.send(`${head.join('\r\n')}\r\n\r\n${sent}`)
  }

  /** Sends bytes on a connection of their own, and waits until it is closed. */
  async send(bytes: string): Promise<void> {
    const { socket } = await rawConnection(this.#url)
    socket.write(bytes)
    this.replies.push(await textOf(socket))
  }
}

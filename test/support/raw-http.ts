import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'

/** A request that no SDK would send. */
export interface RawRequest {
  /** Default: GET. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent with its length, unless the headers set another framing. */
  readonly body?: string | Buffer
  /** False: the request is never ended. */
  readonly whole?: boolean
}

/** An error in OpenAI's shape. */
export interface WireError {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

/** A reply whose body is neither decoded nor read until requested. */
export class RawReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Whether `100 Continue` came before it. */
  readonly continued: boolean
  readonly #message: IncomingMessage
  readonly #pieces: Buffer[] = []
  #reading = false
  #wake = (): void => {}

  constructor(message: IncomingMessage, continued: boolean) {
    this.status = message.statusCode!
    this.headers = message.headers
    this.continued = continued
    this.#message = message
    // `complete` tells whether a reply broke off.
    message.on('error', () => {})
  }

  /** Whether the body ended by its framing. */
  get complete(): boolean {
    return this.#message.complete
  }

  /** The body, to its end or until it breaks off. */
  async bytes(): Promise<Buffer> {
    this.#read()
    while (!this.#message.closed) await this.#next()
    return Buffer.concat(this.#pieces)
  }

  async text(): Promise<string> {
    return (await this.bytes()).toString()
  }

  async json(): Promise<Readonly<Record<string, unknown>>> {
    return JSON.parse(await this.text())
  }

  /** The error in the body. */
  async error(): Promise<WireError> {
    return (JSON.parse(await this.text()) as { readonly error: WireError }).error
  }

  /** Resolves to the body so far when it matches. Throws if it ends first. */
  async until(pattern: RegExp): Promise<string> {
    this.#read()
    for (;;) {
      const text = Buffer.concat(this.#pieces).toString()
      if (pattern.test(text)) return text
      if (this.#message.closed) throw new Error(`the reply ended without ${pattern}: ${JSON.stringify(text)}`)
      await this.#next()
    }
  }

  /** Closes the connection. */
  leave(): void {
    this.#message.destroy()
  }

  #read(): void {
    if (this.#reading) return
    this.#reading = true
    this.#message.on('data', (bytes: Buffer) => {
      this.#pieces.push(bytes)
      this.#wake()
    })
    this.#message.on('close', () => this.#wake())
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

/** Sends a request on a new connection. Resolves to its reply after the head. */
export function rawHttp(url: string, { method = 'GET', headers = {}, body, whole = true }: RawRequest = {}): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    let continued = false
    const sending = request(url, { method, headers, agent: false })
    sending.on('continue', () => {
      continued = true
    })
    sending.on('response', (message) => resolve(new RawReply(message, continued)))
    sending.on('error', reject)
    if (body !== undefined) sending.write(body)
    if (whole) sending.end()
    else sending.flushHeaders()
  })
}

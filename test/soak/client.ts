import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { SoakedGateway } from './fixture.ts'

/** The variable part of a chat completion request. */
export interface Asked {
  readonly model: string
  readonly stream?: boolean
}

/** The reply to a call. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** False if the reply broke off. */
  readonly whole: boolean
  /** Milliseconds. */
  readonly took: number
}

/** Calls a gateway with a key, on keep-alive connections. */
export interface Client {
  /** Resolves when the reply has ended or broken off. `leaveAt`: the client disconnects after this text. */
  call(body: string | Buffer, leaveAt?: string): Promise<Answer>
  /** Connections open now. */
  readonly connections: number
  close(): void
}

export const bodyOf = ({ model, stream = false }: Asked): string =>
  JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Are you there?' }] })

/** The bytes of a call, for a raw socket. */
export const callBytes = (key: string, body: string): string =>
  [
    'POST /v1/chat/completions HTTP/1.1',
    'host: gateway',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')

export function createClient({ url }: Pick<SoakedGateway, 'url'>, key: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  const count = (sockets: NodeJS.ReadOnlyDict<unknown[]>) => Object.values(sockets).reduce((sum, some) => sum + some!.length, 0)

  function send(body: string | Buffer): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return new Promise((resolve, reject) => {
      request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers })
        .on('response', resolve)
        .on('error', reject)
        .end(body)
    })
  }

  async function call(body: string | Buffer, leaveAt?: string): Promise<Answer> {
    const startedAt = performance.now()
    const reply = await send(body)
    const received = await textOf(reply, leaveAt)
    const { statusCode, headers, complete } = reply
    return { status: statusCode!, headers, body: received, whole: complete, took: performance.now() - startedAt }
  }

  return {
    call,
    get connections() {
      return count(agent.sockets) + count(agent.freeSockets)
    },
    close: () => agent.destroy(),
  }
}

/** The body, or its part until the client disconnects. */
async function textOf(reply: IncomingMessage, leaveAt: string | undefined): Promise<string> {
  let text = ''
  try {
    for await (const piece of reply.setEncoding('utf8')) {
      text += piece
      if (leaveAt !== undefined && text.includes(leaveAt)) break
    }
  } catch {
    // `complete` tells that the reply broke off.
  }
  return text
}

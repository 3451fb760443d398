import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

const KEY = Buffer.from('a key of thirty-two bytes, or so')

/** The secret of webhooks, as routes.yaml has it. */
export const SECRET = `whsec_${KEY.toString('base64')}`

/** A message that a webhook has received. */
export interface Received {
  readonly id: string
  /** Whether the signature is that of the id, the time and the body. */
  readonly isSigned: boolean
  readonly body: { readonly type: string; readonly data: Readonly<Record<string, unknown>> }
}

/** A server that receives messages of webhooks. */
export interface WebhookReceiver {
  readonly url: string
  readonly received: readonly Received[]
  /** Resolves when there are so many messages. */
  until(count: number): Promise<void>
  /** The statuses of the next answers; then it is 204. */
  answer(...statuses: number[]): void
  close(): Promise<void>
}

export async function webhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = []
  const waiting = new Set<() => void>()
  const statuses: number[] = []
  const server = createServer(async (request, response) => {
    const text = (await buffer(request)).toString()
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = request.headers
    const isRecent = Math.abs(Number(timestamp) - Date.now() / 1000) < 300
    const expected = createHmac('sha256', KEY).update(`${id}.${timestamp}.${text}`).digest('base64')
    received.push({ id: String(id), isSigned: isRecent && signature === `v1,${expected}`, body: JSON.parse(text) })
    response.writeHead(statuses.shift() ?? 204, { location: '/elsewhere' }).end()
    for (const check of waiting) check()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    until: (count) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (received.length < count) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    answer: (...next) => void statuses.push(...next),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

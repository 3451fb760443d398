import { createHmac, hash } from 'node:crypto'
import { SerialQueue } from '../async/serial-queue.ts'
import type { BudgetsConfig } from '../config/config.ts'
import type { Log } from '../observe/log.ts'
import type { Secret } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'
import type { WebhookMessagesTable } from '../store/schema.ts'

/** How long a webhook may take to answer, in milliseconds. */
const ANSWER_MS = 10_000
/** Messages that are sent at the same time. */
const MAX_SENT = 20

/** Times of deliveries, in milliseconds. */
export interface WebhookTimes {
  /** How often messages are looked for that are due. */
  readonly poll: number
  /** The pauses after failed deliveries; after the last of them a message is dropped. */
  readonly pauses: readonly number[]
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const TIMES: WebhookTimes = {
  poll: 5 * SECOND,
  pauses: [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR],
}

/** The options of `Webhooks`. */
export interface WebhooksOptions {
  readonly store: Store
  readonly log: Log
  /** Those in use. */
  endpoints(): BudgetsConfig['webhooks']
  readonly times?: WebhookTimes
}

/** What a message names its webhook by: the URL may hold a secret. */
export const endpointOf = (url: string): string => hash('sha256', url)

/**
 * Delivers the messages of the table `webhook_messages`, signed as Standard Webhooks says. A webhook accepts a message by a status from 200
 * to 299; else it gets the message again. All gateways on a database deliver, and each message is sent by one of them.
 */
export class Webhooks {
  readonly #options: WebhooksOptions
  readonly #times: WebhookTimes
  readonly #closing = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #deliveries = new SerialQueue()

  constructor(options: WebhooksOptions) {
    this.#options = options
    this.#times = options.times ?? TIMES
    this.#timer = setInterval(() => this.wake(), this.#times.poll).unref()
  }

  /** Delivers what is due, now. */
  wake(): void {
    const failed = (err: unknown): void => this.#options.log.warn({ err }, 'messages to webhooks cannot be read')
    this.#deliveries.run(() => this.#deliver()).catch(failed)
  }

  /** Ends deliveries: another gateway, or the next start, goes on with them. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#deliveries.ended()
  }

  async #deliver(): Promise<void> {
    if (this.#closing.signal.aborted) return
    const { store } = this.#options
    const due = store.db.selectFrom('webhook_messages').selectAll().where('due_at', '<=', Date.now()).orderBy('due_at')
    const messages = await store.read(due.limit(MAX_SENT))
    await Promise.all(messages.map((message) => this.#deliverOne(message)))
    if (messages.length === MAX_SENT) await this.#deliver()
  }

  async #deliverOne(message: WebhookMessagesTable): Promise<void> {
    const endpoints = this.#options.endpoints()
    const index = endpoints.findIndex(({ url }) => endpointOf(url) === message.endpoint)
    // No longer in routes.yaml.
    if (index === -1) return this.#remove(message)
    if (!(await this.#claim(message))) return
    const fields = { webhook: `budgets.webhooks[${index}]`, message: message.id, tries: message.tries + 1 }
    try {
      await this.#send(endpoints[index]!, message)
      await this.#remove(message)
    } catch (error) {
      if (this.#closing.signal.aborted) return
      const reason = error instanceof Refused ? error.message : ((error as Error).cause ?? error)
      const pause = this.#times.pauses[message.tries]
      await (pause === undefined ? this.#remove(message) : this.#postpone(message, pause))
      this.#options.log.warn(
        { ...fields, reason: String((reason as { readonly code?: unknown }).code ?? reason) },
        pause === undefined ? 'a webhook did not accept a message, which is dropped' : 'a webhook did not accept a message',
      )
    }
  }

  /** Moves the time of the next delivery on, in case that this gateway ends. Resolves to false if another one has done so. */
  async #claim({ id, endpoint, tries }: WebhookMessagesTable): Promise<boolean> {
    const { numUpdatedRows } = await this.#options.store.db
      .updateTable('webhook_messages')
      .set({ tries: tries + 1, due_at: Date.now() + 2 * ANSWER_MS })
      .where('id', '=', id)
      .where('endpoint', '=', endpoint)
      .where('tries', '=', tries)
      .executeTakeFirstOrThrow()
    return numUpdatedRows === 1n
  }

  async #postpone({ id, endpoint }: WebhookMessagesTable, pause: number): Promise<void> {
    const message = this.#options.store.db.updateTable('webhook_messages').set({ due_at: Date.now() + pause })
    await message.where('id', '=', id).where('endpoint', '=', endpoint).execute()
  }

  async #remove({ id, endpoint }: WebhookMessagesTable): Promise<void> {
    const message = this.#options.store.db.deleteFrom('webhook_messages').where('id', '=', id)
    await message.where('endpoint', '=', endpoint).execute()
  }

  async #send({ url, secret }: BudgetsConfig['webhooks'][number], { id, body }: WebhookMessagesTable): Promise<void> {
    const reply = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signatureHeaders(secret, id, body) },
      body,
      // A signed message is for this address only.
      redirect: 'manual',
      signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(ANSWER_MS)]),
    })
    await reply.body?.cancel()
    if (!reply.ok) throw new Refused(`status ${reply.status}`)
  }
}

/** A webhook answered with another status than 2xx. */
class Refused extends Error {}

/** The headers of Standard Webhooks: https://www.standardwebhooks.com. */
function signatureHeaders(secret: Secret, id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const key = Buffer.from(secret.reveal().replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

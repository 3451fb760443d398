import { CHAT, type ClientApi, MESSAGES, RESPONSES, type UpstreamApi } from './apis.ts'
import { type ChatRequest, IMAGE_CHAT, LONG_CHAT, SHORT_CHAT } from './requests.ts'

/** One kind of load. */
export interface Scenario {
  readonly name: string
  /** What CPU, p50 and p99 are given per: a reply, a whole stream, or one event of a stream (then p50 and p99 are its delay). */
  readonly unit: 'request' | 'stream' | 'event'
  /** What the upstream is asked by. */
  readonly api: UpstreamApi
  /** What the gateway is asked by. Absent: chat completions. */
  readonly client?: ClientApi
  readonly messages: ChatRequest['messages']
  readonly stream?: NonNullable<ChatRequest['stream']>
  readonly connections: number
  /** How long requests are sent in one round. */
  readonly seconds: number
  /** Requests per second; absent: a connection's next request follows its last reply. */
  readonly rate?: number
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'small',
    unit: 'request',
    api: CHAT,
    messages: SHORT_CHAT,
    connections: 64,
    seconds: 1.5,
  },
  {
    name: 'stream',
    unit: 'stream',
    api: CHAT,
    messages: SHORT_CHAT,
    stream: { events: 100, delayUs: 0 },
    connections: 16,
    seconds: 1.5,
  },
  {
    name: 'translated',
    unit: 'stream',
    api: MESSAGES,
    messages: SHORT_CHAT,
    stream: { events: 100, delayUs: 0 },
    connections: 16,
    seconds: 1.5,
  },
  { name: 'translated-whole', unit: 'request', api: MESSAGES, messages: SHORT_CHAT, connections: 64, seconds: 1.5 },
  {
    name: 'by-responses',
    unit: 'stream',
    api: RESPONSES,
    messages: SHORT_CHAT,
    stream: { events: 100, delayUs: 0 },
    connections: 16,
    seconds: 1.5,
  },
  {
    name: 'messages',
    unit: 'stream',
    api: MESSAGES,
    client: 'messages',
    messages: SHORT_CHAT,
    stream: { events: 100, delayUs: 0 },
    connections: 16,
    seconds: 1.5,
  },
  {
    name: 'responses',
    unit: 'stream',
    api: MESSAGES,
    client: 'responses',
    messages: SHORT_CHAT,
    stream: { events: 100, delayUs: 0 },
    connections: 16,
    seconds: 1.5,
  },
  { name: 'long-text', unit: 'request', api: CHAT, messages: LONG_CHAT, connections: 16, seconds: 1.5 },
  { name: 'image', unit: 'request', api: CHAT, messages: IMAGE_CHAT, connections: 16, seconds: 1.5 },
  {
    name: 'paced-stream',
    unit: 'event',
    api: CHAT,
    messages: SHORT_CHAT,
    stream: { events: 100, delayUs: 10_000 },
    connections: 200,
    seconds: 2,
    rate: 100,
  },
  {
    name: 'rate-1000',
    unit: 'request',
    api: CHAT,
    messages: SHORT_CHAT,
    connections: 64,
    seconds: 2.5,
    rate: 1000,
  },
]

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import type OpenAI from 'openai'
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses'
import {
  type Hold,
  json,
  openaiReply,
  type ScriptedUpstream,
  type Step,
  scriptedUpstream,
  sse,
} from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import { anthropic } from '../sdk/anthropic-dialect.ts'
import { response, responseEvents } from './fixture.ts'

/** An upstream of each kind, by its namespace: what it replies. */
export const UPSTREAMS = {
  native: { whole: (text: string): object => response(text), events: (text: string): readonly string[] => responseEvents(text) },
  chat: {
    whole: (text: string): object => openaiReply({ text }).whole,
    events: (text: string): readonly string[] => openaiReply({ text }).stream,
  },
  claude: {
    whole: (text: string): object => anthropic.whole({ text: [text] }),
    events: (text: string): readonly string[] => anthropic.events({ text: [text] }) as readonly string[],
  },
} as const

export type UpstreamName = keyof typeof UPSTREAMS

/** A whole reply that waits. */
export const wholeAfter = (gate: Hold, name: UpstreamName, text: string): Step[] => {
  const [head, ...body] = json(UPSTREAMS[name].whole(text))
  return [gate, head!, ...body]
}

/** A stream that waits before its last events. */
export const streamUntil = (gate: Hold, name: UpstreamName, text: string): Step[] => {
  const events = UPSTREAMS[name].events(text)
  return sse([...events.slice(0, 2), gate, ...events.slice(2)])
}

/** A gateway that keeps responses, on an upstream that serves all protocols. */
export function startKeeping(
  { origin }: ScriptedUpstream,
  { chain = [], ...options }: Partial<TestGatewayOptions> & { readonly chain?: readonly object[] } = {},
): Promise<TestGateway> {
  const config = { baseUrl: `${origin}/v1`, apiKey: '${env:KEY}' }
  return startTestGateway({
    env: { KEY: 'k', UMG_RESPONSES_KEY: 'k'.repeat(32) },
    ...options,
    routes: {
      chain: [{ plugin: 'auth' }, ...chain],
      namespaces: {
        chat: { provider: 'openai-compatible', breaker: false, config },
        native: { provider: 'openai-compatible', breaker: false, config: { ...config, responses: true } },
        claude: { provider: 'anthropic', breaker: false, config: { ...config, baseUrl: origin } },
      },
      keepResponses: { keys: ['${env:UMG_RESPONSES_KEY}'] },
      ...(options.routes as object),
    },
  })
}

export { scriptedUpstream }

/** Asks for a response until it has ended. */
export const ended = (client: OpenAI, id: string): Promise<Response> =>
  poll(
    () => client.responses.retrieve(id) as Promise<Response>,
    ({ status }) => status !== 'queued' && status !== 'in_progress',
  )

/** All events of a stream. */
export async function allOf(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

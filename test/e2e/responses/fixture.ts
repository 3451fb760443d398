import type OpenAI from 'openai'
import { type Fixture, type FixtureOptions, startFixture as startUpstreams } from '../messages/fixture.ts'

/** A gateway with upstreams that have no Responses API, `claude`, `open` and `gemini`, and one that has: `native`, at the upstream `open`. */
export interface ResponsesFixture extends Omit<Fixture, 'client'> {
  /** OpenAI's SDK, without retries. */
  readonly client: OpenAI
}

/** Starts the gateway and its upstreams. */
export async function startFixture(options: FixtureOptions = {}): Promise<ResponsesFixture> {
  const native = (origin: string) => ({
    provider: 'openai-compatible',
    breaker: false,
    keptObjects: 'allow',
    config: { baseUrl: `${origin}/native`, responses: true },
  })
  const fixture = await startUpstreams({
    ...options,
    namespaces: (upstreams) => ({ native: native(upstreams.open.origin), ...options.namespaces?.(upstreams) }),
  })
  return { ...fixture, client: fixture.gateway.openai().withOptions({ maxRetries: 0 }) }
}

/** A minimal response of an upstream that has the API. */
export const response = (text: string) => ({
  id: 'resp_up1',
  object: 'response',
  status: 'completed',
  error: null,
  output: [message(text)],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
})

const message = (text: string) => ({
  type: 'message',
  id: 'msg_up1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})

/** One event of the Responses API. */
export const named = (type: string, members: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`

/** The events of a minimal response. */
export const responseEvents = (text: string): readonly string[] => [
  named('response.created', { sequence_number: 0, response: { ...response(text), status: 'in_progress', output: [] } }),
  named('response.output_text.delta', {
    sequence_number: 1,
    item_id: 'msg_up1',
    output_index: 0,
    content_index: 0,
    delta: text,
    logprobs: [],
  }),
  named('response.completed', { sequence_number: 2, response: response(text) }),
]

import { expect } from 'chai'
import { DONE, event, FIN, hold, reply, type ScriptedUpstream, type Step, sse } from '../../../core/testing/kit.ts'
import { type Fixture, named, startFixture } from '../messages/fixture.ts'

/** 2,000 tokens of text, in few events. */
const PIECES = Array.from({ length: 5 }, (_, index) => `${'word '.repeat(319)}wor${index} `)
const TEXT = PIECES.join('')

/** A usage in the terms of a protocol. */
type WriteUsage = (prompt: unknown, completion: unknown) => object

/** How calls of one protocol reach one kind of upstream. */
interface Way {
  readonly path: string
  readonly model: string
  readonly upstream: 'claude' | 'open' | 'gemini'
  readonly usage: WriteUsage
  /** The frames of the stream. `usage`: the final one; undefined: none. `start`: the one that its start has. */
  stream(usage: object | null | undefined, start: object): readonly string[]
  whole(usage: object | null | undefined): object
}

const MESSAGES: Omit<Way, 'path'> = {
  model: 'claude/claude-x',
  upstream: 'claude',
  usage: (input_tokens, output_tokens) => ({ input_tokens, output_tokens }),
  stream: (usage, start) => [
    named({
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'x', content: [], usage: start },
    }),
    named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...PIECES.map((text) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    named({ type: 'content_block_stop', index: 0 }),
    named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }),
    named({ type: 'message_stop' }),
  ],
  whole: (usage) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'x',
    content: [{ type: 'text', text: TEXT }],
    stop_reason: 'end_turn',
    usage,
  }),
}

const CHUNK = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const openai: WriteUsage = (prompt_tokens, completion_tokens) => ({ prompt_tokens, completion_tokens })

const CHAT: Omit<Way, 'path'> = {
  model: 'open/gpt',
  upstream: 'open',
  usage: openai,
  stream: (usage, start) => [
    event({ ...CHUNK, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }], usage: start }),
    ...PIECES.map((content) => event({ ...CHUNK, choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
    event({ ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    event({ ...CHUNK, choices: [], usage }),
    DONE,
  ],
  whole: (usage) => ({
    ...CHUNK,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
    usage,
  }),
}

const GEMINI: Omit<Way, 'path'> = {
  model: 'gemini/gemini-x',
  upstream: 'gemini',
  usage: (promptTokenCount, candidatesTokenCount) => ({ promptTokenCount, candidatesTokenCount }),
  stream: (usage, start) => [
    event({ responseId: 'r', candidates: [{ content: { parts: [{ text: '' }] } }], usageMetadata: start }),
    ...PIECES.map((text) => event({ candidates: [{ content: { parts: [{ text }] } }] })),
    event({ candidates: [{ finishReason: 'STOP' }], usageMetadata: usage }),
  ],
  whole: (usage) => ({ candidates: [{ content: { parts: [{ text: TEXT }] }, finishReason: 'STOP' }], usageMetadata: usage }),
}

const COMPLETIONS: Way = {
  ...CHAT,
  path: '/v1/completions',
  stream: (usage, start) => [
    event({ ...CHUNK, choices: [{ index: 0, text: '', finish_reason: null }], usage: start }),
    ...PIECES.map((text) => event({ ...CHUNK, choices: [{ index: 0, text, finish_reason: null }] })),
    event({ ...CHUNK, choices: [{ index: 0, text: '', finish_reason: 'stop' }], usage }),
    DONE,
  ],
  whole: (usage) => ({ ...CHUNK, object: 'text_completion', choices: [{ index: 0, text: TEXT, finish_reason: 'stop' }], usage }),
}

const typed = (data: { readonly type: string; readonly [member: string]: unknown }): string => event(data, data.type)

const RESPONSES: Way = {
  path: '/v1/responses',
  model: 'native/gpt',
  upstream: 'open',
  usage: (input_tokens, output_tokens) => ({ input_tokens, output_tokens }),
  stream: (usage, start) => [
    typed({ type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress', usage: start } }),
    ...PIECES.map((delta) =>
      typed({ type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta }),
    ),
    typed({ type: 'response.output_text.done', item_id: 'i', output_index: 0, content_index: 0, text: TEXT }),
    typed({ type: 'response.completed', response: { id: 'resp_1', object: 'response', status: 'completed', output: [], usage } }),
  ],
  whole: (usage) => ({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: TEXT }] }],
    usage,
  }),
}

const TRANSLATED = ['/v1/chat/completions', '/v1/messages', '/v1/responses']
const WAYS: readonly Way[] = [
  ...[MESSAGES, CHAT, GEMINI].flatMap((way) => TRANSLATED.map((path) => ({ ...way, path }))),
  COMPLETIONS,
  RESPONSES,
]

const requestOf = ({ path, model }: Way): object => {
  if (path === '/v1/responses') return { model, input: 'Hi', store: false }
  if (path === '/v1/completions') return { model, prompt: 'Hi' }
  return { model, max_tokens: 5000, messages: [{ role: 'user', content: 'Hi' }] }
}

/** A final usage that cannot be charged as it is. The prompt of those before is `START`. */
const IMPOSSIBLE: Readonly<Record<string, (write: WriteUsage) => object | null | undefined>> = {
  missing: () => undefined,
  null: () => null,
  negative: (write) => write(-5, -7),
  '1e300': (write) => write(1e300, 1e300),
  'of words': (write) => write('12', '2000'),
  fractions: (write) => write(0.5, 0.5),
  'beyond any model': (write) => write(1e12, 1e12),
  'of the prompt only': (write) => write(700, undefined),
  'too small for the text': (write) => write(700, 3),
}

const START = { prompt: 700, completion: 1 }

describe('An upstream that reports its usage', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture({
      namespaces: ({ open }) => ({
        native: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${open.origin}/v1`, responses: true } },
      }),
    })
  })
  after(() => fixture?.stop())

  interface Charged {
    readonly estimated: boolean
    readonly tokens: { readonly input: number; readonly output: number }
  }

  const upstreamOf = ({ upstream }: Way): ScriptedUpstream => fixture[upstream]

  async function chargedFor(way: Way, stream: boolean, script: readonly Step[]): Promise<Charged> {
    upstreamOf(way).on(() => script)
    const answer = await fixture.gateway.fetch(way.path, { json: { ...requestOf(way), stream } })
    // A stream that breaks is an error for the client too.
    await answer.text().catch(() => '')
    return charged(answer)
  }

  const charged = async (answer: Response): Promise<Charged> =>
    (await fixture.gateway.logged(({ id }) => id === answer.headers.get('x-request-id'))) as unknown as Charged

  for (const way of WAYS) {
    const started = (): object => way.usage(START.prompt, START.completion)

    describe(`${way.path} to ${way.model}`, () => {
      it('is charged by it, exactly', async () => {
        const usage = way.usage(712, 1990)
        for (const stream of [true, false]) {
          const script = stream ? sse(way.stream(usage, started())) : reply([JSON.stringify(way.whole(usage))])
          const { estimated, tokens } = await chargedFor(way, stream, script)
          expect({ stream, estimated }).to.deep.equal({ stream, estimated: false })
          expect(tokens).to.include({ input: 712, output: 1990 })
        }
      })

      for (const [name, usageOf] of Object.entries(IMPOSSIBLE)) {
        it(`that is ${name} is charged by estimate`, async () => {
          for (const stream of [true, false]) {
            const usage = usageOf(way.usage)
            const script = stream ? sse(way.stream(usage, started())) : reply([JSON.stringify(way.whole(usage))])
            const { estimated, tokens } = await chargedFor(way, stream, script)
            expect({ stream, estimated }).to.deep.equal({ stream, estimated: true })
            expect(tokens.output, `output, stream ${stream}`).to.be.within(2000, 3000)
            expect(tokens.input, `input, stream ${stream}`).to.be.within(1, 1000)
          }
        })
      }

      it('and breaks its stream is charged what it reported and wrote until then', async () => {
        const frames = way.stream(way.usage(712, 1990), started())
        for (const [count] of frames.slice(0, -1).entries()) {
          const sent = frames.slice(0, count)
          const written = PIECES.filter((piece) => sent.some((frame) => frame.includes(`"${piece}"`))).length
          const { estimated, tokens } = await chargedFor(way, true, sse([...sent, FIN]))
          if (tokens === undefined) expect(written, `a charge for ${count} events`).to.equal(0)
          else {
            expect(tokens.output, `output of ${count} events`).to.be.at.least(written * 400)
            expect(tokens.output).to.be.at.most(2100)
            if (sent.some((frame) => frame.includes('712'))) expect(tokens.output).to.be.at.least(1990)
            else expect(estimated).to.equal(true)
          }
        }
      })

      it('and is left by its client is charged what it reported and wrote until then', async () => {
        const frames = way.stream(way.usage(712, 1990), started())
        const at = frames.findIndex((frame) => frame.includes(`"${PIECES[0]!}"`)) + PIECES.length
        upstreamOf(way).on(() => sse([...frames.slice(0, at), hold()]))
        const leaving = new AbortController()
        const json = { ...requestOf(way), stream: true }
        const answer = await fixture.gateway.fetch(way.path, { json, signal: leaving.signal })
        let text = ''
        const decoder = new TextDecoder()
        try {
          for await (const bytes of answer.body!) {
            text += decoder.decode(bytes, { stream: true })
            if (text.includes('wor4')) leaving.abort()
          }
        } catch {}
        const { estimated, tokens } = await charged(answer)
        expect(estimated).to.equal(true)
        expect(tokens.output).to.be.within(2000, 2100)
        if (way.path !== '/v1/responses' || way.model !== 'native/gpt') expect(tokens.input).to.equal(START.prompt)
      })
    })
  }
})

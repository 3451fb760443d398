import { expect } from 'chai'
import { DONE, event, json, openaiReply, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { CHAT, type Heard, hear, MESSAGES, RESPONSES, type Refused, type Way } from './heard-reply.ts'

/** What an upstream sends as one message: whole, and as the deltas of a stream. */
interface Odd {
  readonly name: string
  readonly message?: object | null
  readonly deltas: readonly object[]
  readonly finish?: unknown
  /** What clients hear; ids only where they matter. Absent: the spare answers. */
  readonly heard?: Partial<Heard>
}

const SPARE = 'From the spare.'
const LOOK = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }
const LOOKED = { tools: [{ id: 'call_1', name: 'look', input: { a: 1 } }] }
const REASONED = { text: 'The answer', reasoning: 'Hm' }
const both = (name: string, message: object, more: Pick<Odd, 'heard' | 'finish'>): Odd => ({
  name,
  message,
  deltas: [message],
  ...more,
})
const calls = (...tool_calls: unknown[]) => ({ content: null, tool_calls })
const part = (more: object) => calls({ ...LOOK, index: 0, ...more })
const called = (more: object) => part({ function: { ...LOOK.function, ...more } })
const says = (content: unknown) => ({ content })

/** Shapes that vendors send, and what they mean. */
const READ: readonly Odd[] = [
  both('arguments as an object', called({ arguments: { a: 1 } }), { heard: LOOKED }),
  both('arguments of null', called({ arguments: null }), { heard: { tools: [{ id: 'call_1', name: 'look', input: {} }] } }),
  both('a call without a type', part({ type: null }), { heard: LOOKED }),
  both('a number as the id of a call', part({ id: 7 }), { heard: { tools: [{ ...LOOKED.tools[0]!, id: '7' }] } }),
  both('a list of calls with null', calls(null, { ...LOOK, index: 0 }), { heard: LOOKED }),
  both(
    'the content as text parts',
    says([
      { type: 'text', text: 'The ' },
      { type: 'text', text: 'answer' },
    ]),
    {
      heard: { text: 'The answer' },
    },
  ),
  both(
    'the content as reasoning and text',
    says([
      { type: 'reasoning', text: 'Hm' },
      { type: 'text', text: 'The answer' },
    ]),
    {
      heard: REASONED,
    },
  ),
  both(
    'the content as a summary of reasoning and text',
    says([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] },
      { type: 'text', text: 'The answer' },
    ]),
    { heard: REASONED },
  ),
  both(
    'the content as thinking and text',
    says([
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
      { type: 'text', text: 'The answer' },
    ]),
    { heard: REASONED },
  ),
  both(
    'harmless nulls',
    { role: null, content: 'Yes', refusal: null, tool_calls: null, reasoning_content: null },
    {
      heard: { text: 'Yes' },
    },
  ),
  {
    name: 'an answer that its limit cut before it began, without a message',
    deltas: [],
    finish: 'length',
    heard: { text: '', isComplete: false },
  },
  {
    name: 'an answer that its limit cut before it began, with a message of null',
    message: null,
    deltas: [],
    finish: 'length',
    heard: { text: '', isComplete: false },
  },
  both('a part of an answer with an unknown finish', says('Half'), {
    finish: 'abort',
    heard: { text: 'Half', isComplete: false },
  }),
]

/** Shapes that say nothing that a client could use. */
const REFUSED: readonly Odd[] = [
  both('finish_reason error', says('Half'), { finish: 'error' }),
  both('an upper-case finish_reason that is an error', says('Half'), { finish: 'ERROR' }),
  both('a number as content', says(7), {}),
  both('an object as content', says({ answer: 'Yes' }), {}),
  both('an unknown part of the content', says([{ type: 'riddle', riddle: 'Yes' }]), {}),
  both('a text as the list of calls', { content: null, tool_calls: 'look' }, {}),
  both('a text as a call', calls('look'), {}),
  both('a text as the function of a call', part({ function: 'look' }), {}),
  both('a call without a name', part({ function: { arguments: '{"a":1}' } }), {}),
  both('an object as the name of a call', called({ name: {} }), {}),
  both('an object as the id of a call', part({ id: {} }), {}),
  both('a number as arguments', called({ arguments: 7 }), {}),
  both('a list as arguments', called({ arguments: ['a'] }), {}),
  both('an object as finish_reason', says('Yes'), { finish: { type: 'stop' } }),
  both('a text as message', 'Yes' as unknown as object, {}),
  both('a list as message', ['Yes'], {}),
]

/** Shapes that only streams have. */
const STREAMED: readonly Odd[] = [
  {
    name: 'a second call at a used index',
    deltas: [
      part({ id: 'call_a', function: { name: 'look', arguments: '{"a":1}' } }),
      part({ id: 'call_b', function: { name: 'look', arguments: '{"a":2}' } }),
    ],
    heard: {
      tools: [
        { id: 'call_a', name: 'look', input: { a: 1 } },
        { id: 'call_b', name: 'look', input: { a: 2 } },
      ],
    },
  },
  {
    name: 'a name that comes after the id',
    deltas: [part({ function: { arguments: '' } }), calls({ index: 0, function: { name: 'look', arguments: '{"a":1}' } })],
    heard: LOOKED,
  },
  {
    name: 'a name that comes after the arguments began',
    deltas: [part({ function: { arguments: '{"a"' } }), calls({ index: 0, function: { name: 'look', arguments: ':1}' } })],
    heard: LOOKED,
  },
  {
    name: 'an id that comes with the name, after the index',
    deltas: [calls({ index: 0, type: 'function' }), part({})],
    heard: LOOKED,
  },
  {
    name: 'empty ids and names in later parts',
    deltas: [part({ function: { name: 'look', arguments: '{"a"' } }), part({ id: '', function: { name: '', arguments: ':1}' } })],
    heard: LOOKED,
  },
  {
    name: 'a new id in each part of a call',
    deltas: [part({ function: { name: 'look', arguments: '{"a"' } }), part({ id: 'call_2', function: { arguments: ':1}' } })],
    heard: LOOKED,
  },
  { name: 'a call whose name never comes', deltas: [part({ function: { arguments: '{"a":1}' } })] },
]

/** An error in the only choice, as OpenRouter sends it when a provider breaks off. */
const FAILED = { index: 0, error: { code: 502, message: 'Provider disconnected' }, finish_reason: 'error' }
const ERRORS: readonly { readonly name: string; readonly choice: object }[] = [
  { name: 'an error in a choice', choice: FAILED },
  { name: 'an error in a choice without a finish', choice: { ...FAILED, finish_reason: null } },
  { name: 'finish_reason error', choice: { index: 0, finish_reason: 'error' } },
]

describe("An upstream with shapes that OpenAI's replies do not have", () => {
  let odd: ScriptedUpstream
  let spare: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    odd = await scriptedUpstream()
    spare = await scriptedUpstream()
    spare.on((request) => {
      const { whole, stream } = openaiReply({ text: SPARE })
      return (request.json() as { stream?: boolean }).stream ? sse(stream) : json(whole)
    })
    const provider = ({ origin }: ScriptedUpstream, config: object = {}) => ({
      provider: 'openai-compatible',
      breaker: false,
      config: { baseUrl: `${origin}/v1`, ...config },
    })
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          plain: provider(odd),
          // A quirk that has no effect on these replies: they are read, and not passed on as they are.
          read: provider(odd, { quirks: ['cached-tokens'] }),
          spare: provider(spare),
          acme: {
            models: {
              plain: { targets: [{ model: 'plain/m' }], fallbacks: ['spare/m'] },
              read: { targets: [{ model: 'read/m' }], fallbacks: ['spare/m'] },
            },
          },
        },
      },
    })
  })
  after(async () => {
    await gateway?.stop()
    await odd?.close()
    await spare?.close()
  })

  const wholeOf = ({ finish = 'stop', ...said }: Pick<Odd, 'message' | 'finish'>) =>
    json({ id: 'c1', choices: [{ index: 0, ...('message' in said && { message: said.message }), finish_reason: finish }] })
  const chunkOf = (delta: unknown, finish: unknown = null) =>
    event({ id: 'c1', choices: [{ index: 0, delta, finish_reason: finish }] })
  const streamOf = ({ deltas, finish = 'stop' }: Pick<Odd, 'deltas' | 'finish'>) =>
    sse([...deltas.map((delta) => chunkOf(delta)), chunkOf({}, finish), DONE])

  async function answer(way: Way, stream: boolean, script: Parameters<ScriptedUpstream['on']>[0], model = 'acme/read') {
    odd.on(script)
    return await hear(gateway, way, { model, stream })
  }

  /** Ids are compared where they matter: others are the gateway's own. */
  function expectHeard(heard: Heard | Refused, expected: Partial<Heard> | undefined): void {
    if (expected !== undefined) expect(heard).to.deep.include(expected)
    else if ('refused' in heard) expect(heard.refused).to.match(/^(502|upstream_\w+|api_error)$/)
    else expect(heard).to.include({ text: SPARE, isComplete: true })
  }

  for (const way of [{ ...CHAT, name: 'chat completions, passed on', model: 'acme/plain' }, CHAT, MESSAGES, RESPONSES]) {
    const model = 'model' in way ? String(way.model) : 'acme/read'

    for (const { name, choice } of ERRORS) {
      it(`falls back for ${name}: ${way.name}`, async () => {
        for (const content of ['', 'Half', 'x'.repeat(100_000)]) {
          const choices = [{ ...choice, message: { role: 'assistant', content } }]
          expectHeard(await answer(way, false, () => json({ id: 'c1', choices }), model), undefined)
        }
      })

      it(`ends a stream with an error for ${name}: ${way.name}`, async () => {
        const script = sse([chunkOf({ content: 'Half' }), event({ id: 'c1', choices: [{ ...choice, delta: {} }] }), DONE])
        expect(await answer(way, true, () => script, model)).to.have.property('refused')
      })

      it(`falls back for ${name} at the beginning of a stream: ${way.name}`, async () => {
        const script = sse([chunkOf({ content: '' }), event({ id: 'c1', choices: [{ ...choice, delta: {} }] }), DONE])
        expectHeard(await answer(way, true, () => script, model), { text: SPARE, isComplete: true })
      })
    }

    it(`ignores data of null in a stream: ${way.name}`, async () => {
      const nothing = 'data: null\n\n'
      const script = sse([nothing, chunkOf({ content: 'Yes' }), nothing, chunkOf({}, 'stop'), nothing, DONE])
      expectHeard(await answer(way, true, () => script, model), { text: 'Yes', isComplete: true })
    })
  }

  it('passes on a text that is about an error', async () => {
    const text = '{"error": "finish_reason"} "error"'
    const asked = await answer(
      CHAT,
      false,
      () => json(openaiReply({ text, tools: [{ name: 'look', arguments: { error: 'error' } }] }).whole),
      'acme/plain',
    )
    expectHeard(asked, { text, isComplete: true })
  })

  for (const way of [MESSAGES, RESPONSES]) {
    for (const stream of [false, true]) {
      it(`understands a call in the way before tools: ${way.name}${stream ? ', streamed' : ''}`, async () => {
        const whole = { content: null, function_call: { name: 'look', arguments: '{"a":1}' } }
        const deltas = [{ function_call: { name: 'look', arguments: '' } }, { function_call: { arguments: '{"a":1}' } }]
        const finish = 'function_call'
        const script = stream ? streamOf({ deltas, finish }) : wholeOf({ message: whole, finish })
        const heard = (await answer(way, stream, () => script)) as Heard
        expect(heard).to.include({ isComplete: true })
        expect(heard.tools.map(({ name, input }) => ({ name, input }))).to.deep.equal([{ name: 'look', input: { a: 1 } }])
      })
    }
  }

  for (const way of [CHAT, MESSAGES, RESPONSES]) {
    describe(`(${way.name})`, () => {
      for (const one of [...READ, ...REFUSED]) {
        const what = one.heard === undefined ? 'falls back for' : 'understands'
        it(`${what} ${one.name}`, async () => expectHeard(await answer(way, false, () => wholeOf(one)), one.heard))
      }
      for (const one of [...READ, ...REFUSED, ...STREAMED]) {
        const what = one.heard === undefined ? 'refuses' : 'understands'
        it(`${what} ${one.name}, streamed`, async () => expectHeard(await answer(way, true, () => streamOf(one)), one.heard))
      }

      it('understands a message instead of a delta, streamed', async () => {
        const choice = { index: 0, message: { role: 'assistant', content: 'Yes' }, finish_reason: 'stop' }
        const script = sse([event({ id: 'c1', choices: [choice] }), DONE])
        expectHeard(await answer(way, true, () => script), { text: 'Yes', isComplete: true })
      })

      it('falls back for a finish of tool calls without a call', async () => {
        expectHeard(await answer(way, false, () => wholeOf({ message: says('Half'), finish: 'tool_calls' })), undefined)
      })

      it('ignores nulls among the chunks of a stream', async () => {
        const nulls = ['data: null\n\n', event({ choices: null }), event({ choices: [null] }), chunkOf(null)]
        const script = sse([...nulls, chunkOf({ content: 'Yes' }), ...nulls, chunkOf({}, 'stop'), ...nulls, DONE])
        expectHeard(await answer(way, true, () => script), { text: 'Yes', isComplete: true })
      })
    })
  }
})

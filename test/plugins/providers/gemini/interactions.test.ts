import { expect } from 'chai'
import fc from 'fast-check'
import { gather, runTranslator, testCall } from 'unified-model-gateway/plugin/testing'
import { interactionParameters, toInteractionRequest } from '../../../../plugins/providers/gemini/interaction-request.ts'
import { factsOf } from '../../../../plugins/providers/gemini/models.ts'
import { expectParametersOn, providerPage } from '../../../support/provider-page.ts'
import { readChunks } from '../../../support/read-chunks.ts'
import { gemini } from './gemini.ts'
import { call, interaction, interactionEvent, output, thought } from './interactions.ts'

const MODEL = 'gemini-3.6-flash'
const TOOLS = [{ type: 'function', function: { name: 'look' } }]
const user = (content: unknown) => ({ role: 'user', content })

/** Whether a call goes by the Interactions API where the operator leaves the choice to the gateway. */
async function isChosen(asked: Readonly<Record<string, unknown>>, model = MODEL, config = {}): Promise<boolean> {
  const provider = await gemini(config)
  const body = { model: `google/${model}`, messages: [user('Hello')], ...asked }
  return provider.chatBy?.(testCall(body), model) !== undefined
}

const inputOf = (...messages: readonly object[]) =>
  toInteractionRequest({ model: MODEL, messages: messages as never }, { model: MODEL, facts: factsOf(MODEL) }).request.input

const provider = gemini({ api: 'interactions' })
const listen = async (stream: readonly string[], asked = {}) => runTranslator(await provider, { stream }, asked)
const complete = async (whole: object, asked = {}) => runTranslator(await provider, { whole }, asked)

describe('gemini: the choice of the API', () => {
  it('the Interactions API has calls with tools or a search', async () => {
    expect(await isChosen({ tools: TOOLS })).to.equal(true)
    expect(await isChosen({ web_search_options: {} })).to.equal(true)
    expect(await isChosen({})).to.equal(false)
  })

  it('generateContent has what the other loses', async () => {
    for (const lost of [{ n: 2 }, { logprobs: true }, { modalities: ['text', 'image'] }])
      expect(await isChosen({ tools: TOOLS, ...lost }), JSON.stringify(lost)).to.equal(false)
    for (const lost of [{ temperature: 0.5 }, { top_p: 0.5 }, { top_k: 5 }]) {
      expect(await isChosen({ tools: TOOLS, ...lost }, 'gemini-3-flash-preview'), JSON.stringify(lost)).to.equal(false)
      // This model takes none of them at either.
      expect(await isChosen({ tools: TOOLS, ...lost }), JSON.stringify(lost)).to.equal(true)
    }
    expect(await isChosen({ tools: TOOLS, n: 1, temperature: 1 }, 'gemini-3-flash-preview')).to.equal(true)
  })

  it('generateContent has models that think by a budget, or not at all', async () => {
    for (const model of ['gemini-2.5-pro', 'gemini-2.0-flash', 'gemma-4'])
      expect(await isChosen({ tools: TOOLS }, model)).to.equal(false)
  })

  it('other addresses than Google have generateContent, unless the operator says otherwise', async () => {
    expect(await isChosen({ tools: TOOLS }, MODEL, { baseUrl: 'https://proxy.example/v1beta' })).to.equal(false)
    expect(await isChosen({ tools: TOOLS }, MODEL, { api: 'generateContent' })).to.equal(false)
    expect((await gemini({ api: 'interactions' })).parameters).to.equal(interactionParameters)
  })
})

describe('gemini: a conversation as steps', () => {
  const made = (id: string, google?: object) => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: '{}' },
    ...(google && { extra_content: { google } }),
  })

  it('thoughts stand before what they led to', () => {
    const input = inputOf(
      user('Look.'),
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          made('a', { thought_signature: 'two', thought_signatures: ['one', 'two'] }),
          made('b', { thought_signature: 'three' }),
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
    )
    expect(input.map((step) => ('signature' in step ? step.signature : step.type))).to.deep.equal([
      'user_input',
      'one',
      'two',
      'model_output',
      'function_call',
      'three',
      'function_call',
      'function_result',
      'function_result',
    ])
  })

  it('two calls of the same id get different ones, and so do their results', () => {
    const turn = [
      { role: 'assistant', tool_calls: [made('a')] },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
    ]
    const input = inputOf(user('Look.'), ...turn, ...turn)
    const ids = input.flatMap((step) => ('call_id' in step ? [step.call_id] : 'id' in step ? [step.id] : []))
    expect(ids).to.deep.equal(['a', 'a', 'a_2', 'a_2'])
  })
})

describe('gemini: replies of the Interactions API', () => {
  it('a call has the id that Google gives it', async () => {
    const { chunks } = await listen(interaction([call('ktr5aysg', 'look', { at: 'Oslo' })]).stream)
    expect(gather(chunks).choices[0]!.tools[0]).to.include({ id: 'ktr5aysg', arguments: '{"at":"Oslo"}' })
  })

  it('a call has the signatures of all thoughts before it, and no others', async () => {
    const { whole, stream } = interaction([
      thought('one'),
      output('I look.'),
      thought('two', 'Hm.'),
      call('a', 'look'),
      call('b', 'look'),
      thought('three'),
      call('c', 'look'),
    ])
    const states = [
      { google: { thought_signature: 'two', thought_signatures: ['one', 'two'] } },
      undefined,
      { google: { thought_signature: 'three' } },
    ]
    const { chunks } = await listen(stream)
    expect(gather(chunks).choices[0]!.tools.map(({ extra_content: state }) => state)).to.deep.equal(states)
    const { choices } = await complete(whole)
    expect(choices[0]!.message.tool_calls!.map(({ extra_content: state }) => state)).to.deep.equal(states)
  })

  it('a step whose index comes again has ended', async () => {
    const { chunks, done } = await listen([
      interactionEvent('step.start', { index: 1, step: { type: 'function_call', id: 'a', name: 'look' } }),
      interactionEvent('step.start', { index: 1, step: { type: 'model_output' } }),
      interactionEvent('step.delta', { index: 1, delta: { type: 'text', text: 'I look.' } }),
      interactionEvent('interaction.completed', { interaction: { id: '', status: 'requires_action' } }),
    ])
    const { content, tools, finish } = gather(chunks).choices[0]!
    expect({ content, finish, done, text: tools[0]!.arguments }).to.deep.equal({
      content: 'I look.',
      finish: 'tool_calls',
      done: true,
      text: '{}',
    })
  })

  it('a status that says the end stands for the missing last event; a stream without either is cut', async () => {
    const [, , ...events] = interaction([output('Once')]).stream
    const cut = events.slice(0, 3)
    expect((await listen(cut)).done).to.equal(false)
    const { chunks, done } = await listen([
      ...cut,
      interactionEvent('interaction.status_update', { interaction_id: '', status: 'incomplete' }),
    ])
    expect([gather(chunks).choices[0]!.finish, done]).to.deep.equal(['length', true])
  })

  it('a filter that blocks ends the answer, and any other error fails it', async () => {
    const [created, status, start, delta] = interaction([output('I will')]).stream
    const begun = [created!, status!, start!, delta!]
    const blocked = await listen([
      ...begun,
      interactionEvent('error', { error: { code: 'prohibited_content', message: 'Blocked.' } }),
    ])
    expect([gather(blocked.chunks).choices[0]!.finish, blocked.done]).to.deep.equal(['content_filter', true])
    const failed = await listen([...begun, interactionEvent('error', { error: { code: 'malformed_tool_call', message: 'No.' } })])
    expect(failed.done).to.equal(false)
  })

  it('what Google does not tell to be an answer is none', async () => {
    for (const whole of [
      interaction([thought('one')]).whole,
      interaction([output('Hi')], { status: 'failed', errors: [{ code: 'api_error', message: 'It failed.' }] }).whole,
      interaction([output('Hi')], { status: 'cancelled' }).whole,
      interaction([output('Hi')], { status: 'in_progress' }).whole,
      interaction([output('Hi')], { status: 'requires_action' }).whole,
      { id: 'x' },
      [],
    ])
      expect(await complete(whole).catch((error: unknown) => error), JSON.stringify(whole)).to.be.an.instanceOf(Error)
  })

  it('sources have their places in the whole answer, counted in characters', async () => {
    const asked = { web_search_options: {} }
    const annotations = [{ type: 'url_citation', start_index: 6, end_index: 10, url: 'https://a.example/', title: 'A' }]
    const places = { start_index: 8, end_index: 10, url: 'https://a.example/', title: 'A' }
    const { whole, stream } = interaction([output('One. '), output('Grüß 😀')])
    const steps = (whole.steps as { content?: object[] }[]).with(1, {
      type: 'model_output',
      content: [{ type: 'text', text: 'Grü 😀', annotations: [{ ...annotations[0], start_index: 5, end_index: 9 }] }],
    } as never)
    const completion = await complete({ ...whole, steps }, asked)
    expect(completion.choices[0]!.message.annotations).to.deep.equal([
      { type: 'url_citation', url_citation: { ...places, start_index: 9, end_index: 11 } },
    ])
    const sourced = interactionEvent('step.delta', {
      index: 1,
      delta: { type: 'text_annotation_delta', annotations: [{ ...annotations[0], start_index: 4, end_index: 6 }] },
    })
    const { chunks } = await listen([...stream.slice(0, -3), sourced, ...stream.slice(-3)], asked)
    const found = chunks.flatMap(({ choices: [choice] }) => choice?.delta.annotations ?? [])
    expect(found).to.deep.equal([{ type: 'url_citation', url_citation: { ...places, start_index: 8, end_index: 9 } }])
  })

  it('counts thoughts and tools as core bills them', async () => {
    const usage = {
      total_input_tokens: 100,
      total_cached_tokens: 40,
      total_tool_use_tokens: 10,
      total_output_tokens: 7,
      total_thought_tokens: 30,
      input_tokens_by_modality: [{ modality: 'image', tokens: 60 }],
    }
    const said = await complete(interaction([output('Hi')], { usage }).whole)
    expect(said.usage).to.deep.include({ prompt_tokens: 110, completion_tokens: 37, total_tokens: 147 })
    expect(said.usage!.prompt_tokens_details).to.include({ cached_tokens: 40, image_tokens: 60 })
    expect(said.usage!.completion_tokens_details).to.include({ reasoning_tokens: 30 })
  })
})

/** What a hostile or broken upstream may send: the protocol's members with any values. */
const anything = fc.oneof(fc.constantFrom(null, [], {}, 'completed', 'failed'), fc.integer(), fc.jsonValue())
const optional = <Members extends Record<string, fc.Arbitrary<unknown>>>(members: Members) =>
  fc.record(members, { requiredKeys: [] })
const step = optional({
  type: fc.oneof(anything, fc.constantFrom('thought', 'model_output', 'function_call')),
  id: anything,
  name: fc.oneof(anything, fc.constant('look')),
  arguments: anything,
  signature: anything,
  summary: fc.oneof(anything, fc.array(optional({ text: anything }), { maxLength: 2 })),
  content: fc.oneof(
    anything,
    fc.array(optional({ type: fc.constantFrom('text', 'image'), text: anything, data: anything, annotations: anything })),
  ),
  error: anything,
})
const delta = optional({
  type: fc.oneof(
    anything,
    fc.constantFrom('text', 'image', 'thought_summary', 'thought_signature', 'arguments_delta', 'text_annotation_delta'),
  ),
  text: anything,
  signature: anything,
  arguments: anything,
  content: anything,
  annotations: anything,
})
const hostile = optional({
  event_type: fc.oneof(
    anything,
    fc.constantFrom(
      'step.start',
      'step.delta',
      'step.stop',
      'interaction.created',
      'interaction.status_update',
      'interaction.completed',
      'error',
    ),
  ),
  index: fc.oneof(anything, fc.constantFrom(0, 1)),
  step: fc.oneof(anything, step),
  delta: fc.oneof(anything, delta),
  interaction: fc.oneof(
    anything,
    optional({ id: anything, status: anything, usage: anything, errors: anything, service_tier: anything }),
  ),
  status: anything,
  usage: anything,
  error: fc.option(anything, { nil: undefined }),
})

describe('gemini: random streams of the Interactions API', () => {
  it('of invalid events are readable or fail', async () => {
    const translated = await provider
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 6 }), (events) => {
        const { chunks, done, failure } = runTranslator(translated, {
          stream: events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
        })
        expect(done).to.equal(failure === undefined)
        if (done) readChunks(chunks)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('docs/providers/gemini.md', () => {
  it('lists every parameter of the Interactions API', () => {
    expectParametersOn(providerPage('gemini').split('## By the Interactions API')[1]!.split('\n## ')[0]!, interactionParameters)
  })
})

import { expect } from 'chai'
import type {
  ChatChunk,
  ChatDelta,
  ToolCallDelta,
  TranslatedChunk,
  TranslatedCompletion,
  Usage,
} from 'unified-model-gateway/plugin'
import { normaliseCompletion, StreamNormaliser } from '../../../core/protocol/normalise.ts'

const USAGE: Usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }

const says = (delta: ChatDelta, more: object = {}): TranslatedChunk => ({ choices: [{ delta, ...more }] })
const calls = (call: Partial<ToolCallDelta> & { index: number }): TranslatedChunk => says({ tool_calls: [call] })
const finish = (finish_reason: string, index = 0): TranslatedChunk => ({ choices: [{ index, finish_reason }] })

/** The chunks that a client gets for these parts, the end included; undefined in place of an end that never came. */
function chunksOf(parts: readonly TranslatedChunk[], includeUsage = false): (ChatChunk | undefined)[] {
  const normaliser = new StreamNormaliser({ model: 'claude/x', includeUsage, choices: 1 })
  const chunks = parts.flatMap((part) => [...normaliser.push(part)])
  return [...chunks, ...(normaliser.end() ?? [undefined])]
}

const choicesOf = (chunks: readonly (ChatChunk | undefined)[], index = 0) =>
  chunks.flatMap((chunk) => chunk?.choices ?? []).filter((choice) => choice.index === index)

const deltasOf = (parts: readonly TranslatedChunk[]) => choicesOf(chunksOf(parts)).map(({ delta }) => delta)

describe('a translated stream', () => {
  it('has one id, one time and the requested model in all chunks', () => {
    const chunks = chunksOf([
      { id: 'msg_1', choices: [] },
      says({ content: 'a' }),
      { ...says({ content: 'b' }), id: 'msg_2', model: 'x' },
      finish('stop'),
    ])
    expect(new Set(chunks.map((chunk) => chunk!.id))).to.deep.equal(new Set(['msg_1']))
    expect(new Set(chunks.map((chunk) => chunk!.created)).size).to.equal(1)
    expect(new Set(chunks.map((chunk) => chunk!.model))).to.deep.equal(new Set(['claude/x']))
    expect(new Set(chunks.map((chunk) => chunk!.object))).to.deep.equal(new Set(['chat.completion.chunk']))
  })

  it('has a new id if the upstream has none', () => {
    const ids = ['', undefined].map((id) => chunksOf([{ id, ...says({ content: 'a' }) }, finish('stop')])[0]!.id)
    for (const id of ids) expect(id).to.match(/^chatcmpl-.{36}$/)
    expect(ids[0]).not.to.equal(ids[1])
  })

  it('has the role once in each choice, at its beginning', () => {
    const parts = [says({ role: 'assistant', content: 'a' }), says({ role: 'assistant', content: 'b' }), finish('stop')]
    expect(deltasOf(parts)).to.deep.equal([{ role: 'assistant', content: '' }, { content: 'a' }, { content: 'b' }, {}])
    expect(deltasOf([finish('stop')])).to.deep.equal([{ role: 'assistant', content: '' }, {}])
  })

  it('keeps unknown fields of a first part without text', () => {
    const chunks = chunksOf([{ ...says({ role: 'assistant', content: '' }), tier: 'x' }, says({ content: 'a' }), finish('stop')])
    expect(chunks.map((chunk) => chunk!.tier)).to.deep.equal(['x', undefined, undefined])
    expect(chunks[0]!.choices[0]!.delta).to.deep.equal({ role: 'assistant', content: '' })
  })

  it('omits empty parts, and keeps unknown fields', () => {
    const parts = [
      says({ content: '' }),
      says({ content: null }),
      { ...says({ content: 'a', mood: 'fine' }, { logprobs: 1 }), tier: 'x' },
      finish('stop'),
    ]
    const [, chunk, ...rest] = chunksOf(parts)
    expect(chunk).to.deep.include({ tier: 'x' })
    expect(chunk!.choices[0]).to.deep.equal({ logprobs: 1, index: 0, delta: { content: 'a', mood: 'fine' }, finish_reason: null })
    expect(rest).to.have.length(1)
  })

  it('numbers tool calls from 0 in the order in which they appear', () => {
    const parts = [
      calls({ index: 7, id: 'a', function: { name: 'f' } }),
      calls({ index: 3, id: 'b', function: { name: 'g' } }),
      calls({ index: 7, function: { arguments: '{}' } }),
      calls({ index: 3, function: { arguments: '[]' } }),
      finish('tool_calls'),
    ]
    const numbers = deltasOf(parts).flatMap(({ tool_calls }) => tool_calls ?? [])
    expect(numbers.map(({ index, id, function: called }) => [index, id, called?.arguments])).to.deep.equal([
      [0, 'a', ''],
      [1, 'b', ''],
      [0, undefined, '{}'],
      [1, undefined, '[]'],
    ])
  })

  it('has the id, type and name of a call once: clients would double them', () => {
    const again = { index: 0, id: 'a', type: 'function' as const, function: { name: 'f', arguments: '{"x":' } }
    const [first, second] = deltasOf([
      calls(again),
      calls({ ...again, function: { name: 'f', arguments: '1}' } }),
      finish('tool_calls'),
    ]).flatMap(({ tool_calls }) => tool_calls ?? [])
    expect(first).to.deep.equal(again)
    expect(second).to.deep.equal({ index: 0, function: { arguments: '1}' } })
  })

  it('has the arguments {} for a call without arguments, and for no other', () => {
    const parts = [
      calls({ index: 0, id: 'a', function: { name: 'f' } }),
      calls({ index: 1, id: 'b', function: { name: 'g', arguments: '{"x":1}' } }),
      finish('tool_calls'),
    ]
    const deltas = deltasOf(parts).flatMap(({ tool_calls }) => tool_calls ?? [])
    const argumentsOf = (number: number) =>
      deltas
        .filter(({ index }) => index === number)
        .map((call) => call.function?.arguments)
        .join('')
    expect([argumentsOf(0), argumentsOf(1)]).to.deep.equal(['{}', '{"x":1}'])
  })

  it('distinguishes calls by their ids if the upstream has no index', () => {
    const part = (more: object) => more as ToolCallDelta
    const parts = [
      says({
        tool_calls: [
          part({ id: 'a', function: { name: 'f', arguments: '{"x":1}' } }),
          part({ id: 'b', function: { name: 'g', arguments: '{' } }),
        ],
      }),
      says({ tool_calls: [part({ id: '', function: { arguments: '}' } })] }),
      finish('tool_calls'),
    ]
    const calls = deltasOf(parts).flatMap(({ tool_calls }) => tool_calls ?? [])
    expect(calls.map(({ index, id, function: called }) => [index, id, called?.arguments])).to.deep.equal([
      [0, 'a', '{"x":1}'],
      [1, 'b', '{'],
      [1, undefined, '}'],
    ])
  })

  it('is none if nobody could tell which tool is called', () => {
    for (const tool_calls of [[{ id: 'c', function: null }], [{ id: 'c', type: 'function' }], []]) {
      const message = { content: 'Hi', tool_calls } as unknown as TranslatedCompletion['choices'][number]['message']
      expect(() => normaliseCompletion({ choices: [{ message, finish_reason: 'tool_calls' }] }, 'ns/m')).to.throw(Error)
    }
  })

  it('keeps tool calls of an unknown type unchanged', () => {
    const [first, again, strange] = [
      { index: 0, id: 'a', type: 'custom', custom: { name: 'sql', input: '' } },
      { index: 0, custom: { input: 'select 1' } },
      { index: 1, id: 'b', type: 'shell', shell: { commands: [] } },
    ] as unknown as ToolCallDelta[]
    const parts = [says({ tool_calls: [first!] }), says({ tool_calls: [again!, strange!] }), finish('stop')]
    expect(deltasOf(parts).flatMap(({ tool_calls }) => tool_calls ?? [])).to.deep.equal([first, again, strange])
    for (const tool_calls of [{ a: 1 }, [null, 'x']]) {
      const [, said] = deltasOf([says({ tool_calls } as unknown as ChatDelta), finish('stop')])
      expect(said).to.deep.equal({ tool_calls })
    }
  })

  it('finishes each choice once, at its end, with a finish_reason of OpenAI', () => {
    const words = {
      stop: 'stop',
      length: 'length',
      content_filter: 'content_filter',
      function_call: 'function_call',
      end_turn: 'stop',
      overloaded_error: 'stop',
    }
    for (const [word, expected] of Object.entries(words)) {
      const reasons = choicesOf(chunksOf([says({ content: 'a' }), finish(word), finish('length'), says({ content: 'b' })])).map(
        ({ finish_reason }) => finish_reason,
      )
      expect(reasons, word).to.deep.equal([null, null, null, expected])
    }
  })

  it('finishes with tool_calls after a tool call: clients run tools only then', () => {
    const called = says({ tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: '{}' } }] })
    for (const [word, reason] of [
      ['stop', 'tool_calls'],
      ['end_turn', 'tool_calls'],
      ['length', 'length'],
    ] as const)
      expect(choicesOf(chunksOf([called, finish(word)])).at(-1)!.finish_reason, word).to.equal(reason)
    const whole = {
      message: { tool_calls: [{ id: 'a', type: 'function' as const, function: { name: 'look', arguments: '{}' } }] },
    }
    const { choices } = normaliseCompletion({ choices: [{ ...whole, finish_reason: 'stop' }] }, 'ns/m')
    expect(choices[0]!.finish_reason).to.equal('tool_calls')
  })

  it('has the arguments of a tool without parameters as JSON, whole and streamed', () => {
    const call = { id: 'a', type: 'function' as const, function: { name: 'look', arguments: '' } }
    const whole = normaliseCompletion({ choices: [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }] }, 'ns/m')
    expect(whole.choices[0]!.message.tool_calls![0]!.function).to.deep.equal({ name: 'look', arguments: '{}' })
  })

  it('is incomplete if a choice does not finish, or none began', () => {
    for (const parts of [
      [],
      [says({ content: 'a' })],
      [says({ content: 'a' }), finish('stop', 1)],
      [{ choices: [], usage: USAGE }],
    ]) {
      expect(chunksOf(parts).at(-1)).to.equal(undefined)
    }
  })

  it('keeps its choices separate', () => {
    const parts = [
      { choices: [{ index: 1, delta: { content: 'b' } }] },
      says({ content: 'a' }),
      finish('length', 1),
      finish('stop'),
    ]
    const chunks = chunksOf(parts)
    for (const [index, content, reason] of [
      [0, 'a', 'stop'],
      [1, 'b', 'length'],
    ] as const) {
      const choices = choicesOf(chunks, index)
      expect(choices.map(({ delta }) => delta)).to.deep.equal([{ role: 'assistant', content: '' }, { content }, {}])
      expect(choices.at(-1)!.finish_reason).to.equal(reason)
    }
  })

  it('has the requested usage in a last chunk, and null before', () => {
    const parts = [
      { ...says({ content: 'a' }), usage: { ...USAGE, completion_tokens: 1 } },
      { choices: [], usage: USAGE },
      finish('stop'),
    ]
    const chunks = chunksOf(parts, true)
    expect(chunks.at(-1)).to.deep.include({ choices: [], usage: USAGE })
    expect(chunks.slice(0, -1).map((chunk) => chunk!.usage)).to.deep.equal([null, null, null])
    for (const chunk of chunksOf(parts)) expect(chunk).not.to.have.property('usage')
  })

  it('is incomplete if a requested choice is absent', () => {
    const normaliser = new StreamNormaliser({ model: 'x/y', includeUsage: false, choices: 2 })
    const parts = [says({ content: 'a' }), finish('stop')]
    for (const part of parts) expect([...normaliser.push(part)]).to.be.an('array')
    expect(normaliser.end()).to.equal(undefined)
  })

  it('has no usage if none is reported', () => {
    const none = { prompt_tokens: -1, completion_tokens: '2', total_tokens: null } as unknown as Usage
    const normaliser = new StreamNormaliser({ model: 'x/y', includeUsage: true, choices: 1 })
    expect([...normaliser.push({ ...says({ content: 'a' }), usage: none }), ...normaliser.push(finish('stop'))]).to.have.length(2)
    expect(normaliser.end()!.at(-1)).to.have.property('usage', null)
    expect(normaliser.report.usage).to.equal(undefined)
  })
})

describe('a translated completion', () => {
  it('has all required fields and the requested model', () => {
    const completion = normaliseCompletion(
      { choices: [{ message: {}, finish_reason: 'end_turn' }], usage: USAGE, tier: 'x' },
      'claude/x',
    )
    expect(completion.id).to.match(/^chatcmpl-.{36}$/)
    expect(completion).to.deep.include({ object: 'chat.completion', model: 'claude/x', usage: USAGE, tier: 'x' })
    expect(completion.choices).to.deep.equal([
      { index: 0, logprobs: null, message: { role: 'assistant', content: null, refusal: null }, finish_reason: 'stop' },
    ])
  })

  it('keeps the fields of the translator', () => {
    const message = { content: 'a', refusal: 'b', reasoning_content: 'c', mood: 'fine' }
    const { id, choices } = normaliseCompletion(
      { id: 'msg_1', choices: [{ message, finish_reason: 'length', logprobs: { x: 1 } }] },
      'claude/x',
    )
    expect(id).to.equal('msg_1')
    expect(choices[0]).to.deep.equal({
      index: 0,
      logprobs: { x: 1 },
      message: { ...message, role: 'assistant' },
      finish_reason: 'length',
    })
  })

  it('keeps tool calls of an unknown type unchanged', () => {
    const strange = [{ id: 'b', type: 'shell', shell: { commands: [] } }, null, 'x']
    for (const tool_calls of [strange, { a: 1 }]) {
      const message = { tool_calls } as unknown as TranslatedCompletion['choices'][number]['message']
      const { choices } = normaliseCompletion({ choices: [{ message, finish_reason: 'stop' }] }, 'ns/m')
      expect(choices[0]!.message.tool_calls).to.deep.equal(tool_calls)
    }
  })
})

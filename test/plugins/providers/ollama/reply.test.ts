import { expect } from 'chai'
import { gather } from 'unified-model-gateway/plugin/testing'
import { call, line, reply } from './chat-api.ts'
import { complete, listen } from './ollama.ts'

const LOGPROBS = [
  { token: 'Hé', logprob: -0.1, bytes: [72], top_logprobs: [{ token: 'Oh', logprob: -2.5 }, { token: 7 }] },
  { token: '!' },
]
const TOKENS = [
  {
    token: 'Hé',
    logprob: -0.1,
    bytes: [72, 195, 169],
    top_logprobs: [
      { token: 'Oh', logprob: -2.5, bytes: [79, 104] },
      { token: '', logprob: -9999, bytes: [] },
    ],
  },
  { token: '!', logprob: -9999, bytes: [33], top_logprobs: [] },
]

describe('ollama: a whole reply', () => {
  for (const [done_reason, finish] of [
    ['stop', 'stop'],
    ['length', 'length'],
    ['load', 'length'],
    ['unload', 'length'],
    ['', 'stop'],
    ['a_word_yet_to_come', 'length'],
  ]) {
    it(`with done_reason '${done_reason}' has finish_reason ${finish}`, async () => {
      const { choices } = await complete(reply([{ content: 'Hi.' }], { done_reason: done_reason! }).whole)
      expect(choices[0]!.finish_reason).to.equal(finish)
    })
  }

  it('with tool calls has finish_reason tool_calls, although Ollama says stop', async () => {
    const { choices } = await complete(reply([call(1, 'look', { at: 'sea' })]).whole)
    expect(choices[0]).to.deep.include({ finish_reason: 'tool_calls' })
    expect(choices[0]!.message).to.deep.include({
      content: null,
      tool_calls: [{ id: 'call_1x7', type: 'function', function: { name: 'look', arguments: '{"at":"sea"}' } }],
    })
  })

  it('truncated within its tool calls has finish_reason length', async () => {
    const { choices } = await complete(reply([call(1, 'look', {})], { done_reason: 'length' }).whole)
    expect(choices[0]!.finish_reason).to.equal('length')
  })

  it('of an older version gets unique ids for its tool calls', async () => {
    const bare = { tool_calls: [{ function: { name: 'look' } }, { function: { name: 'look' } }] }
    const { choices } = await complete(reply([bare]).whole)
    const [first, second] = choices[0]!.message.tool_calls!
    expect(first!.id).to.match(/^call_/)
    expect(first!.id).not.to.equal(second!.id)
    expect(first!.function!.arguments).to.equal('{}')
  })

  it('with a tool call without a name is none', async () => {
    const nameless = { content: 'So.', tool_calls: [{ id: 'a', function: { name: '' } }] }
    const failure = await complete(reply([nameless]).whole).catch((error: unknown) => error)
    expect(failure).to.include({ row: 'upstream_invalid_response' })
  })

  it('has log probabilities in the format of OpenAI', async () => {
    const { choices } = await complete({ ...reply([{ content: 'Hé!' }]).whole, logprobs: LOGPROBS })
    expect(choices[0]!.logprobs).to.deep.equal({ content: TOKENS, refusal: null })
  })

  it('without prompt tokens has no usage', async () => {
    expect(await complete(reply([{ content: 'Hi.' }], { counts: { eval_count: 2 } }).whole)).not.to.have.property('usage')
    const { usage } = await complete(reply([{ content: '' }], { counts: { prompt_eval_count: 3 } }).whole)
    expect(usage).to.include({ prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 })
  })

  it('with an error fails', async () => {
    expect(await complete({ error: 'model runner has stopped' }).catch((error: unknown) => error)).to.include({
      status: 502,
      row: 'upstream_error',
    })
  })
})

describe('ollama: a streamed reply', () => {
  it('numbers its tool calls over all lines', async () => {
    const { chunks } = await listen(reply([call(1, 'look', {}), { content: 'And ' }, call(2, 'listen', { at: 'sea' })]).stream)
    const { tools, content, finish } = gather(chunks).choices[0]!
    expect(tools.map(({ id, name, arguments: values }) => ({ id, name, values }))).to.deep.equal([
      { id: 'call_1x7', name: 'look', values: '{}' },
      { id: 'call_2x7', name: 'listen', values: '{"at":"sea"}' },
    ])
    expect({ content, finish }).to.deep.equal({ content: 'And ', finish: 'tool_calls' })
  })

  it('may have tool calls, text and the end in one line', async () => {
    const { whole } = reply([{ thinking: 'Hm.' }, { content: 'Look.' }, call(1, 'look', {})])
    const { chunks, done } = await listen(line(whole))
    const { reasoning, content, tools, finish } = gather(chunks).choices[0]!
    expect({ reasoning, content, tools: tools.length, finish, done }).to.deep.equal({
      reasoning: 'Hm.',
      content: 'Look.',
      tools: 1,
      finish: 'tool_calls',
      done: true,
    })
  })

  it('keeps the log probabilities of held back text', async () => {
    const [words, end] = reply([{ content: 'Hé!' }]).stream as [string, string]
    const held = line({ message: { role: 'assistant', content: '' }, done: false, logprobs: LOGPROBS.slice(0, 1) })
    const told = line({ ...JSON.parse(words), logprobs: LOGPROBS.slice(1) })
    const { chunks } = await listen([held, told, end])
    const tokens = chunks.flatMap(({ choices }) => (choices[0]?.logprobs as { content?: object[] } | undefined)?.content ?? [])
    expect(tokens).to.deep.equal(TOKENS)
  })

  it('may have blank lines and no line feed at its end', async () => {
    const { stream } = reply([{ content: 'Hi.' }])
    const { done, chunks } = await listen(`\r\n${stream.join('\n')}`.trimEnd())
    expect(done).to.equal(true)
    expect(gather(chunks).choices[0]!.content).to.equal('Hi.')
  })

  it('ends with its last line, and ignores anything after it', async () => {
    const { chunks, done } = await listen([...reply([{ content: 'Hi.' }]).stream, line({ error: 'too late' })])
    expect(done).to.equal(true)
    expect(gather(chunks).choices[0]!.content).to.equal('Hi.')
  })

  it('fails without its last line', async () => {
    const { done, failure } = await listen(reply([{ content: 'Hi.' }]).stream.slice(0, 1))
    expect(done).to.equal(false)
    expect(failure).to.include({ row: 'upstream_disconnected' })
  })

  it('with an error before any text fails with its status', async () => {
    const { failure, chunks } = await listen(line({ error: 'the input length exceeds the context length' }))
    expect(chunks).to.deep.equal([])
    expect(failure).to.include({ status: 400, code: 'context_length_exceeded' })
  })

  it('fails at an endless line', async () => {
    const { failure } = await listen(Array.from({ length: 9 }, () => 'x'.repeat(1 << 20)))
    expect(failure).to.include({ row: 'upstream_invalid_response' })
  })
})

describe('ollama: the reply to a request that requires a tool', () => {
  const NAMED = {
    tools: [{ type: 'function', function: { name: 'look' } }],
    tool_choice: { type: 'function', function: { name: 'look' } },
  }
  const ANY = { ...NAMED, tool_choice: 'required' }
  const PIECES = ['{"name": "look", ', '"arguments": {"at":', ' "sea"}}']

  it('is a call of the named tool', async () => {
    const { choices } = await complete(reply([{ content: '{"at":"sea"}' }]).whole, NAMED)
    expect(choices[0]).to.deep.include({ finish_reason: 'tool_calls' })
    const { content, tool_calls: calls } = choices[0]!.message
    expect({ content, called: calls!.map((one) => one.function) }).to.deep.equal({
      content: null,
      called: [{ name: 'look', arguments: '{"at":"sea"}' }],
    })
    expect(calls![0]!.id).to.match(/^call_/)
  })

  it('streams the arguments of the named tool as they come', async () => {
    const { chunks } = await listen(reply([{ content: '{"at":' }, { content: '"sea"}' }]).stream, NAMED)
    const { tools, content, finish } = gather(chunks).choices[0]!
    expect({ content, finish }).to.deep.equal({ content: '', finish: 'tool_calls' })
    expect(tools.map(({ name, arguments: values }) => ({ name, values }))).to.deep.equal([
      { name: 'look', values: '{"at":"sea"}' },
    ])
    expect(chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []).length).to.be.greaterThan(2)
  })

  it('is a call of the tool that the model chose', async () => {
    const { choices } = await complete(reply([{ content: PIECES.join('') }]).whole, ANY)
    expect(choices[0]!.message.tool_calls![0]!.function).to.deep.equal({ name: 'look', arguments: '{"at":"sea"}' })
    const { chunks } = await listen(reply(PIECES.map((content) => ({ content }))).stream, ANY)
    const { tools, content, finish } = gather(chunks).choices[0]!
    expect(tools.map(({ name, arguments: values }) => ({ name, values }))).to.deep.equal([
      { name: 'look', values: '{"at":"sea"}' },
    ])
    expect({ content, finish }).to.deep.equal({ content: '', finish: 'tool_calls' })
  })

  it('that was cut is not lost', async () => {
    const cut = reply([{ content: '{"name": "lo' }], { done_reason: 'length' })
    const { choices } = await complete(cut.whole, ANY)
    expect(choices[0]).to.deep.include({ finish_reason: 'length' })
    expect(choices[0]!.message.content).to.equal('{"name": "lo')
    expect(gather((await listen(cut.stream, ANY)).chunks).choices[0]).to.include({ content: '{"name": "lo', finish: 'length' })
  })
})

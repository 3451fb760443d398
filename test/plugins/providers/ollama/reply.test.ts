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
    ['load', 'stop'],
    ['unload', 'stop'],
    ['', 'stop'],
    ['a_word_yet_to_come', 'stop'],
  ]) {
    it(`that ended by '${done_reason}' is ${finish}`, async () => {
      const { choices } = await complete(reply([{ content: 'Hi.' }], { done_reason: done_reason! }).whole)
      expect(choices[0]!.finish_reason).to.equal(finish)
    })
  }

  it('that calls tools says so, though Ollama calls it a stop', async () => {
    const { choices } = await complete(reply([call(1, 'look', { at: 'sea' })]).whole)
    expect(choices[0]).to.deep.include({ finish_reason: 'tool_calls' })
    expect(choices[0]!.message).to.deep.include({
      content: null,
      tool_calls: [{ id: 'call_1x7', type: 'function', function: { name: 'look', arguments: '{"at":"sea"}' } }],
    })
  })

  it('that was cut within its calls is one of length', async () => {
    const { choices } = await complete(reply([call(1, 'look', {})], { done_reason: 'length' }).whole)
    expect(choices[0]!.finish_reason).to.equal('length')
  })

  it('of an older version has ids for its calls, no two alike', async () => {
    const bare = { tool_calls: [{ function: { name: 'look' } }, { function: { name: 'look' } }] }
    const { choices } = await complete(reply([bare]).whole)
    const [first, second] = choices[0]!.message.tool_calls!
    expect(first!.id).to.match(/^call_/)
    expect(first!.id).not.to.equal(second!.id)
    expect(first!.function!.arguments).to.equal('{}')
  })

  it('calls no tool that it does not name', async () => {
    const nameless = { content: 'So.', tool_calls: [{ id: 'a', function: { name: '' } }] }
    const { choices } = await complete(reply([nameless]).whole)
    expect(choices[0]).to.deep.include({ finish_reason: 'stop' })
    expect(choices[0]!.message).to.not.have.property('tool_calls')
  })

  it('with log probabilities tells them as OpenAI does', async () => {
    const { choices } = await complete({ ...reply([{ content: 'Hé!' }]).whole, logprobs: LOGPROBS })
    expect(choices[0]!.logprobs).to.deep.equal({ content: TOKENS, refusal: null })
  })

  it('without the count of its prompt is left to be estimated', async () => {
    expect(await complete(reply([{ content: 'Hi.' }], { counts: { eval_count: 2 } }).whole)).not.to.have.property('usage')
    const { usage } = await complete(reply([{ content: '' }], { counts: { prompt_eval_count: 3 } }).whole)
    expect(usage).to.include({ prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 })
  })

  it('that is an error is one', async () => {
    expect(await complete({ error: 'model runner has stopped' }).catch((error: unknown) => error)).to.include({
      status: 502,
      row: 'upstream_error',
    })
  })
})

describe('ollama: a streamed reply', () => {
  it('numbers its calls over all lines', async () => {
    const { chunks } = await listen(reply([call(1, 'look', {}), { content: 'And ' }, call(2, 'listen', { at: 'sea' })]).stream)
    const { tools, content, finish } = gather(chunks).choices[0]!
    expect(tools.map(({ id, name, arguments: values }) => ({ id, name, values }))).to.deep.equal([
      { id: 'call_1x7', name: 'look', values: '{}' },
      { id: 'call_2x7', name: 'listen', values: '{"at":"sea"}' },
    ])
    expect({ content, finish }).to.deep.equal({ content: 'And ', finish: 'tool_calls' })
  })

  it('may call, speak and end in one line', async () => {
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

  it('loses no log probability of words that were held back', async () => {
    const [words, end] = reply([{ content: 'Hé!' }]).stream as [string, string]
    const held = line({ message: { role: 'assistant', content: '' }, done: false, logprobs: LOGPROBS.slice(0, 1) })
    const told = line({ ...JSON.parse(words), logprobs: LOGPROBS.slice(1) })
    const { chunks } = await listen([held, told, end])
    const tokens = chunks.flatMap(({ choices }) => (choices[0]?.logprobs as { content?: object[] } | undefined)?.content ?? [])
    expect(tokens).to.deep.equal(TOKENS)
  })

  it('may leave its last line without an end, and have blank lines', async () => {
    const { stream } = reply([{ content: 'Hi.' }])
    const { done, chunks } = await listen(`\r\n${stream.join('\n')}`.trimEnd())
    expect(done).to.equal(true)
    expect(gather(chunks).choices[0]!.content).to.equal('Hi.')
  })

  it('is over with its last line, whatever comes after', async () => {
    const { chunks, done } = await listen([...reply([{ content: 'Hi.' }]).stream, line({ error: 'too late' })])
    expect(done).to.equal(true)
    expect(gather(chunks).choices[0]!.content).to.equal('Hi.')
  })

  it('without its last line is cut', async () => {
    const { done, failure } = await listen(reply([{ content: 'Hi.' }]).stream.slice(0, 1))
    expect(done).to.equal(false)
    expect(failure).to.include({ row: 'upstream_disconnected' })
  })

  it('that is an error before its first words has its status', async () => {
    const { failure, chunks } = await listen(line({ error: 'the input length exceeds the context length' }))
    expect(chunks).to.deep.equal([])
    expect(failure).to.include({ status: 400, code: 'context_length_exceeded' })
  })

  it('with a line that never ends does not fill the memory', async () => {
    const { failure } = await listen(Array.from({ length: 9 }, () => 'x'.repeat(1 << 20)))
    expect(failure).to.include({ row: 'upstream_invalid_response' })
  })
})

import { expect } from 'chai'
import { UpstreamError } from 'unified-model-gateway/plugin'
import { event, fixture, hear, hearFixture, play } from './support.ts'

async function failureOf(playing: Promise<unknown>): Promise<unknown> {
  return playing.then(
    () => undefined,
    (error: unknown) => error,
  )
}

const used = (prompt: number, completion: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
})

describe('anthropic: a streamed reply', () => {
  it('has the usage so far, its texts, the usage, and one finish', async () => {
    const chunks = await play(fixture('text'))
    expect(chunks).to.deep.equal([
      { id: 'msg_01', choices: [] },
      { choices: [], usage: used(25, 1) },
      { choices: [{ index: 0, delta: { content: 'Hel' } }] },
      { choices: [{ index: 0, delta: { content: 'lo' } }] },
      { choices: [{ index: 0, delta: { content: '!' } }] },
      { choices: [], usage: used(25, 15) },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ])
  })

  it('has parallel tool calls with their own arguments', async () => {
    const { calls, finishes, content } = await hearFixture('parallel-tools')
    expect(calls).to.deep.equal([
      { index: 0, id: 'toolu_01A', name: 'get_weather', arguments: '{"city": "Oslo"}', extra_content: undefined },
      { index: 1, id: 'toolu_01B', name: 'get_weather', arguments: '{"city":"Rome"}', extra_content: undefined },
    ])
    expect(finishes).to.deep.equal(['tool_calls'])
    expect(content).to.equal('')
  })

  it('has the id and the name of a call once, and no empty pieces', async () => {
    const deltas = (await play(fixture('parallel-tools'))).flatMap(({ choices }) => choices[0]?.delta?.tool_calls ?? [])
    expect(deltas.filter(({ id }) => id)).to.have.length(2)
    expect(deltas[0]).to.deep.equal({
      index: 0,
      id: 'toolu_01A',
      type: 'function',
      function: { name: 'get_weather', arguments: '' },
    })
    for (const delta of deltas.filter(({ id }) => !id)) expect(delta.function?.arguments).not.to.equal('')
  })

  it('has the arguments {} for a call without arguments', async () => {
    const { calls } = await hearFixture('tool-without-arguments')
    expect(calls.map((call) => call.arguments)).to.deep.equal(['{}', '{}'])
  })

  it('has arguments in the start of a block', async () => {
    const block = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'sea' } }
    const events = [
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ]
    expect(hear(await play(events.map(event))).calls[0]?.arguments).to.equal('{"at":"sea"}')
  })

  it('has index 0 for the first tool call after text', async () => {
    const { content, calls } = await hearFixture('text-before-tools')
    expect(content).to.equal('Let me look. And listen.')
    expect(calls.map(({ index, name }) => [index, name])).to.deep.equal([
      [0, 'look'],
      [1, 'listen'],
    ])
  })

  it('has thinking as reasoning, and counts it', async () => {
    const { content, reasoning, usage } = await hearFixture('thinking')
    expect({ content, reasoning }).to.deep.equal({ content: 'Done.', reasoning: 'Let me think.' })
    expect(usage).to.deep.include({ completion_tokens: 300, completion_tokens_details: { reasoning_tokens: 280 } })
  })

  it('has content_filter for a refusal, and length for a truncated reply', async () => {
    expect((await hearFixture('refusal')).finishes).to.deep.equal(['content_filter'])
    expect((await hearFixture('max-tokens')).finishes).to.deep.equal(['length'])
  })

  it('has the explanation of a refusal', async () => {
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'This could do harm.' }
    const events = [{ type: 'message_delta', delta: { stop_reason: 'refusal', stop_details } }, { type: 'message_stop' }]
    const chunks = await play(events.map(event))
    expect(chunks).to.deep.equal([
      { choices: [{ index: 0, delta: { refusal: 'This could do harm.' } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'content_filter' }] },
    ])
  })

  it('keeps its stop reason after later usage', async () => {
    const deltas = [{ stop_reason: 'max_tokens' }, { stop_reason: null }, {}].map((delta) => ({ type: 'message_delta', delta }))
    expect(hear(await play([...deltas, { type: 'message_stop' }].map(event))).finishes).to.deep.equal(['length'])
  })

  it('counts cumulative usage once', async () => {
    expect((await hearFixture('cache-usage')).usage).to.deep.equal({
      prompt_tokens: 1210,
      completion_tokens: 50,
      total_tokens: 1260,
      prompt_tokens_details: { cached_tokens: 1000, cache_write_tokens: 200 },
    })
  })

  it("omits pings, citations, Anthropic's own tools and unknown events", async () => {
    const { content, calls } = await hearFixture('server-tools')
    expect(content).to.equal('Low tide.')
    expect(calls).to.deep.equal([{ index: 0, id: 'toolu_01A', name: 'walk', arguments: '{}', extra_content: undefined }])
  })

  it('ignores events after its end', async () => {
    const late = [{ type: 'message_stop' }, { type: 'content_block_start', index: 9, content_block: { type: 'text', text: '?' } }]
    const { content, finishes } = hear(await play([...fixture('text'), ...late.map(event)]))
    expect({ content, finishes }).to.deep.equal({ content: 'Hello!', finishes: ['stop'] })
  })
})

describe('anthropic: a stream that fails', () => {
  it('with an error event fails with it, without a finish', async () => {
    const failure = await failureOf(play(fixture('error')))
    expect(failure).to.be.instanceOf(UpstreamError)
    expect(failure).to.have.deep.property('refusal', { status: 503, message: 'Overloaded' })
  })

  it('with an empty error event fails with a server error', async () => {
    for (const error of [undefined, null, {}, 'words', { type: 'new_error' }]) {
      const failure = await failureOf(play([event({ type: 'error', error })]))
      expect(failure).to.have.nested.property('refusal.status', 500)
    }
  })

  it('without its end marker is incomplete, even with a stop reason', async () => {
    expect(String(await failureOf(play(fixture('truncated'))))).to.contain('ended before message_stop')
    expect(String(await failureOf(play([])))).to.contain('ended before message_stop')
  })

  it('without a stop reason is invalid: nobody has said that it is whole', async () => {
    const start = event({ type: 'message_start', message: { id: 'msg_1', model: 'm' } })
    const words = event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } })
    const stop = event({ type: 'message_stop' })
    for (const events of [[stop], [start, stop], [start, words, stop]]) {
      expect(String(await failureOf(play(events)))).to.contain('without a stop reason')
    }
  })

  it('with a stop reason is valid, also without content', async () => {
    const told = event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } })
    expect(hear(await play([told, event({ type: 'message_stop' })])).finishes).to.deep.equal(['stop'])
  })

  it('with content of an unknown kind only is invalid', async () => {
    const told = [event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }), event({ type: 'message_stop' })]
    const started = (type: string) => event({ type: 'content_block_start', index: 0, content_block: { type } })
    for (const unknown of [
      [event({ type: 'block_started' })],
      [started('riddle')],
      [started('text'), event({ type: 'content_block_delta', index: 0, delta: { type: 'words' } })],
    ]) {
      expect(String(await failureOf(play([...unknown, ...told])))).to.contain('of an unknown kind only')
    }
  })

  it('fails if another message begins within it', async () => {
    const begin = (id: string) => event({ type: 'message_start', message: { id, model: 'm' } })
    const [first, ...rest] = fixture('text')
    expect(String(await failureOf(play([first!, begin('msg_other'), ...rest])))).to.contain('Another message begins')
    expect(hear(await play([begin('msg_01'), begin('msg_01'), ...rest])).content).to.equal('Hello!')
  })

  it('cut at any event is incomplete', async () => {
    const events = fixture('text-before-tools')
    for (let end = 0; end < events.length; end++) {
      expect(await failureOf(play(events.slice(0, end))), `cut after ${end} events`).to.be.instanceOf(Error)
    }
  })

  it('with invalid JSON is invalid', async () => {
    for (const data of ['', 'Hello', '<html>', 'null']) {
      expect(await failureOf(play([{ type: 'content_block_delta', data }])), data).to.be.instanceOf(Error)
    }
  })

  it('with endless thinking fails', async () => {
    const thought = event({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'thinking_delta', thinking: 'x'.repeat(1_000_000) },
    })
    const start = event({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } })
    expect(String(await failureOf(play([start, ...Array.from({ length: 9 }, () => thought)])))).to.contain(
      'characters of thinking',
    )
  })
})

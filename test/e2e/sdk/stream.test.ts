import { expect } from 'chai'
import type { OpenAI } from 'openai'
import { DONE, hold, pieces, type Step, sse } from '../../../core/testing/kit.ts'
import { anthropic } from './anthropic-dialect.ts'
import { ask, type Said, splitAfter, USED } from './dialect.ts'
import { DIALECTS, type Fixture, startFixture } from './fixture.ts'
import { chunkOf, openai } from './openai-dialect.ts'

type Chunk = OpenAI.ChatCompletionChunk
type Delta = OpenAI.ChatCompletionChunk.Choice.Delta & { readonly reasoning_content?: string }

const TEXT: Said = { text: ['Hel', 'lo ', '€ 😀'] }
const WEATHER: Said = {
  text: ['Let me look.'],
  tools: [
    { id: 'call_1', name: 'weather', arguments: ['{"city":', '"Paris"}'] },
    { id: 'call_2', name: 'time', arguments: ['{"zone"', ':"CET"', '}'] },
  ],
}

const deltasOf = (chunks: readonly Chunk[]): Delta[] => chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta))
const textOf = (chunks: readonly Chunk[]): string =>
  deltasOf(chunks)
    .map((delta) => delta.content ?? '')
    .join('')

/** Without what a clock says. */
const stable = (chunks: readonly Chunk[]): object[] => chunks.map((chunk) => ({ ...chunk, created: 0 }))

/** The places within a text, in bytes of the script. */
function offsetsWithin(text: string, script: readonly Step[]): number[] {
  const bytes = Buffer.concat(script.map((step) => Buffer.from(step as string)))
  const start = bytes.indexOf(text)
  return Array.from({ length: Buffer.byteLength(text) - 1 }, (_, index) => start + index + 1)
}

describe('A stream in the SDK', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  for (const dialect of DIALECTS) {
    describe(`(${dialect.name})`, () => {
      const open = (more?: object) => fixture.gateway.openai().chat.completions.create({ ...ask(dialect, more), stream: true })

      async function read(said: Said, more?: object): Promise<Chunk[]> {
        fixture.upstream(dialect).on(() => sse(dialect.events(said)))
        return Array.fromAsync(await open(more))
      }

      it('has the same id, time and model in all chunks', async () => {
        const chunks = await read(TEXT, { stream_options: { include_usage: true } })
        const heads = chunks.map(({ id, object, created, model }) => JSON.stringify({ id, object, created, model }))
        expect(new Set(heads)).to.have.property('size', 1)
        expect(chunks[0]).to.include({ id: dialect.replyId, object: 'chat.completion.chunk' })
        expect(chunks[0]!.created).to.satisfy(Number.isSafeInteger)
      })

      it('has the role once and first, the text in order, and one finish_reason', async () => {
        const chunks = await read(TEXT)
        expect(textOf(chunks)).to.equal('Hello € 😀')
        expect(chunks[0]!.choices[0]!.delta).to.include({ role: 'assistant' })
        expect(deltasOf(chunks).filter((delta) => delta.role !== undefined)).to.have.length(1)
        const finishes = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.finish_reason))
        expect(finishes.filter((finish) => finish !== null)).to.deep.equal(['stop'])
        expect(finishes.at(-1)).to.equal('stop')
      })

      it('has the reasoning in reasoning_content, separate from the text', async () => {
        const chunks = await read({ thinking: ['Let me ', 'see.'], ...TEXT })
        expect(
          deltasOf(chunks)
            .map((delta) => delta.reasoning_content ?? '')
            .join(''),
        ).to.equal('Let me see.')
        expect(textOf(chunks)).to.equal('Hello € 😀')
      })

      it('has tool calls numbered from 0, with one name each and arguments that join to JSON', async () => {
        const chunks = await read(WEATHER)
        const calls = deltasOf(chunks).flatMap((delta) => delta.tool_calls ?? [])
        for (const [index, { id, name, arguments: pieces }] of WEATHER.tools!.entries()) {
          const own = calls.filter((call) => call.index === index)
          expect(own[0]).to.deep.equal({ index, id, type: 'function', function: { name, arguments: '' } })
          for (const call of own.slice(1)) {
            expect(call).to.have.all.keys('index', 'function')
            expect(call.function).to.have.all.keys('arguments')
          }
          expect(own.map((call) => call.function!.arguments).join('')).to.equal(pieces.join(''))
        }
        expect(calls.every((call) => call.index < 2)).to.equal(true)
        expect(chunks.at(-1)!.choices[0]!.finish_reason).to.equal('tool_calls')
      })

      it('has no usage unless requested', async () => {
        const chunks = await read(TEXT)
        expect(chunks.filter((chunk) => chunk.choices.length === 0 || chunk.usage != null)).to.deep.equal([])
        if (dialect === openai) {
          expect(fixture.upstream(openai).requests.at(-1)!.json()).to.deep.include({ stream_options: { include_usage: true } })
        }
      })

      it('has the usage last if requested', async () => {
        const chunks = await read(TEXT, { stream_options: { include_usage: true } })
        const last = chunks.at(-1)!
        expect(last).to.deep.include({ id: dialect.replyId, choices: [] })
        expect(last.usage).to.include({
          prompt_tokens: USED.prompt,
          completion_tokens: USED.completion,
          total_tokens: USED.total,
        })
        expect(chunks.filter((chunk) => chunk.usage != null)).to.have.length(1)
      })

      it('is assembled by the SDK', async () => {
        fixture.upstream(dialect).on(() => sse(dialect.events(WEATHER)))
        const stream = fixture.gateway
          .openai()
          .chat.completions.stream({ ...ask(dialect), stream_options: { include_usage: true } })
        const { choices, usage } = await stream.finalChatCompletion()
        expect(choices[0]).to.include({ finish_reason: 'tool_calls' })
        expect(choices[0]!.message).to.include({ role: 'assistant', content: 'Let me look.' })
        expect(
          choices[0]!.message.tool_calls!.map((call) => call.type === 'function' && JSON.parse(call.function.arguments)),
        ).to.deep.equal([{ city: 'Paris' }, { zone: 'CET' }])
        expect(usage).to.include({ total_tokens: USED.total })
      })

      it('begins when its upstream begins, and arrives piece by piece', async () => {
        const [begin, rest] = splitAfter(dialect.events(TEXT), 'Hel')
        const [middle, end] = splitAfter(rest, 'lo ')
        const holds = [hold(), hold()]
        fixture.upstream(dialect).on(() => sse([...begin, holds[0]!, ...middle, holds[1]!, ...end]))
        const seen: string[] = []
        for await (const chunk of await open()) {
          const { content } = chunk.choices[0]!.delta
          if (!content) continue
          // The upstream goes on only once its last piece has arrived.
          seen.push(content)
          holds[seen.length - 1]?.release()
        }
        expect(seen).to.deep.equal(TEXT.text)
      })

      it('is the same for every split by the network', async () => {
        const uncut = await read(TEXT)
        const script = sse(dialect.events(TEXT))
        for (const at of [1, 7, Infinity]) {
          fixture.upstream(dialect).on(() => pieces(script, at))
          expect(stable(await Array.fromAsync(await open()))).to.deep.equal(stable(uncut))
        }
        for (const offset of offsetsWithin('€ 😀', script)) {
          fixture.upstream(dialect).on(() => pieces(script, [offset]))
          expect(textOf(await Array.fromAsync(await open())), `cut at byte ${offset}`).to.equal('Hello € 😀')
        }
      })
    })
  }

  for (const [theirs, ours] of [
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['refusal', 'content_filter'],
    ['a_word_of_tomorrow', 'length'],
  ] as const) {
    it(`ends with the finish_reason ${ours} if Claude sends ${theirs}`, async () => {
      const events = anthropic.events(TEXT).map((event) => event.replace('end_turn', theirs))
      fixture.upstream(anthropic).on(() => sse(events))
      const { choices } = await fixture.gateway.openai().chat.completions.stream(ask(anthropic)).finalChatCompletion()
      expect(choices.map((choice) => choice.finish_reason)).to.deep.equal([ours])
    })
  }

  it('keeps interleaved choices separate', async () => {
    const events = [
      chunkOf({ role: 'assistant', content: '' }, null, 0),
      chunkOf({ role: 'assistant', content: '' }, null, 1),
      chunkOf({ content: 'He' }, null, 0),
      chunkOf({ content: 'By' }, null, 1),
      chunkOf({}, 'stop', 1),
      chunkOf({ content: 'llo' }, null, 0),
      chunkOf({}, 'length', 0),
      DONE,
    ]
    fixture.upstream(openai).on(() => sse(events))
    const { choices } = await fixture.gateway
      .openai()
      .chat.completions.stream(ask(openai, { n: 2 }))
      .finalChatCompletion()
    expect(choices.map(({ message, finish_reason }) => [message.content, finish_reason])).to.deep.equal([
      ['Hello', 'length'],
      ['By', 'stop'],
    ])
  })
})

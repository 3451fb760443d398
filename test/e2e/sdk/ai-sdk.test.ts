import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, isStepCount, jsonSchema, streamText, tool } from 'ai'
import { expect } from 'chai'
import { json, sse } from '../../../core/testing/kit.ts'
import { type Dialect, modelOf, type Said, splitAfter, USED } from './dialect.ts'
import { DIALECTS, type Fixture, startFixture } from './fixture.ts'
import { openai } from './openai-dialect.ts'

const THOUGHT: Said = { thinking: ['Let me ', 'see.'], text: ['Hel', 'lo!'] }
const WEATHER: Said = { tools: [{ id: 'call_1', name: 'weather', arguments: ['{"city":', '"Paris"}'] }] }

const weather = tool({
  description: 'The weather of a city.',
  inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
  execute: ({ city }) => `Rain in ${city}`,
})

describe('The Vercel AI SDK', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  const modelFor = (dialect: Dialect) =>
    createOpenAICompatible({
      name: 'gateway',
      baseURL: `${fixture.gateway.url}/v1`,
      apiKey: fixture.gateway.liveKey,
      includeUsage: true,
    })(modelOf(dialect))

  for (const dialect of DIALECTS) {
    describe(`(${dialect.name})`, () => {
      const settings = () => ({ model: modelFor(dialect), prompt: 'Hello', maxRetries: 0 })

      it('generates a text with reasoning, finish reason and usage', async () => {
        fixture.upstream(dialect).on(() => json(dialect.whole(THOUGHT)))
        const { text, reasoningText, finishReason, usage } = await generateText(settings())
        expect({ text, reasoningText, finishReason }).to.deep.equal({
          text: 'Hello!',
          reasoningText: 'Let me see.',
          finishReason: 'stop',
        })
        expect(usage).to.include({ inputTokens: USED.prompt, outputTokens: USED.completion, totalTokens: USED.total })
        expect(usage.inputTokenDetails).to.include({ cacheReadTokens: USED.cached })
        expect(usage.outputTokenDetails).to.include({ reasoningTokens: USED.reasoning })
      })

      it('streams a text with reasoning, finish reason and usage', async () => {
        fixture.upstream(dialect).on(() => sse(dialect.events(THOUGHT)))
        const result = streamText(settings())
        const pieces = await Array.fromAsync(result.textStream)
        expect(pieces).to.deep.equal(THOUGHT.text)
        expect([await result.reasoningText, await result.finishReason]).to.deep.equal(['Let me see.', 'stop'])
        expect(await result.usage).to.include({
          inputTokens: USED.prompt,
          outputTokens: USED.completion,
          totalTokens: USED.total,
        })
      })

      it('calls a tool and replies with its result', async () => {
        const upstream = fixture.upstream(dialect)
        const asked = [
          upstream.reply(json(dialect.whole(WEATHER))),
          upstream.reply(json(dialect.whole({ text: ['Take a coat.'] }))),
        ]
        const result = await generateText({ ...settings(), tools: { weather }, stopWhen: isStepCount(2) })
        expect(result.text).to.equal('Take a coat.')
        expect(result.steps[0]!.toolResults[0]).to.include({ toolName: 'weather', output: 'Rain in Paris' })
        expect((await asked[1]!).body.toString())
          .to.include('Rain in Paris')
          .and.include('call_1')
      })

      it('calls a tool during a stream', async () => {
        const upstream = fixture.upstream(dialect)
        const asked = [
          upstream.reply(sse(dialect.events(WEATHER))),
          upstream.reply(sse(dialect.events({ text: ['Take a coat.'] }))),
        ]
        const result = streamText({ ...settings(), tools: { weather }, stopWhen: isStepCount(2) })
        expect(await result.text).to.equal('Take a coat.')
        expect((await result.steps)[0]!.toolCalls[0]).to.deep.include({ toolName: 'weather', input: { city: 'Paris' } })
        expect((await asked[1]!).body.toString()).to.include('Rain in Paris')
      })

      it('reports the message of an upstream’s error', async () => {
        fixture.upstream(dialect).on(() => json(dialect.error(400, 'That is too odd.'), { status: 400 }))
        const error = await generateText(settings()).catch((thrown: unknown) => thrown)
        expect(error).to.be.instanceOf(APICallError)
        expect(error).to.include({ message: 'That is too odd.', statusCode: 400, isRetryable: false })
      })

      it('reports a stream that breaks', async () => {
        const [begin] = splitAfter(dialect.events(THOUGHT), 'Hel')
        fixture.upstream(dialect).on(() => sse([...begin, dialect.errorEvent('Private words.')]))
        const errors: unknown[] = []
        const result = streamText({ ...settings(), onError: ({ error }) => void errors.push(error) })
        let text = ''
        async function read(): Promise<void> {
          for await (const piece of result.textStream) text += piece
        }
        await read().catch((error: unknown) => errors.push(error))
        expect(text).to.equal('Hel')
        expect(errors[0]).to.include({ code: dialect === openai ? 'upstream_error' : 'upstream_overloaded' })
        expect(String(errors[0])).to.match(/The upstream (had an error|is overloaded)/)
      })
    })
  }

  it('reports a refused key', async () => {
    const gateway = createOpenAICompatible({ name: 'gateway', baseURL: `${fixture.gateway.url}/v1`, apiKey: 'sk-live-wrong' })
    const error = await generateText({ model: gateway('open/gpt-x'), prompt: 'Hello' }).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(APICallError).and.include({ statusCode: 401 })
    expect(String(error)).to.include('Incorrect API key provided')
  })
})

import { expect } from 'chai'
import { reply, sse } from '../../../core/testing/kit.ts'
import { type Fixture, startFixture } from '../sdk/fixture.ts'
import { openai } from '../sdk/openai-dialect.ts'
import { post } from './assertions.ts'

const TOLD = '"usage":{"prompt_tokens":12,"completion_tokens":7,"total_tokens":19'

/** What may stand in its place. */
const UNUSABLE: Readonly<Record<string, string>> = {
  nothing: '"x":{"y":1',
  'negative counts': '"usage":{"prompt_tokens":-12,"completion_tokens":-7,"total_tokens":-19',
  'counts beyond all measure': '"usage":{"prompt_tokens":1e308,"completion_tokens":1e999,"total_tokens":1e308',
  'counts in words': '"usage":{"prompt_tokens":"12","completion_tokens":"7","total_tokens":"19"',
  'half a token': '"usage":{"prompt_tokens":0.5,"completion_tokens":0.5,"total_tokens":1',
}

describe('An upstream with the usage', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  async function loggedTokens(stream: boolean, usage: string): Promise<{ status: number; estimated: unknown; tokens: unknown }> {
    const wire = (text: string): string => text.replace(TOLD, usage)
    const said = { text: ['Hello'] }
    fixture
      .upstream(openai)
      .on(() => (stream ? sse(openai.events(said).map(wire)) : reply([wire(JSON.stringify(openai.whole(said)))])))
    const answer = await post(fixture, { dialect: openai, stream }, stream ? { stream_options: { include_usage: true } } : {})
    await answer.bytes()
    const { estimated, tokens } = await fixture.gateway.logged(({ id }) => id === answer.headers['x-request-id'])
    return { status: answer.status, estimated, tokens }
  }

  for (const stream of [false, true]) {
    const how = stream ? 'streamed' : 'whole'

    for (const [name, usage] of Object.entries(UNUSABLE)) {
      it(`${name} is served, and the call is charged by estimate: ${how}`, async () => {
        const { status, estimated, tokens } = await loggedTokens(stream, usage)
        expect({ status, estimated }).to.deep.equal({ status: 200, estimated: true })
        expect(tokens).to.have.property('input').that.is.within(1, 200)
        expect(tokens).to.have.property('output').that.is.within(1, 200)
      })
    }

    if (stream) {
      it('that is not told ends a stream with the estimate of the row, for clients that asked for it', async () => {
        fixture
          .upstream(openai)
          .on(() => sse(openai.events({ text: ['Hel', 'lo'] }).filter((text) => !text.includes('"usage":{'))))
        for (const include_usage of [true, false]) {
          const answer = await post(fixture, { dialect: openai, stream }, { stream_options: { include_usage } })
          const told = (await answer.text())
            .split('\n\n')
            .filter((text) => text.includes('"usage":{'))
            .map((text) => JSON.parse(text.slice('data: '.length)))
          const { estimated, tokens } = await fixture.gateway.logged(({ id }) => id === answer.headers['x-request-id'])
          const { input, output } = tokens as { readonly input: number; readonly output: number }
          expect(estimated).to.equal(true)
          const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
          expect(told.map((each) => ({ choices: each.choices, usage: each.usage }))).to.deep.equal(
            include_usage ? [{ choices: [], usage }] : [],
          )
        }
      })
    }

    it(`of valid counts is charged by them, with or without the total: ${how}`, async () => {
      for (const usage of [TOLD, TOLD.replace(',"total_tokens":19', '')]) {
        const { estimated, tokens } = await loggedTokens(stream, usage)
        expect(estimated).to.equal(false)
        expect(tokens).to.include({ input: 12, output: 7 })
      }
    })
  }
})

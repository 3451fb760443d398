// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { createOpenAI } from '@ai-sdk/openai'
import * as ai7 from 'ai'
import * as ai6 from 'ai-6'
import { createOpenAI as createOpenAI3 } from 'ai-sdk-openai-3'
import { expect } from 'chai'
import OpenAI from 'openai'
import type { FunctionTool, Response, ResponseInput } from 'openai/resources/responses/responses'
import { z } from 'zod'
import { WEATHER, weatherIn } from '../clients/client.ts'
import { type Fixture, startFixture } from '../clients/fixture.ts'
import { THOUGHT, VENDORS } from '../clients/vendors.ts'

/** Of each major version, as its page tells to use it: it sends references to the items of earlier replies. */
const SDKS = [
  { name: 'AI SDK 7', ai: ai7, isStepCount: ai7.isStepCount, create: createOpenAI },
  {
    name: 'AI SDK 6',
    ai: ai6 as unknown as typeof ai7,
    isStepCount: ai6.stepCountIs as unknown as typeof ai7.isStepCount,
    create: createOpenAI3 as unknown as typeof createOpenAI,
  },
]

const FUNCTION: FunctionTool = {
  type: 'function',
  ...WEATHER,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  strict: true,
}

const SAID = ['Rain in Oslo, they say.', 'Snow tomorrow.', 'Take a coat.']
const ASKED = ['How is the weather?', 'And tomorrow?', 'What shall I wear?']

/** It knows models that reason by OpenAI's names. */
const THINKING = { providerOptions: { openai: { forceReasoning: true, reasoningEffort: 'low' } } }

describe('A conversation of three turns with tools, kept by the gateway', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture(VENDORS, {}, { keepResponses: { keys: ['${env:KEEPING_KEY}'] } })
  })
  after(() => fixture?.stop())

  const tool = { description: WEATHER.description, inputSchema: z.object({ city: z.string() }) }

  for (const vendor of VENDORS)
    for (const { name, ai, isStepCount, create } of SDKS)
      for (const way of ['whole', 'streamed', 'thinking'])
        it(`goes on with the default settings of ${name} at ${vendor.name}, ${way}`, async () => {
          const scripted = fixture.models.get(vendor)!
          scripted.script([
            { reasoning: THOUGHT, tools: [{ name: 'weather', arguments: { city: 'Oslo' } }] },
            ...SAID.map((text) => ({ text })),
          ])
          const model = create({ baseURL: `${fixture.url}/v1`, apiKey: fixture.key })(scripted.id)
          const tools = { weather: ai.tool({ ...tool, execute: ({ city }) => weatherIn(city) }) }
          const messages: ai7.ModelMessage[] = []
          for (const content of ASKED) {
            messages.push({ role: 'user', content })
            const asked = {
              model,
              tools,
              messages,
              stopWhen: isStepCount(5),
              maxRetries: 0,
              maxOutputTokens: 4000,
              ...(way === 'thinking' && THINKING),
            }
            if (way === 'streamed') {
              const result = ai.streamText(asked)
              await result.text
              messages.push(...(await result.response).messages)
            } else messages.push(...(await ai.generateText(asked)).response.messages)
          }
          const { body } = scripted.asked.at(-1)!
          expect(scripted.asked).to.have.length(4)
          for (const text of [...ASKED, ...SAID.slice(0, 2), weatherIn('Oslo')]) expect(body).to.include(text)
          // References are in the place of what they name.
          expect(body).to.not.include('item_reference')
          if (way !== 'thinking') return
          for (const text of vendor.returns('responses').slice(0, 1)) expect(scripted.asked[1]!.body).to.include(text)
        })

  for (const vendor of VENDORS)
    for (const way of ['whole', 'streamed'])
      it(`goes on by previous_response_id with OpenAI's SDK at ${vendor.name}, ${way}`, async () => {
        const scripted = fixture.models.get(vendor)!
        scripted.script([
          { reasoning: THOUGHT, tools: [{ name: 'weather', arguments: { city: 'Oslo' } }] },
          ...SAID.map((text) => ({ text })),
        ])
        const client = new OpenAI({ baseURL: `${fixture.url}/v1`, apiKey: fixture.key, maxRetries: 0 })
        const ask = async (input: ResponseInput, previous: string | null): Promise<Response> => {
          const asked = {
            model: scripted.id,
            input,
            previous_response_id: previous,
            tools: [FUNCTION],
            reasoning: { effort: 'low' as const },
          }
          return way === 'whole' ? client.responses.create(asked) : client.responses.stream(asked).finalResponse()
        }
        const user = (content: string) => ({ role: 'user', content }) as const
        const first = await ask([user(ASKED[0]!)], null)
        const { call_id } = first.output.find((item) => item.type === 'function_call')!
        let last = await ask([{ type: 'function_call_output', call_id, output: weatherIn('Oslo') }], first.id)
        for (const text of ASKED.slice(1)) last = await ask([user(text)], last.id)
        expect(last.output_text).to.equal(SAID.at(-1))
        const { body } = scripted.asked.at(-1)!
        for (const text of [...ASKED, ...SAID.slice(0, 2), weatherIn('Oslo')]) expect(body).to.include(text)
        for (const text of vendor.returns('responses').slice(0, 1)) expect(scripted.asked[1]!.body).to.include(text)
      })
})

import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, type LanguageModel, Output, streamText, tool } from 'ai'
import { z } from 'zod'
import { type Client, type Gateway, QUESTION, WEATHER, weatherIn } from './client.ts'

type Options = NonNullable<Parameters<typeof generateText>[0]['providerOptions']>

/** A provider of the AI SDK. */
interface Provider extends Omit<Client, 'tasks'> {
  model(gateway: Gateway, id: string): LanguageModel
  /** Ask the model to think. */
  readonly thinking: Options
  /** Ask for an object by the API's own parameter. */
  readonly structured?: Options
}

const output = Output.object({ schema: z.object({ city: z.string() }) })

function travelling() {
  const cities: string[] = []
  const weather = tool({
    description: WEATHER.description,
    inputSchema: z.object({ city: z.string() }),
    execute({ city }) {
      cities.push(city)
      return weatherIn(city)
    },
  })
  return { tools: { weather }, stopWhen: isStepCount(5), cities }
}

function client({ model: modelOf, thinking, structured, ...head }: Provider): Client {
  const settings = (gateway: Gateway, model: string) => ({
    model: modelOf(gateway, model),
    prompt: QUESTION,
    maxOutputTokens: 4000,
    maxRetries: 0,
  })
  const thoughtful = { providerOptions: thinking }
  const parsing = { output, ...(structured && { providerOptions: structured }) }
  return {
    ...head,
    tasks: {
      async ask(gateway, model) {
        const { text, usage } = await generateText(settings(gateway, model))
        return { text, input: usage.inputTokens, output: usage.outputTokens }
      },
      async stream(gateway, model) {
        const result = streamText(settings(gateway, model))
        const pieces = await Array.fromAsync(result.textStream)
        const { inputTokens, outputTokens } = await result.usage
        return { text: await result.text, input: inputTokens, output: outputTokens, pieces }
      },
      async loop(gateway, model) {
        const { cities, ...tools } = travelling()
        const { text } = await generateText({ ...settings(gateway, model), ...thoughtful, ...tools })
        return { text, cities }
      },
      async streamedLoop(gateway, model) {
        const { cities, ...tools } = travelling()
        const result = streamText({ ...settings(gateway, model), ...thoughtful, ...tools })
        return { text: await result.text, cities }
      },
      parse: async (gateway, model) => (await generateText({ ...settings(gateway, model), ...parsing })).output,
      streamedParse: async (gateway, model) => streamText({ ...settings(gateway, model), ...parsing }).output,
      async think(gateway, model) {
        const { reasoningText = '', text } = await generateText({ ...settings(gateway, model), ...thoughtful })
        return { thought: reasoningText, text }
      },
      async streamedThink(gateway, model) {
        const result = streamText({ ...settings(gateway, model), ...thoughtful })
        return { thought: (await result.reasoningText) ?? '', text: await result.text }
      },
    },
  }
}

/** The AI SDK with OpenAI's provider, which speaks the Responses API. */
export const aiSdkOpenai = client({
  name: 'AI SDK, openai(m)',
  protocol: 'responses',
  model: ({ url, key }, id) => createOpenAI({ baseURL: `${url}/v1`, apiKey: key })(id),
  // It knows models that reason by OpenAI's names.
  thinking: { openai: { forceReasoning: true, reasoningEffort: 'low', reasoningSummary: 'auto', store: false } },
})

/** The AI SDK with Anthropic's provider. */
export const aiSdkAnthropic = client({
  name: 'AI SDK, anthropic(m)',
  protocol: 'messages',
  model: ({ url, key }, id) => createAnthropic({ baseURL: `${url}/v1`, apiKey: key })(id),
  thinking: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } },
  structured: { anthropic: { structuredOutputMode: 'outputFormat' } },
})

import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import * as ai7 from 'ai'
import * as ai6 from 'ai-6'
import { createAnthropic as createAnthropic3 } from 'ai-sdk-anthropic-3'
import { createOpenAI as createOpenAI3 } from 'ai-sdk-openai-3'
import { createOpenAICompatible as createOpenAICompatible2 } from 'ai-sdk-openai-compatible-2'
import { z } from 'zod'
import { type Client, type Gateway, NEXT, packageIn, QUESTION, type Version, WEATHER, weatherIn } from './client.ts'
import type { Protocol } from './vendors.ts'

type Options = NonNullable<Parameters<typeof ai7.generateText>[0]['providerOptions']>

/** A major version of the SDK with its providers. The earlier ones are used as the newest one is: what is used here is of the same shape. */
interface Sdk {
  readonly package: string
  readonly ai: Pick<typeof ai7, 'generateText' | 'Output' | 'streamText' | 'tool'>
  readonly isStepCount: typeof ai7.isStepCount
  readonly createAnthropic: typeof createAnthropic
  readonly createOpenAI: typeof createOpenAI
  readonly createOpenAICompatible: typeof createOpenAICompatible
}

const SDKS: readonly Sdk[] = [
  { package: 'ai', ai: ai7, isStepCount: ai7.isStepCount, createAnthropic, createOpenAI, createOpenAICompatible },
  {
    package: 'ai-6',
    ai: ai6 as unknown as typeof ai7,
    isStepCount: ai6.stepCountIs as unknown as typeof ai7.isStepCount,
    createAnthropic: createAnthropic3 as unknown as typeof createAnthropic,
    createOpenAI: createOpenAI3 as unknown as typeof createOpenAI,
    createOpenAICompatible: createOpenAICompatible2 as unknown as typeof createOpenAICompatible,
  },
]

/** A provider of the AI SDK. */
interface Provider {
  readonly name: string
  readonly protocol: Protocol
  readonly version?: Version
  model(gateway: Gateway, id: string): ai7.LanguageModel
  /** Ask the model to think. */
  readonly thinking: Options
  /** Ask for an object by the API's own parameter. */
  readonly structured?: Options
}

const providersOf = (sdk: Sdk): readonly Provider[] => [
  {
    name: 'openai',
    protocol: 'responses',
    model: ({ url, key }, id) => sdk.createOpenAI({ baseURL: `${url}/v1`, apiKey: key })(id),
    // It knows models that reason by OpenAI's names.
    thinking: { openai: { forceReasoning: true, reasoningEffort: 'low', reasoningSummary: 'auto', store: false } },
  },
  {
    name: 'openai-compatible',
    protocol: 'chat',
    model({ url, key }, id) {
      const settings = { name: 'umg', baseURL: `${url}/v1`, apiKey: key, includeUsage: true, supportsStructuredOutputs: true }
      return sdk.createOpenAICompatible(settings)(id)
    },
    thinking: { umg: { reasoningEffort: 'low' } },
  },
  {
    name: 'anthropic',
    protocol: 'messages',
    version: '2023-06-01',
    model: ({ url, key }, id) => sdk.createAnthropic({ baseURL: `${url}/v1`, apiKey: key })(id),
    thinking: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } },
    structured: { anthropic: { structuredOutputMode: 'outputFormat' } },
  },
]

function client(
  { package: folder, ai, isStepCount }: Sdk,
  { model: modelOf, thinking, structured, name, protocol, version }: Provider,
): Client {
  const { generateText, Output, streamText, tool } = ai
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

  const asked = { role: 'user' as const, content: QUESTION }
  const settings = (gateway: Gateway, model: string, answer?: string) => ({
    model: modelOf(gateway, model),
    messages:
      answer === undefined
        ? [asked]
        : [asked, { role: 'assistant' as const, content: answer }, { role: 'user' as const, content: NEXT }],
    maxOutputTokens: 4000,
    maxRetries: 0,
  })
  const thoughtful = { providerOptions: thinking }
  const parsing = { output, ...(structured && { providerOptions: structured }) }
  return {
    name: `AI SDK ${packageIn(folder).version.split('.', 1)[0]}, ${name}`,
    package: folder,
    ...(folder !== SDKS[0]!.package && { isEarlier: true }),
    protocol,
    ...(version && { version }),
    tasks: {
      async ask(gateway, model) {
        const first = await generateText(settings(gateway, model))
        const { text, usage } = await generateText(settings(gateway, model, first.text))
        return { text, input: usage.inputTokens, output: usage.outputTokens }
      },
      async stream(gateway, model) {
        const first = streamText(settings(gateway, model))
        const result = streamText(settings(gateway, model, await first.text))
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

/** The AI SDK with each of its providers that speaks one of the protocols. */
export const AI_SDKS: readonly Client[] = SDKS.flatMap((sdk) => providersOf(sdk).map((provider) => client(sdk, provider)))

import Anthropic from '@anthropic-ai/sdk'
import * as beta1 from '@anthropic-ai/sdk/helpers/beta/zod'
import * as zod1 from '@anthropic-ai/sdk/helpers/zod'
import Anthropic0 from 'anthropic-sdk-0'
import * as beta0 from 'anthropic-sdk-0/helpers/beta/zod'
import * as zod0 from 'anthropic-sdk-0/helpers/zod'
import { z } from 'zod'
import {
  type Answer,
  type Client,
  type Gateway,
  type Looped,
  NEXT,
  QUESTION,
  type Thought,
  titleOf,
  type Version,
  WEATHER,
  weatherIn,
} from './client.ts'

/** A major version of the SDK. The earlier one is used as the newest one is: what is used here is of the same shape. */
interface Sdk {
  readonly package: string
  readonly version: Version
  readonly Anthropic: typeof Anthropic
  readonly zod: Pick<typeof zod1, 'zodOutputFormat'> & Pick<typeof beta1, 'betaZodTool'>
}

const SDKS: readonly Sdk[] = [
  { package: '@anthropic-ai/sdk', version: '2026-10-21', Anthropic, zod: { ...zod1, ...beta1 } },
  {
    package: 'anthropic-sdk-0',
    version: '2023-06-01',
    Anthropic: Anthropic0 as unknown as typeof Anthropic,
    zod: { ...zod0, ...beta0 } as unknown as Sdk['zod'],
  },
]

const THINKING = { thinking: { type: 'enabled', budget_tokens: 2000 } } as const

const ask = (model: string) => ({ model, max_tokens: 4000, messages: [{ role: 'user' as const, content: QUESTION }] })

/** The same with the first answer in the conversation. */
function askNext(model: string, { content }: Anthropic.Message) {
  const asked = ask(model)
  const more = [
    { role: 'assistant' as const, content: content as Anthropic.ContentBlockParam[] },
    { role: 'user' as const, content: NEXT },
  ]
  return { ...asked, messages: [...asked.messages, ...more] }
}

const textOf = ({ content }: Pick<Anthropic.Message, 'content'> | Pick<Anthropic.Beta.BetaMessage, 'content'>): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')

const toAnswer = (message: Anthropic.Message): Answer => ({
  text: textOf(message),
  input: message.usage.input_tokens,
  output: message.usage.output_tokens,
})

const toThought = (message: Anthropic.Message): Thought => ({
  thought: message.content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
  text: textOf(message),
})

function client({ package: folder, version, Anthropic: Client, zod }: Sdk): Client {
  const connect = ({ url, key }: Gateway) => new Client({ baseURL: url, apiKey: key, maxRetries: 0 })
  const place = { output_config: { format: zod.zodOutputFormat(z.object({ city: z.string() })) } }

  async function loop(gateway: Gateway, model: string, stream: boolean): Promise<Looped> {
    const cities: string[] = []
    const weather = zod.betaZodTool({
      ...WEATHER,
      inputSchema: z.object({ city: z.string() }),
      run({ city }) {
        cities.push(city)
        return weatherIn(city)
      },
    })
    const runner = connect(gateway).beta.messages.toolRunner({ ...ask(model), ...THINKING, tools: [weather], stream })
    return { text: textOf(await runner.runUntilDone()), cities }
  }

  return {
    name: titleOf(folder),
    package: folder,
    ...(folder !== SDKS[0]!.package && { isEarlier: true }),
    protocol: 'messages',
    version,
    tasks: {
      async ask(gateway, model) {
        const { messages } = connect(gateway)
        const first = await messages.create(ask(model))
        return toAnswer(await messages.create(askNext(model, first)))
      },
      async stream(gateway, model) {
        const { messages } = connect(gateway)
        const first = await messages.stream(ask(model)).finalMessage()
        const pieces: string[] = []
        const stream = messages.stream(askNext(model, first))
        stream.on('text', (piece) => pieces.push(piece))
        return { ...toAnswer(await stream.finalMessage()), pieces }
      },
      loop: (gateway, model) => loop(gateway, model, false),
      streamedLoop: (gateway, model) => loop(gateway, model, true),
      async parse(gateway, model) {
        return (await connect(gateway).messages.parse({ ...ask(model), ...place })).parsed_output
      },
      async streamedParse(gateway, model) {
        return (
          await connect(gateway)
            .messages.stream({ ...ask(model), ...place })
            .finalMessage()
        ).parsed_output
      },
      think: async (gateway, model) => toThought(await connect(gateway).messages.create({ ...ask(model), ...THINKING })),
      streamedThink: async (gateway, model) =>
        toThought(
          await connect(gateway)
            .messages.stream({ ...ask(model), ...THINKING })
            .finalMessage(),
        ),
      count: async (gateway, model) =>
        (await connect(gateway).messages.countTokens({ model, messages: [{ role: 'user', content: QUESTION }] })).input_tokens,
    },
  }
}

/** Anthropic's own SDK. */
export const ANTHROPIC_SDKS: readonly Client[] = SDKS.map(client)

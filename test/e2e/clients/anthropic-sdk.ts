import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import { z } from 'zod'
import { type Answer, type Client, type Gateway, type Looped, QUESTION, type Thought, WEATHER, weatherIn } from './client.ts'

const connect = ({ url, key }: Gateway) => new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 })

const PLACE = { output_config: { format: zodOutputFormat(z.object({ city: z.string() })) } }
const THINKING = { thinking: { type: 'enabled', budget_tokens: 2000 } } as const

const ask = (model: string) => ({ model, max_tokens: 4000, messages: [{ role: 'user' as const, content: QUESTION }] })

const textOf = ({ content }: Pick<Anthropic.Message, 'content'> | Pick<Anthropic.Beta.BetaMessage, 'content'>): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')

const toAnswer = (message: Anthropic.Message): Answer => ({
  text: textOf(message),
  input: message.usage.input_tokens,
  output: message.usage.output_tokens,
})

async function loop(gateway: Gateway, model: string, stream: boolean): Promise<Looped> {
  const cities: string[] = []
  const weather = betaZodTool({
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

const toThought = (message: Anthropic.Message): Thought => ({
  thought: message.content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
  text: textOf(message),
})

/** Anthropic's own SDK. */
export const anthropicSdk: Client = {
  name: '@anthropic-ai/sdk',
  protocol: 'messages',
  tasks: {
    ask: async (gateway, model) => toAnswer(await connect(gateway).messages.create(ask(model))),
    async stream(gateway, model) {
      const pieces: string[] = []
      const stream = connect(gateway).messages.stream(ask(model))
      stream.on('text', (piece) => pieces.push(piece))
      return { ...toAnswer(await stream.finalMessage()), pieces }
    },
    loop: (gateway, model) => loop(gateway, model, false),
    streamedLoop: (gateway, model) => loop(gateway, model, true),
    async parse(gateway, model) {
      return (await connect(gateway).messages.parse({ ...ask(model), ...PLACE })).parsed_output
    },
    async streamedParse(gateway, model) {
      return (
        await connect(gateway)
          .messages.stream({ ...ask(model), ...PLACE })
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

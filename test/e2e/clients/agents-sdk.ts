import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import { z } from 'zod'
import { type Answer, type Client, type Gateway, type Looped, QUESTION, WEATHER, weatherIn } from './client.ts'

// Traces would go to OpenAI.
const connect = ({ url, key }: Gateway) =>
  new Runner({
    modelProvider: new OpenAIProvider({ baseURL: `${url}/v1`, apiKey: key, useResponses: true }),
    tracingDisabled: true,
  })

const asking = (model: string) => new Agent({ name: 'Asking', model })

const parsing = (model: string) => new Agent({ name: 'Parsing', model, outputType: z.object({ city: z.string() }) })

/** An agent with a tool, and the cities for which it ran. */
function travelling(model: string) {
  const cities: string[] = []
  const weather = tool({
    ...WEATHER,
    parameters: z.object({ city: z.string() }),
    execute({ city }) {
      cities.push(city)
      return weatherIn(city)
    },
  })
  const providerData = { include: ['reasoning.encrypted_content'] }
  const modelSettings = { reasoning: { effort: 'low', summary: 'auto' }, store: false, providerData } as const
  return { agent: new Agent({ name: 'Travelling', model, tools: [weather], modelSettings }), cities }
}

/** What a run has at its end. */
interface Run {
  readonly finalOutput?: unknown
  readonly rawResponses: readonly { readonly usage: { readonly inputTokens: number; readonly outputTokens: number } }[]
}

const toAnswer = ({ finalOutput, rawResponses }: Run): Answer => ({
  text: String(finalOutput),
  input: rawResponses[0]?.usage.inputTokens,
  output: rawResponses[0]?.usage.outputTokens,
})

/** The Agents SDK of OpenAI. */
export const agentsSdk: Client = {
  name: '@openai/agents',
  protocol: 'responses',
  tasks: {
    ask: async (gateway, model) => toAnswer(await connect(gateway).run(asking(model), QUESTION)),
    async stream(gateway, model) {
      const result = await connect(gateway).run(asking(model), QUESTION, { stream: true })
      const pieces = await Array.fromAsync(result.toTextStream())
      await result.completed
      return { ...toAnswer(result), pieces }
    },
    async loop(gateway, model): Promise<Looped> {
      const { agent, cities } = travelling(model)
      const { finalOutput } = await connect(gateway).run(agent, QUESTION)
      return { text: String(finalOutput), cities }
    },
    async streamedLoop(gateway, model): Promise<Looped> {
      const { agent, cities } = travelling(model)
      const result = await connect(gateway).run(agent, QUESTION, { stream: true })
      await result.completed
      return { text: String(result.finalOutput), cities }
    },
    parse: async (gateway, model) => (await connect(gateway).run(parsing(model), QUESTION)).finalOutput,
    async streamedParse(gateway, model) {
      const result = await connect(gateway).run(parsing(model), QUESTION, { stream: true })
      await result.completed
      return result.finalOutput
    },
  },
}

import { Agent, type AgentInputItem, type ModelSettings, OpenAIProvider, Runner, tool, user } from '@openai/agents'
import { z } from 'zod'
import { type Answer, type Client, type Gateway, type Looped, NEXT, QUESTION, titleOf, WEATHER, weatherIn } from './client.ts'
import type { Protocol } from './vendors.ts'

// Traces would go to OpenAI.
const connecting =
  (protocol: Protocol) =>
  ({ url, key }: Gateway) =>
    new Runner({
      modelProvider: new OpenAIProvider({ baseURL: `${url}/v1`, apiKey: key, useResponses: protocol === 'responses' }),
      tracingDisabled: true,
    })

const asking = (model: string) => new Agent({ name: 'Asking', model })

const parsing = (model: string) => new Agent({ name: 'Parsing', model, outputType: z.object({ city: z.string() }) })

/** An agent with a tool, and the cities for which it ran. */
function travelling(model: string, modelSettings: ModelSettings) {
  const cities: string[] = []
  const weather = tool({
    ...WEATHER,
    parameters: z.object({ city: z.string() }),
    execute({ city }) {
      cities.push(city)
      return weatherIn(city)
    },
  })
  return { agent: new Agent({ name: 'Travelling', model, tools: [weather], modelSettings }), cities }
}

/** What a run has at its end. */
interface Run {
  readonly finalOutput?: unknown
  readonly history: AgentInputItem[]
  readonly rawResponses: readonly { readonly usage: { readonly inputTokens: number; readonly outputTokens: number } }[]
}

/** The conversation after the first answer. */
const continued = ({ history }: Run): AgentInputItem[] => [...history, user(NEXT)]

const toAnswer = ({ finalOutput, rawResponses }: Run): Answer => ({
  text: String(finalOutput),
  input: rawResponses[0]?.usage.inputTokens,
  output: rawResponses[0]?.usage.outputTokens,
})

const THINKING: Readonly<Record<'responses' | 'chat', ModelSettings>> = {
  responses: {
    reasoning: { effort: 'low', summary: 'auto' },
    store: false,
    providerData: { include: ['reasoning.encrypted_content'] },
  },
  chat: { reasoning: { effort: 'low' } },
}

function client(protocol: 'responses' | 'chat'): Client {
  const connect = connecting(protocol)
  return {
    name: titleOf('@openai/agents'),
    package: '@openai/agents',
    protocol,
    tasks: {
      async ask(gateway, model) {
        const runner = connect(gateway)
        const first = await runner.run(asking(model), QUESTION)
        return toAnswer(await runner.run(asking(model), continued(first)))
      },
      async stream(gateway, model) {
        const runner = connect(gateway)
        const first = await runner.run(asking(model), QUESTION, { stream: true })
        await first.completed
        const result = await runner.run(asking(model), continued(first), { stream: true })
        const pieces = await Array.fromAsync(result.toTextStream())
        await result.completed
        return { ...toAnswer(result), pieces }
      },
      async loop(gateway, model): Promise<Looped> {
        const { agent, cities } = travelling(model, THINKING[protocol])
        const { finalOutput } = await connect(gateway).run(agent, QUESTION)
        return { text: String(finalOutput), cities }
      },
      async streamedLoop(gateway, model): Promise<Looped> {
        const { agent, cities } = travelling(model, THINKING[protocol])
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
}

/** The Agents SDK of OpenAI. */
export const AGENTS_SDK: readonly Client[] = [client('responses'), client('chat')]

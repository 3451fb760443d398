import OpenAI from 'openai'
import { zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { type Answer, type Client, type Gateway, type Looped, QUESTION, type Thought, WEATHER, weatherIn } from './client.ts'

type Response = OpenAI.Responses.Response

const connect = ({ url, key }: Gateway) => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })

const PLACE = zodTextFormat(z.object({ city: z.string() }), 'place')
const THINKING: Pick<OpenAI.Responses.ResponseCreateParams, 'reasoning' | 'include' | 'store'> = {
  reasoning: { effort: 'low', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
  store: false,
}

const toAnswer = ({ output_text: text, usage }: Response): Answer => ({
  text,
  input: usage?.input_tokens,
  output: usage?.output_tokens,
})

/** Asks, and sends all that came back with the outputs of the tools, until no tool is called. */
async function loop(gateway: Gateway, model: string, stream: boolean): Promise<Looped> {
  const { responses } = connect(gateway)
  const tools = [zodResponsesFunction({ ...WEATHER, parameters: z.object({ city: z.string() }) })]
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: QUESTION }]
  const cities: string[] = []
  for (;;) {
    const body = { model, input, tools, ...THINKING }
    const { output, output_text: text } = stream ? await responses.stream(body).finalResponse() : await responses.parse(body)
    const calls = output.filter((item) => item.type === 'function_call')
    if (calls.length === 0) return { text, cities }
    input.push(...(output as OpenAI.Responses.ResponseInput))
    for (const { call_id, parsed_arguments: values } of calls) {
      const { city } = values as { city: string }
      cities.push(city)
      input.push({ type: 'function_call_output', call_id, output: weatherIn(city) })
    }
  }
}

const toThought = ({ output, output_text: text }: Response): Thought => ({
  thought: output.flatMap((item) => (item.type === 'reasoning' ? item.summary.map((part) => part.text) : [])).join(''),
  text,
})

/** OpenAI's own SDK. */
export const openaiSdk: Client = {
  name: 'openai (npm)',
  protocol: 'responses',
  tasks: {
    ask: async (gateway, model) => toAnswer(await connect(gateway).responses.create({ model, input: QUESTION })),
    async stream(gateway, model) {
      const pieces: string[] = []
      const stream = connect(gateway).responses.stream({ model, input: QUESTION })
      stream.on('response.output_text.delta', ({ delta }) => pieces.push(delta))
      return { ...toAnswer(await stream.finalResponse()), pieces }
    },
    loop: (gateway, model) => loop(gateway, model, false),
    streamedLoop: (gateway, model) => loop(gateway, model, true),
    async parse(gateway, model) {
      const parsed = await connect(gateway).responses.parse({ model, input: QUESTION, text: { format: PLACE } })
      return parsed.output_parsed
    },
    async streamedParse(gateway, model) {
      const stream = connect(gateway).responses.stream({ model, input: QUESTION, text: { format: PLACE } })
      return (await stream.finalResponse()).output_parsed
    },
    think: async (gateway, model) => toThought(await connect(gateway).responses.create({ model, input: QUESTION, ...THINKING })),
    streamedThink: async (gateway, model) =>
      toThought(
        await connect(gateway)
          .responses.stream({ model, input: QUESTION, ...THINKING })
          .finalResponse(),
      ),
  },
}

import OpenAI from 'openai'
import * as zod7 from 'openai/helpers/zod'
import OpenAI6 from 'openai-6'
import * as zod6 from 'openai-6/helpers/zod'
import { z } from 'zod'
import {
  type Answer,
  type Client,
  type Gateway,
  type Looped,
  NEXT,
  QUESTION,
  type Tasks,
  type Thought,
  titleOf,
  WEATHER,
  weatherIn,
} from './client.ts'

type Response = OpenAI.Responses.Response
type Completion = OpenAI.ChatCompletion
type Message = OpenAI.ChatCompletionMessageParam

/** A major version of the SDK. The earlier ones are used as the newest one is: what is used here is of the same shape. */
interface Sdk {
  readonly package: string
  readonly OpenAI: typeof OpenAI
  readonly zod: typeof zod7
}

const SDKS: readonly Sdk[] = [
  { package: 'openai', OpenAI, zod: zod7 },
  { package: 'openai-6', OpenAI: OpenAI6 as unknown as typeof OpenAI, zod: zod6 as unknown as typeof zod7 },
]

const place = z.object({ city: z.string() })

const THINKING: Pick<OpenAI.Responses.ResponseCreateParams, 'reasoning' | 'include' | 'store'> = {
  reasoning: { effort: 'low', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
  store: false,
}

/** As `output_text`, which SDK 6 does not have in a streamed response. */
const textOf = (output: Response['output']): string =>
  output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('')

const ofResponse = ({ output, usage }: Response): Answer => ({
  text: textOf(output),
  input: usage?.input_tokens,
  output: usage?.output_tokens,
})

const ofCompletion = ({ choices, usage }: Completion): Answer => ({
  text: choices[0]!.message.content ?? '',
  input: usage?.prompt_tokens,
  output: usage?.completion_tokens,
})

const toThought = ({ output }: Response): Thought => ({
  thought: output.flatMap((item) => (item.type === 'reasoning' ? item.summary.map((part) => part.text) : [])).join(''),
  text: textOf(output),
})

function byResponses({ OpenAI: Client, zod }: Sdk): Tasks<'count'> {
  const responses = ({ url, key }: Gateway) => new Client({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 }).responses
  const format = { text: { format: zod.zodTextFormat(place, 'place') } }

  /** Asks, and sends all that came back with the outputs of the tools, until no tool is called. */
  async function loop(gateway: Gateway, model: string, stream: boolean): Promise<Looped> {
    const api = responses(gateway)
    const tools = [zod.zodResponsesFunction({ ...WEATHER, parameters: place })]
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: QUESTION }]
    const cities: string[] = []
    for (;;) {
      const body = { model, input, tools, ...THINKING }
      const { output } = stream ? await api.stream(body).finalResponse() : await api.parse(body)
      const calls = output.filter((item) => item.type === 'function_call')
      if (calls.length === 0) return { text: textOf(output), cities }
      input.push(...(output as OpenAI.Responses.ResponseInput))
      for (const { call_id, arguments: values } of calls) {
        const { city } = JSON.parse(values) as { city: string }
        cities.push(city)
        input.push({ type: 'function_call_output', call_id, output: weatherIn(city) })
      }
    }
  }

  /** The conversation after the first answer. */
  const continued = ({ output }: Response): OpenAI.Responses.ResponseInput => [
    { role: 'user', content: QUESTION },
    ...(output as OpenAI.Responses.ResponseInput),
    { role: 'user', content: NEXT },
  ]

  return {
    async ask(gateway, model) {
      const api = responses(gateway)
      const first = await api.create({ model, input: QUESTION })
      return ofResponse(await api.create({ model, input: continued(first) }))
    },
    async stream(gateway, model) {
      const api = responses(gateway)
      const first = await api.stream({ model, input: QUESTION }).finalResponse()
      const pieces: string[] = []
      const stream = api.stream({ model, input: continued(first) })
      stream.on('response.output_text.delta', ({ delta }) => pieces.push(delta))
      return { ...ofResponse(await stream.finalResponse()), pieces }
    },
    loop: (gateway, model) => loop(gateway, model, false),
    streamedLoop: (gateway, model) => loop(gateway, model, true),
    parse: async (gateway, model) => (await responses(gateway).parse({ model, input: QUESTION, ...format })).output_parsed,
    async streamedParse(gateway, model) {
      const stream = responses(gateway).stream({ model, input: QUESTION, ...format })
      return (await stream.finalResponse()).output_parsed
    },
    think: async (gateway, model) => toThought(await responses(gateway).create({ model, input: QUESTION, ...THINKING })),
    async streamedThink(gateway, model) {
      const stream = responses(gateway).stream({ model, input: QUESTION, ...THINKING })
      return toThought(await stream.finalResponse())
    },
  }
}

function byChat({ OpenAI: Client, zod }: Sdk): Tasks<'think' | 'streamedThink' | 'count'> {
  const completions = ({ url, key }: Gateway) => new Client({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 }).chat.completions
  const format = { response_format: zod.zodResponseFormat(place, 'place') }
  const asking = (model: string) => ({ model, messages: [{ role: 'user' as const, content: QUESTION }] })

  async function loop(gateway: Gateway, model: string, stream: boolean): Promise<Looped> {
    const api = completions(gateway)
    const tools = [zod.zodFunction({ ...WEATHER, parameters: place })]
    const messages: Message[] = [{ role: 'user', content: QUESTION }]
    const cities: string[] = []
    for (;;) {
      const body = { model, messages, tools, reasoning_effort: 'low' as const }
      const { choices } = stream ? await api.stream(body).finalChatCompletion() : await api.parse(body)
      const { message } = choices[0]!
      if (message.tool_calls === undefined || message.tool_calls.length === 0) return { text: message.content ?? '', cities }
      messages.push(message)
      for (const call of message.tool_calls) {
        if (call.type !== 'function') continue
        const { city } = call.function.parsed_arguments as { city: string }
        cities.push(city)
        messages.push({ role: 'tool', tool_call_id: call.id, content: weatherIn(city) })
      }
    }
  }

  /** The conversation after the first answer. */
  const continued = ({ choices }: Completion): { readonly messages: Message[] } => ({
    messages: [{ role: 'user', content: QUESTION }, choices[0]!.message, { role: 'user', content: NEXT }],
  })

  return {
    async ask(gateway, model) {
      const api = completions(gateway)
      const first = await api.create(asking(model))
      return ofCompletion(await api.create({ model, ...continued(first) }))
    },
    async stream(gateway, model) {
      const api = completions(gateway)
      const options = { stream_options: { include_usage: true } }
      const first = await api.stream({ ...asking(model), ...options }).finalChatCompletion()
      const pieces: string[] = []
      const stream = api.stream({ model, ...continued(first), ...options })
      stream.on('content', (piece) => pieces.push(piece))
      return { ...ofCompletion(await stream.finalChatCompletion()), pieces }
    },
    loop: (gateway, model) => loop(gateway, model, false),
    streamedLoop: (gateway, model) => loop(gateway, model, true),
    async parse(gateway, model) {
      return (await completions(gateway).parse({ ...asking(model), ...format })).choices[0]!.message.parsed
    },
    async streamedParse(gateway, model) {
      const stream = completions(gateway).stream({ ...asking(model), ...format })
      return (await stream.finalChatCompletion()).choices[0]!.message.parsed
    },
  }
}

/** OpenAI's own SDK. */
export const OPENAI_SDKS: readonly Client[] = SDKS.flatMap((sdk) => {
  const head = { name: titleOf(sdk.package), package: sdk.package, ...(sdk !== SDKS[0] && { isEarlier: true as const }) }
  return [
    { ...head, protocol: 'responses', tasks: byResponses(sdk) },
    { ...head, protocol: 'chat', tasks: byChat(sdk) },
  ]
})

import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { type AIMessage, AIMessageChunk, type BaseMessage, HumanMessage, type ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import {
  type Answer,
  type Client,
  type Gateway,
  type Looped,
  NEXT,
  QUESTION,
  type Thought,
  WEATHER,
  weatherIn,
} from './client.ts'

/** A chat model of LangChain. */
interface ChatModel extends Omit<Client, 'tasks'> {
  /** It shows no thoughts. */
  readonly isSilent?: true
  model(gateway: Gateway, id: string): BaseChatModel
  thinking(gateway: Gateway, id: string): BaseChatModel
}

/** What `invoke` and `stream` do for a conversation. */
type Runnable = Pick<BaseChatModel, 'invoke' | 'stream'>

/** Joins the chunks of a stream, as LangChain's users do. */
async function listen(model: Runnable, messages: BaseMessage[], pieces: string[] = []): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | undefined
  for await (const chunk of (await model.stream(messages)) as AsyncIterable<AIMessageChunk>) {
    if (chunk.text !== '') pieces.push(chunk.text)
    whole = whole === undefined ? chunk : whole.concat(chunk)
  }
  return whole ?? new AIMessageChunk('')
}

const ask = async (model: Runnable, messages: BaseMessage[]) => (await model.invoke(messages)) as AIMessage | AIMessageChunk

const question = () => [new HumanMessage(QUESTION)]

const toAnswer = ({ text, usage_metadata: usage }: AIMessage | AIMessageChunk): Answer => ({
  text,
  input: usage?.input_tokens,
  output: usage?.output_tokens,
})

const toThought = ({ text, contentBlocks }: AIMessage | AIMessageChunk): Thought => ({
  thought: contentBlocks.map((block) => (block.type === 'reasoning' ? block.reasoning : '')).join(''),
  text,
})

async function loop(model: BaseChatModel, turn: typeof ask): Promise<Looped> {
  const cities: string[] = []
  const weather = tool(
    ({ city }) => {
      cities.push(city)
      return weatherIn(city)
    },
    { ...WEATHER, schema: z.object({ city: z.string() }) },
  )
  const bound = model.bindTools!([weather])
  const messages: BaseMessage[] = question()
  for (;;) {
    const reply = await turn(bound as Runnable, messages)
    const { tool_calls: calls = [], text } = reply
    if (calls.length === 0) return { text, cities }
    messages.push(reply)
    for (const call of calls) messages.push((await weather.invoke(call)) as ToolMessage)
  }
}

function client({ model: modelOf, thinking, isSilent, ...head }: ChatModel): Client {
  return {
    ...head,
    tasks: {
      async ask(gateway, model) {
        const asked = modelOf(gateway, model)
        const first = await ask(asked, question())
        return toAnswer(await ask(asked, [...question(), first, new HumanMessage(NEXT)]))
      },
      async stream(gateway, model) {
        const asked = modelOf(gateway, model)
        const first = await listen(asked, question())
        const pieces: string[] = []
        return { ...toAnswer(await listen(asked, [...question(), first, new HumanMessage(NEXT)], pieces)), pieces }
      },
      loop: (gateway, model) => loop(thinking(gateway, model), ask),
      streamedLoop: (gateway, model) => loop(thinking(gateway, model), listen),
      parse: (gateway, model) =>
        modelOf(gateway, model)
          .withStructuredOutput(z.object({ city: z.string() }), { method: 'jsonSchema' })
          .invoke(QUESTION),
      ...(!isSilent && {
        think: async (gateway: Gateway, model: string) => toThought(await ask(thinking(gateway, model), question())),
        streamedThink: async (gateway: Gateway, model: string) => toThought(await listen(thinking(gateway, model), question())),
      }),
    },
  }
}

const openai = ({ url, key }: Gateway, model: string, useResponsesApi: boolean) => ({
  model,
  apiKey: key,
  configuration: { baseURL: `${url}/v1` },
  useResponsesApi,
  maxRetries: 0,
})

const byResponses = client({
  name: 'LangChain, ChatOpenAI',
  package: '@langchain/openai',
  protocol: 'responses',
  model: (gateway, id) => new ChatOpenAI(openai(gateway, id, true)),
  // It knows models that reason by OpenAI's names, and leaves its own option `reasoning` out for all others.
  thinking: (gateway, id) =>
    new ChatOpenAI({
      ...openai(gateway, id, true),
      modelKwargs: { reasoning: { effort: 'low', summary: 'auto' }, include: ['reasoning.encrypted_content'], store: false },
    }),
})

const byChat = client({
  name: 'LangChain, ChatOpenAI',
  package: '@langchain/openai',
  protocol: 'chat',
  isSilent: true,
  model: (gateway, id) => new ChatOpenAI(openai(gateway, id, false)),
  thinking: (gateway, id) => new ChatOpenAI({ ...openai(gateway, id, false), modelKwargs: { reasoning_effort: 'low' } }),
})

const anthropic = ({ url, key }: Gateway, model: string) => ({
  model,
  apiKey: key,
  anthropicApiUrl: url,
  maxTokens: 4000,
  maxRetries: 0,
})

const chatAnthropic = client({
  name: 'LangChain, ChatAnthropic',
  package: '@langchain/anthropic',
  protocol: 'messages',
  version: '2023-06-01',
  miscounts: true,
  model: (gateway, id) => new ChatAnthropic(anthropic(gateway, id)),
  thinking: (gateway, id) => new ChatAnthropic({ ...anthropic(gateway, id), thinking: { type: 'enabled', budget_tokens: 2000 } }),
})

/** The chat models of LangChain. */
export const LANGCHAIN: readonly Client[] = [byResponses, byChat, chatAnthropic]

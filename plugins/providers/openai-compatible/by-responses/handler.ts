import {
  type Attempt,
  type Call,
  type Host,
  type Provider,
  readRefusal,
  Type,
  type UpstreamRequest,
} from 'unified-model-gateway/plugin'
import { ApiChoice, type ChatApi } from './models.ts'
import { RESPONSES_PARAMETERS, responsesBody } from './request.ts'
import { stopSequencesOf } from './stop.ts'
import { ResponseTranslator } from './stream.ts'

const Api = Type.Enum(['auto', 'chat', 'responses'] satisfies ChatApi[])

/** The option `api` of a config. */
export const apiOption = Type.Optional(
  Type.Union([Api, Type.Record(Type.String(), Api)], {
    description:
      "By which API the upstream gets chat completions: of all models, or by globs of their names. auto: by OpenAI's Responses API, where the upstream has it, if the model does not take such a call otherwise.",
    examples: ['auto', { 'gpt-5.6*': 'responses' }],
  }),
)

/** A value of the option. */
type ApiOption = ChatApi | Readonly<Record<string, ChatApi>> | undefined

/** Whether the operator says that some chat completions go by the Responses API: then the upstream has it, though it may keep no responses. */
export const namesResponses = (api: ApiOption): boolean =>
  typeof api === 'object' ? Object.values(api).includes('responses') : api === 'responses'

interface ByResponses {
  readonly api: ApiOption
  readonly host: Pick<Host, 'compute'>
  /** Reads the vendor's refusals, if they are not OpenAI's. */
  readonly error: Provider['error']
  /** The request to the upstream's Responses API. */
  post(call: Call, attempt: Attempt, body: UpstreamRequest['body']): UpstreamRequest | Promise<UpstreamRequest>
}

/** Serves chat completions by the Responses API where `api`, the model or what it has refused says so: docs/decisions/chat-by-responses.md. */
export function chatByResponses({ api, host, error, post }: ByResponses): NonNullable<Provider['chatBy']> {
  const choice = new ApiChoice(typeof api === 'string' ? { '*': api } : (api ?? {}))
  const handler: ReturnType<NonNullable<Provider['chatBy']>> = {
    parameters: RESPONSES_PARAMETERS,
    takesCallStates: true,
    toolForms: ['custom'],
    async request(call, attempt) {
      const { model, callStates: states } = attempt
      const reasons = choice.reasons(model, call.member('reasoning_effort'))
      const { bytes, dropped } = await host.compute(call, responsesBody, { model, states, reasons })
      return { ...(await post(call, attempt, bytes)), dropped }
    },
    translator: (call, { model }) => new ResponseTranslator(model, stopSequencesOf(call.member('stop'))),
    error(reply) {
      const refusal = error === undefined ? readRefusal(reply.status, reply.headers, reply.body) : error(reply)
      return { ...refusal, ...(refusal.param !== undefined && { param: chatNameOf(refusal.param) }) }
    },
  }
  return (call, model, refused) => (choice.needsResponses(call, model, refused) ? handler : undefined)
}

/** The names of parameters that chat completions have under another one. */
const CHAT_NAMES: Readonly<Record<string, string>> = {
  input: 'messages',
  max_output_tokens: 'max_completion_tokens',
  'reasoning.effort': 'reasoning_effort',
  'text.format': 'response_format',
  'text.verbosity': 'verbosity',
}

/** The client's name of a parameter that the Responses API has refused. An item of its input is not a message: it names all of them. */
function chatNameOf(param: string): string {
  const [name = ''] = /^(?:(?:text|reasoning)\.)?\w+/.exec(param) ?? []
  return CHAT_NAMES[name] ?? param
}

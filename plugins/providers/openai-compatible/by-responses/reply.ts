import {
  type FinishReason,
  isRecord,
  refusalOf,
  type ToolCall,
  type TranslatedCompletion,
  textOf,
  UpstreamError,
  type Usage,
} from 'unified-model-gateway/plugin'
import { toReasoningItem, toReasoningState } from './reasoning.ts'
import { StopSearch } from './stop.ts'
import type { Members, ReasoningItem } from './wire.ts'

/**
 * A whole response as a chat completion. Throws `UpstreamError` if it failed, and an Error for anything else. `model`: as the upstream was asked. `stop`: the
 * sequences that end its text.
 */
export function toCompletion(body: unknown, model: string, stop: readonly string[] = []): TranslatedCompletion {
  const response = expectResponse(body)
  const answer = new Answer(model, stop)
  for (const item of itemsOf(response)) answer.add(item)
  const finish = finishOf(response, answer.hasCalls)
  if (finish === 'stop' && answer.isEmpty) throw new Error('a response without an answer')
  return {
    ...(typeof response.id === 'string' && { id: response.id }),
    ...(typeof response.created_at === 'number' && { created: Math.floor(response.created_at) }),
    ...(typeof response.service_tier === 'string' && { service_tier: response.service_tier }),
    choices: [answer.choice(finish)],
    usage: toUsage(response.usage),
  }
}

/** Collects the items of a response as one choice. */
class Answer {
  readonly #model: string
  readonly #calls: ToolCall[] = []
  readonly #annotations: object[] = []
  readonly #logprobs: Members[] = []
  readonly #search: StopSearch
  #stoppedBy: string | undefined
  #hasText = false
  #content = ''
  #refusal = ''
  #thoughts = ''
  #reasoning: ReasoningItem[] = []

  constructor(model: string, stop: readonly string[]) {
    this.#model = model
    this.#search = new StopSearch(stop)
  }

  get hasCalls(): boolean {
    return this.#calls.length > 0
  }

  /** Whether nothing was said, not even an empty text. */
  get isEmpty(): boolean {
    return !this.#hasText && !this.hasCalls
  }

  /** What follows a stop sequence would not have been written. */
  add(item: Members): void {
    if (this.#stoppedBy !== undefined) return
    switch (item.type) {
      case 'message':
        for (const part of listOf(item.content)) this.#say(part)
        if (this.#stoppedBy === undefined) this.#content += this.#search.end()
        break
      case 'reasoning':
        this.#thoughts += thoughtsOf(item)
        this.#reasoning.push(...toReasoningItem(item))
        break
      case 'function_call':
      case 'custom_tool_call':
        this.#calls.push(toCall(item, toReasoningState(this.#model, this.#reasoning)))
        this.#reasoning = []
        break
      default:
        // What the vendor's own tools did has no place in a chat completion.
        expectType(item)
    }
  }

  choice(finish: FinishReason): TranslatedCompletion['choices'][number] {
    return {
      message: {
        content: this.#content === '' && (this.hasCalls || this.#refusal !== '') ? null : this.#content,
        refusal: this.#refusal === '' ? null : this.#refusal,
        ...(this.#thoughts !== '' && { reasoning_content: this.#thoughts }),
        ...(this.hasCalls && { tool_calls: this.#calls }),
        ...(this.#annotations.length > 0 && { annotations: this.#annotations }),
      },
      ...(this.#stoppedBy === undefined ? { finish_reason: finish } : stoppedBy(this.#stoppedBy)),
      ...(this.#logprobs.length > 0 && { logprobs: { content: this.#logprobs, refusal: null } }),
    }
  }

  #say(part: Members): void {
    this.#hasText ||= isText(part)
    if (part.type === 'refusal') this.#refusal += expectText(part.refusal, 'a refusal')
    else if (part.type !== 'output_text') expectType(part)
    else {
      if (this.#stoppedBy !== undefined) return
      const before = this.#content.length
      const whole = expectText(part.text, 'a text')
      const said = this.#search.read(whole)
      this.#content += said.text
      this.#stoppedBy = said.stoppedBy
      const isCut = said.stoppedBy !== undefined
      const left = this.#content.length - before
      const annotations = listOf(part.annotations).filter(({ end_index: end }) => !(isCut && Number(end) > left))
      this.#annotations.push(...annotations.flatMap(toAnnotation))
      const logprobs = listOf(part.logprobs).map(toLogprob)
      this.#logprobs.push(...(isCut ? logprobs.slice(0, tokensWithin(logprobs, left)) : logprobs))
    }
  }
}

/** The response in a body or an event. Throws `UpstreamError` if it failed, and an Error for anything else. */
export function expectResponse(value: unknown): Members {
  if (!isRecord(value)) throw new Error('not a response')
  if (value.error != null || value.status === 'failed') throw new UpstreamError(failureOf(value))
  return value
}

/** The items of a response. Throws an Error if it has no list of them. */
export function itemsOf({ output }: Members): readonly Members[] {
  if (!Array.isArray(output)) throw new Error('a response without output')
  return listOf(output)
}

/** Codes of `ResponseError` (openai-node 7.57) that are not errors of a server. */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  ['invalid_prompt', 400],
  ['bio_policy', 400],
  ['misalignment_policy_violation', 400],
  ['server_error', 500],
])

/** Why a response failed: the `error` of a response or of an event. */
export function failureOf(value: Members): ReturnType<typeof refusalOf> {
  const refusal = refusalOf(value)
  return { ...refusal, status: STATUSES.get(refusal.code) ?? refusal.status }
}

/** Why a response ended. What is not known to be whole counts as cut. Throws an Error for one that has not ended. */
export function finishOf({ status, incomplete_details: details }: Members, hasCalls: boolean): FinishReason {
  if (status === 'completed') return hasCalls ? 'tool_calls' : 'stop'
  if (status !== 'incomplete') throw new Error('a response that has not ended')
  return isRecord(details) && details.reason === 'content_filter' ? 'content_filter' : 'length'
}

/** A call, with the state of the reasoning before it. */
function toCall(item: Members, state: object | undefined): ToolCall {
  const head = { id: callIdOf(item), ...state }
  const name = expectText(item.name, 'a name of a tool')
  return item.type === 'custom_tool_call'
    ? { ...head, type: 'custom', custom: { name, input: inputOf(item) } }
    : { ...head, type: 'function', function: { name, arguments: inputOf(item) } }
}

/** What a call gives its tool, as text; '' if it is absent. Throws an Error for anything else. */
export const inputOf = ({ type, arguments: json, input }: Members): string =>
  expectText((type === 'custom_tool_call' ? input : json) ?? '', 'the input of a tool call')

/** The id by which a call and its result belong together; that of the item is another. */
export const callIdOf = ({ call_id: id }: Members): string => expectText(id, 'an id of a tool call')

/** What a reasoning item lets be read: the reasoning itself, or its summary. */
function thoughtsOf({ content, summary }: Members): string {
  const texts = [content, summary].map((parts) => listOf(parts).map(({ text }) => textOf(text)))
  return texts.find((parts) => parts.some(Boolean))?.join('\n\n') ?? ''
}

/** `url_citation` is nested in chat completions. Other annotations refer to what only the vendor keeps. */
export function toAnnotation({ type, ...citation }: Members): readonly object[] {
  return type === 'url_citation' ? [{ type, url_citation: citation }] : []
}

/** The log probability of a token, with the members that chat completions require. */
export const toLogprob = (logprob: Members): Members => ({ bytes: null, top_logprobs: [], ...logprob })

/** How many of the tokens stand within the first `length` characters. */
export function tokensWithin(logprobs: readonly Members[], length: number): number {
  let end = 0
  const beyond = logprobs.findIndex(({ token }) => {
    end += textOf(token).length
    return end > length
  })
  return beyond < 0 ? logprobs.length : beyond
}

/**
 * The end of a choice that a stop sequence has ended. `stop_reason` is vLLM's name for the sequence (`ChatCompletionResponseChoice` of its
 * entrypoints/openai/protocol.py), which chat completions do not tell.
 */
export const stoppedBy = (sequence: string): { readonly finish_reason: 'stop'; readonly stop_reason: string } => ({
  finish_reason: 'stop',
  stop_reason: sequence,
})

/** The usage of a response; undefined if it has none. */
export function toUsage(usage: unknown): Partial<Usage> | undefined {
  if (!isRecord(usage)) return undefined
  const { input_tokens, output_tokens, total_tokens, input_tokens_details: input, output_tokens_details: output } = usage
  return {
    prompt_tokens: input_tokens as number,
    completion_tokens: output_tokens as number,
    total_tokens: total_tokens as number,
    ...(isRecord(input) && { prompt_tokens_details: input }),
    ...(isRecord(output) && { completion_tokens_details: output }),
  }
}

/** The objects of a list; null is an empty one. Throws an Error for anything else. */
export function listOf(value: unknown): readonly Members[] {
  if (value == null) return []
  if (Array.isArray(value) && value.every(isRecord)) return value
  throw new Error('not a list of objects')
}

/** Throws an Error for anything but a text. `what` names it. */
export function expectText(value: unknown, what: string): string {
  if (typeof value === 'string') return value
  throw new Error(`unknown shape: ${what}`)
}

/** Whether a part of a message is a text that is read. */
export const isText = ({ type }: Members): boolean => type === 'output_text' || type === 'refusal'

/** Kinds that are not known are left out; what has no kind is none. */
function expectType({ type }: Members): void {
  expectText(type, 'a type')
}

import {
  expectArguments,
  expectCallId,
  expectName,
  expectObject,
  expectObjects,
  expectText,
  type FinishReason,
  isRecord,
  servedTier,
  type ToolCall,
  type TranslatedCompletion,
  textOf,
  UpstreamError,
  type UrlCitation,
  type Usage,
  urlCitation,
} from 'unified-model-gateway/plugin'
import { failureOf, isBlocked } from './interaction-refusal.ts'
import { toThoughtState } from './interaction-thoughts.ts'
import type { Interaction, InteractionUsage, ReplyStep } from './interaction-wire.ts'
import { toUsage as toGoogleUsage } from './reply.ts'

/** Translates a whole interaction to a completion. Throws `UpstreamError` for one that has failed, `Error` for any other body. */
export function toCompletion(body: unknown): TranslatedCompletion {
  const interaction = readInteraction(body)
  const answer = new Answer()
  for (const step of expectObjects(interaction.steps, 'steps')) answer.add(step)
  return {
    ...(textOf(interaction.id) && { id: textOf(interaction.id) }),
    choices: [answer.choice(interaction)],
    usage: toUsage(interaction.usage),
    ...servedTier(interaction.service_tier),
  }
}

/** The interaction in a body or an event. Throws `UpstreamError` for an error, `Error` for any other value. */
export function readInteraction(value: unknown): Interaction {
  if (!isRecord(value)) throw new Error('The reply is not an interaction.')
  if (value.error != null && !isBlocked(value.error)) throw failureOf(value.error)
  return value
}

/** Collects the steps of an interaction as one choice. */
class Answer {
  readonly #calls: ToolCall[] = []
  readonly #images: object[] = []
  readonly #sources: UrlCitation[] = []
  #content: string | undefined
  #thoughts = ''
  #signatures: string[] = []
  #isBlocked = false

  add(step: ReplyStep): void {
    switch (expectString(step.type, 'a type of a step')) {
      case 'model_output':
        this.#isBlocked ||= expectUnfailed(step)
        for (const part of expectObjects(step.content, 'content')) this.#say(part)
        break
      case 'thought': {
        this.#thoughts += summaryOf(step.summary)
        const signature = expectText(step.signature, 'a signature')
        if (signature !== '') this.#signatures.push(signature)
        break
      }
      case 'function_call': {
        const { name, arguments: args } = step
        const called = { name: expectName(name), arguments: expectArguments(args) }
        this.#calls.push({ id: expectCallId(step.id), type: 'function', function: called, ...toThoughtState(this.#signatures) })
        this.#signatures = []
      }
      // What Google's own tools did, and what the user has said, has no place in a chat completion.
    }
  }

  choice(interaction: Interaction): TranslatedCompletion['choices'][number] {
    const hasCalls = this.#calls.length > 0
    const finish = this.#isBlocked || hasBlock(interaction) ? 'content_filter' : finishOf(interaction, this.#calls.length)
    if (finish === 'stop' && this.#content === undefined && this.#images.length === 0)
      throw new Error('The interaction has no answer.')
    return {
      message: {
        content: !this.#content && hasCalls ? null : (this.#content ?? ''),
        ...(this.#thoughts && { reasoning_content: this.#thoughts }),
        ...(this.#images.length > 0 && { images: this.#images }),
        ...(this.#sources.length > 0 && { annotations: this.#sources }),
        ...(hasCalls && { tool_calls: this.#calls }),
      },
      finish_reason: finish,
    }
  }

  #say(part: Readonly<Record<string, unknown>>): void {
    const type = expectString(part.type, 'a type of content')
    if (type === 'image') this.#images.push(...toImage(part))
    if (type !== 'text') return
    const text = expectString(part.text, 'a text')
    const before = this.#content ?? ''
    this.#sources.push(...toSources(part.annotations, text, before.length).slice(0, MOST_SOURCES - this.#sources.length))
    this.#content = before + text
  }
}

/** Whether Google's filters have blocked a step. Throws `UpstreamError` if it has failed. */
export function expectUnfailed({ error }: ReplyStep): boolean {
  if (error != null && !isBlocked(error)) throw failureOf(error)
  return error != null
}

/** Whether an error of an interaction says that Google's filters have blocked it. */
export function hasBlock({ errors, ...interaction }: Interaction & { readonly error?: unknown }): boolean {
  return isBlocked(interaction.error) || expectObjects(errors, 'errors').some(isBlocked)
}

/** What may be told of a thought. */
export const summaryOf = (summary: unknown): string => expectObjects(summary, 'a summary').map(summaryText).join('')

/** The text of a part of a summary; a picture has none. */
export const summaryText = ({ type, text }: Readonly<Record<string, unknown>>): string =>
  type === 'image' ? '' : expectString(text, 'a text')

/** A picture of an answer; none for an address, which only the gateway's key can read. */
export function toImage({ mime_type: type, data }: Readonly<Record<string, unknown>>): readonly object[] {
  if (typeof type !== 'string' || typeof data !== 'string' || !type.startsWith('image/')) return []
  return [{ type: 'image_url', image_url: { url: `data:${type};base64,${data}` } }]
}

/** The statuses at which an interaction is still under way. */
const UNDER_WAY: ReadonlySet<unknown> = new Set(['in_progress', 'queued'])

/** Whether an interaction has ended, by its status. */
export const hasEnded = (status: unknown): boolean => typeof status === 'string' && !UNDER_WAY.has(status)

/**
 * The status of an interaction as OpenAI's `finish_reason`. What is not known to be whole counts as cut, and so does one that asks to be continued: a call is one
 * request. `calls`: the number of its function calls. Throws `UpstreamError` if it has failed, `Error` if it has not ended.
 */
export function finishOf({ status, errors }: Interaction, calls: number): FinishReason {
  if (!hasEnded(status)) throw new Error('The interaction has not ended.')
  if (status === 'failed') throw failureOf(expectObjects(errors, 'errors')[0])
  if (status === 'cancelled') throw new UpstreamError({ status: 503, message: 'Gemini has cancelled the interaction.' })
  if (status === 'requires_action' && calls === 0) throw new Error('The interaction requires an action, and has no call.')
  if (status === 'completed' || status === 'requires_action') return calls > 0 ? 'tool_calls' : 'stop'
  return 'length'
}

/** The most sources of an answer: the place of each is counted in its text. */
export const MOST_SOURCES = 200

/** The sources of a text. Google counts its bytes, OpenAI the characters of the whole answer. `before`: the characters before the text. */
export function toSources(annotations: unknown, text: string, before: number): readonly UrlCitation[] {
  const all = expectObjects(annotations, 'annotations').filter(({ type }) => type === 'url_citation')
  if (all.length === 0) return []
  const bytes = Buffer.from(text)
  const place = (index: unknown): number =>
    before + (typeof index === 'number' && index >= 0 ? bytes.subarray(0, index).toString().length : 0)
  return all
    .slice(0, MOST_SOURCES)
    .flatMap(({ start_index: start, end_index: end, url, title }) => urlCitation(place(start), place(end), url, title))
}

/** The usage of a reply, or of an event, that could not be translated. */
export function usageOf(reply: unknown): Partial<Usage> | undefined {
  const { usage, interaction } = isRecord(reply) ? reply : {}
  return toUsage(usage ?? (isRecord(interaction) ? interaction.usage : undefined))
}

/** The usage as generateContent would say it. Undefined if no counts were reported. */
export function toUsage(usage: unknown): Partial<Usage> | undefined {
  if (!isRecord(usage)) return undefined
  const counted: InteractionUsage = usage
  return toGoogleUsage({
    promptTokenCount: counted.total_input_tokens,
    candidatesTokenCount: counted.total_output_tokens,
    thoughtsTokenCount: counted.total_thought_tokens,
    cachedContentTokenCount: counted.total_cached_tokens,
    toolUsePromptTokenCount: counted.total_tool_use_tokens,
    promptTokensDetails: detailsOf(counted.input_tokens_by_modality),
    cacheTokensDetails: detailsOf(counted.cached_tokens_by_modality),
    candidatesTokensDetails: detailsOf(counted.output_tokens_by_modality),
  })
}

const detailsOf = (counts: unknown): readonly object[] =>
  (Array.isArray(counts) ? counts.filter(isRecord) : []).map(({ modality, tokens }) => ({
    modality: textOf(modality).toUpperCase(),
    tokenCount: tokens,
  }))

/** A text that must be there. Throws an Error for anything else. */
export function expectString(value: unknown, what: string): string {
  if (typeof value === 'string') return value
  throw new Error(`unknown shape: ${what}`)
}

/** An object of an event. Throws an Error for anything else. */
export const expectMember = (value: unknown, what: string): Readonly<Record<string, unknown>> => {
  const member = expectObject(value, what)
  if (member === undefined) throw new Error(`unknown shape: ${what}`)
  return member
}

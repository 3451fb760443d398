import {
  type Call,
  chunk,
  expectArguments,
  expectCallId,
  expectName,
  expectObjects,
  expectText,
  KeptText,
  servedTier,
  type TranslatedChunk,
  type TranslatedCompletion,
  type Translator,
  type UpstreamEvent,
} from 'unified-model-gateway/plugin'
import { failureOf, isBlocked } from './interaction-refusal.ts'
import {
  expectMember,
  expectString,
  expectUnfailed,
  finishOf,
  hasBlock,
  hasEnded,
  readInteraction,
  summaryOf,
  summaryText,
  toCompletion,
  toImage,
  toSources,
  toUsage,
  usageOf,
} from './interaction-reply.ts'
import { toThoughtState } from './interaction-thoughts.ts'
import type { Interaction, InteractionEvent } from './interaction-wire.ts'

/** A step that has begun. */
interface OpenStep {
  readonly type: string
  /** Of a call: its number, and its arguments if no piece of them has come yet. */
  readonly call: number
  json: string | undefined
  /** Of an output: where its text begins in the answer, and the text, if it may have sources. */
  readonly from: number
  said: string
}

/** The most steps at a time that have begun and not ended: Google streams one after the other. */
const MOST_OPEN = 1000

/**
 * Translates a reply of the Interactions API. Its stream ends with `interaction.completed`, whatever its status; where that is missing, with a status that says
 * that the interaction has ended.
 */
export class InteractionTranslator implements Translator {
  readonly #searches: boolean
  readonly #kept = new KeptText()
  readonly #steps = new Map<unknown, OpenStep>()
  #signatures: string[] = []
  /** The step whose signature is the last one: a later one of the same step replaces it. */
  #signedBy: OpenStep | undefined
  #calls = 0
  #length = 0
  #hasAnswer = false
  #isBlocked = false
  #last: Interaction | undefined
  #over = false

  constructor({ keys }: Pick<Call, 'keys'>) {
    this.#searches = keys.includes('web_search_options')
  }

  completion(body: unknown): TranslatedCompletion {
    return toCompletion(body)
  }

  usage(body: unknown): unknown {
    return usageOf(body)
  }

  /** Throws `UpstreamError` for an error and if the interaction has failed, `Error` for an invalid event. */
  *event({ data }: UpstreamEvent): Generator<TranslatedChunk> {
    if (this.#over || data === '[DONE]') return
    const event: InteractionEvent = readInteraction(JSON.parse(data))
    switch (expectString(event.event_type, 'a type of an event')) {
      case 'interaction.created': {
        const { id } = expectMember(event.interaction, 'an interaction')
        if (typeof id === 'string' && id !== '') yield { id, choices: [] }
        break
      }
      case 'interaction.status_update':
        if (hasEnded(event.status)) this.#last = { status: event.status }
        yield* this.#count(event)
        break
      case 'step.start':
        yield* this.#start(event.index, expectMember(event.step, 'a step'))
        break
      case 'step.delta':
        yield* this.#continue(event.index, expectMember(event.delta, 'a delta'))
        break
      case 'step.stop':
        yield* this.#stop(event.index)
        yield* this.#count(event)
        break
      case 'interaction.completed': {
        const interaction = readInteraction(event.interaction)
        yield* this.#count(interaction)
        yield* this.#finish(interaction)
        break
      }
      case 'error':
        if (!isBlocked(event.error)) throw failureOf(event.error)
        yield* this.#finish({ status: 'incomplete', errors: [event.error] })
    }
  }

  *end(): Generator<TranslatedChunk> {
    if (!this.#over && this.#last !== undefined) yield* this.#finish(this.#last)
  }

  *#start(index: unknown, step: Readonly<Record<string, unknown>>): Generator<TranslatedChunk> {
    const type = expectString(step.type, 'a type of a step')
    if (this.#steps.get(index)?.type === type) throw new Error('a step that begins twice')
    yield* this.#stop(index)
    const open: OpenStep = { type, call: this.#calls, json: undefined, from: this.#length, said: '' }
    this.#steps.set(index, open)
    if (this.#steps.size > MOST_OPEN) throw new Error(`more than ${MOST_OPEN} steps that have not ended`)
    if (type === 'model_output') {
      this.#isBlocked ||= expectUnfailed(step)
      for (const part of expectObjects(step.content, 'content')) yield* this.#say(open, part)
    } else if (type === 'thought') {
      yield* chunk.fromText(chunk.reasoning, summaryOf(step.summary))
      this.#sign(open, step.signature)
    } else if (type === 'function_call') {
      open.json = this.#kept.add(expectArguments(step.arguments))
      const head = { index: this.#calls++, id: expectCallId(step.id), name: expectName(step.name) }
      yield chunk.toolCall({ ...head, ...toThoughtState(this.#signatures) })
      this.#signatures = []
      this.#signedBy = undefined
    }
  }

  *#continue(index: unknown, delta: Readonly<Record<string, unknown>>): Generator<TranslatedChunk> {
    const step = this.#steps.get(index)
    if (step === undefined) throw new Error('a delta of a step that has not begun')
    switch (expectString(delta.type, 'a type of a delta')) {
      case 'text':
      case 'image':
      case 'text_annotation_delta':
        if (step.type === 'model_output') yield* this.#say(step, delta)
        break
      case 'thought_summary':
        yield* chunk.fromText(chunk.reasoning, summaryText(expectMember(delta.content, 'content')))
        break
      case 'thought_signature':
        if (step.type === 'thought') this.#sign(step, delta.signature)
        break
      case 'arguments_delta': {
        const text = expectString(delta.arguments, 'arguments')
        if (step.type !== 'function_call' || text === '') break
        step.json = undefined
        yield chunk.toolArguments(step.call, text)
      }
    }
  }

  *#stop(index: unknown): Generator<TranslatedChunk> {
    const step = this.#steps.get(index)
    this.#steps.delete(index)
    if (step?.json !== undefined) yield chunk.toolArguments(step.call, step.json)
  }

  *#say(step: OpenStep, part: Readonly<Record<string, unknown>>): Generator<TranslatedChunk> {
    const { type, annotations } = part
    if (type === 'image') {
      const images = toImage(part)
      this.#hasAnswer ||= images.length > 0
      if (images.length > 0) yield { choices: [{ index: 0, delta: { images } }] }
    } else if (type === 'text') {
      const text = expectString(part.text, 'a text')
      this.#hasAnswer = true
      this.#length += text.length
      if (this.#searches) step.said += this.#kept.add(text)
      if (text !== '') yield chunk.content(text)
    }
    const sources = this.#searches ? toSources(annotations, step.said, step.from) : []
    if (sources.length > 0) yield chunk.annotations(sources)
  }

  #sign(step: OpenStep, value: unknown): void {
    const signature = this.#kept.add(expectText(value, 'a signature'))
    if (signature === '') return
    if (this.#signedBy === step) this.#signatures.pop()
    this.#signedBy = step
    this.#signatures.push(signature)
  }

  *#count({ usage, ...rest }: InteractionEvent | Interaction): Generator<TranslatedChunk> {
    const counted = toUsage(usage)
    const tier = 'service_tier' in rest ? servedTier(rest.service_tier) : {}
    if (counted !== undefined) yield { ...chunk.usage(counted), ...tier }
  }

  *#finish(interaction: Interaction): Generator<TranslatedChunk> {
    for (const index of [...this.#steps.keys()]) yield* this.#stop(index)
    this.#over = true
    const finish = this.#isBlocked || hasBlock(interaction) ? 'content_filter' : finishOf(interaction, this.#calls)
    if (finish === 'stop' && !this.#hasAnswer) throw new Error('The interaction has no answer.')
    yield chunk.finish(finish)
  }
}

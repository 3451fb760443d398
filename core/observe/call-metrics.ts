import type { PluginPhase } from '../plugins/faults.ts'
import { type Tokens, tokensOf } from '../protocol/usage.ts'
import type { HostCounter, HostHistogram, ModelId, Outcome, Served } from '../sdk/api.ts'
import { NANO_USD } from '../text/money.ts'
import { type Gauge, OTHER } from './instruments.ts'
import { METRICS } from './metric-definitions.ts'
import type { Metrics } from './metrics.ts'

/** The operation of each endpoint, by OpenTelemetry's conventions where they have one. The other endpoints ask no model. */
export const OPERATIONS: { readonly [Endpoint in Outcome['endpoint']]?: string } = {
  'chat.completions': 'chat',
  messages: 'chat',
  responses: 'chat',
  completions: 'text_completion',
  embeddings: 'embeddings',
  moderations: 'moderation',
  'images.generations': 'image_generation',
  'images.edits': 'image_edit',
  'audio.speech': 'speech',
  'audio.transcriptions': 'transcription',
  'audio.translations': 'translation',
  rerank: 'rerank',
}

const TOKEN_TYPES = ['input', 'output', 'cached_input', 'reasoning'] as const

/** This provider accepts every model name: a client with a test key could make labels of any text. */
const ACCEPTS_ANYTHING = 'sandbox'

/** The metrics of calls: requests, attempts, tokens and streams. */
export class CallMetrics {
  readonly #models = new ModelLabels()
  readonly #requests: HostCounter
  readonly #inFlight: Gauge
  readonly #requestDuration: HostHistogram
  readonly #timeToFirstToken: HostHistogram
  readonly #timePerOutputToken: HostHistogram
  readonly #operationDuration: HostHistogram
  readonly #tokenUsage: HostHistogram
  readonly #inputTokens: HostCounter
  readonly #cost: HostCounter
  readonly #unpricedCalls: HostCounter
  readonly #attempts: HostCounter
  readonly #credentialAttempts: HostCounter
  readonly #fallbacks: HostCounter
  readonly #overhead: HostHistogram
  readonly #streamAborts: HostCounter
  readonly #shed: HostCounter

  /** `shed`: counts attempts for which the process has no descriptor left. */
  constructor(metrics: Metrics, shed: HostCounter) {
    this.#requests = metrics.declare(METRICS.requests)
    this.#inFlight = metrics.declare(METRICS.inFlight)
    this.#requestDuration = metrics.declare(METRICS.requestDuration)
    this.#timeToFirstToken = metrics.declare(METRICS.timeToFirstToken)
    this.#timePerOutputToken = metrics.declare(METRICS.timePerOutputToken)
    this.#operationDuration = metrics.declare(METRICS.operationDuration)
    this.#tokenUsage = metrics.declare(METRICS.tokenUsage)
    this.#inputTokens = metrics.declare(METRICS.inputTokens)
    this.#cost = metrics.declare(METRICS.cost)
    this.#unpricedCalls = metrics.declare(METRICS.unpricedCalls)
    this.#attempts = metrics.declare(METRICS.attempts)
    this.#credentialAttempts = metrics.declare(METRICS.credentialAttempts)
    this.#fallbacks = metrics.declare(METRICS.fallbacks)
    this.#overhead = metrics.declare(METRICS.overhead)
    this.#streamAborts = metrics.declare(METRICS.streamAborts)
    this.#shed = shed
    for (const side of ['client', 'upstream']) this.#streamAborts.add(0, side)
    this.#shed.add(0, 'descriptors')
  }

  /**
   * Declares the labels of a routing table: the model names of each namespace, without globs. Their counters are 0 from now on, so
   * that `rate()` sees the first call.
   */
  declare(namespaces: ReadonlyMap<string, readonly string[]>): void {
    this.#models.declare(namespaces)
    for (const { namespace, model } of this.#models.known()) {
      this.#inFlight.add(0, namespace)
      this.#requests.add(0, namespace, model, '200', 'ok')
      this.#cost.add(0, namespace, model)
    }
  }

  /** Counts a call as in flight until the returned function is called. */
  started(namespace: string): () => void {
    const label = this.#models.namespace(namespace)
    this.#inFlight.add(1, label)
    return () => this.#inFlight.add(-1, label)
  }

  /** Counts a call after its last byte. */
  settled(outcome: Outcome): void {
    this.#learnModels(outcome)
    const label = this.#models.of(outcome.model)
    this.#requests.add(1, label.namespace, label.model, String(outcome.status), outcome.kind)
    const operation = OPERATIONS[outcome.endpoint]
    if (operation === undefined) return
    this.#requestDuration.observe(seconds(outcome.times.total), operation, label.id, errorType(outcome))
    this.#countAttempts(outcome)
    if (outcome.attempts.length > 1) this.#countFallbacks(outcome, label)
    const tokens = outcome.usage && tokensOf(outcome.usage)
    if (tokens && outcome.served) this.#countTokens(tokens, outcome.served, label)
    if (tokens) this.#countCost(outcome)
    if (outcome.stream) this.#countStreamEnd(outcome)
    if (outcome.stream && outcome.kind === 'ok') this.#timeStream(outcome, operation, tokens)
  }

  #learnModels({ kind, model, served }: Outcome): void {
    if (kind !== 'ok' || served === undefined || served.provider === ACCEPTS_ANYTHING) return
    if (model !== undefined) this.#models.accept(model)
    this.#models.accept(served)
  }

  #countAttempts({ attempts, stream, times }: Outcome): void {
    if (attempts.length > 0) this.#overhead.observe(seconds(times.overhead), String(stream))
    for (const attempt of attempts) {
      const { namespace, provider, credential, result } = attempt
      this.#attempts.add(1, namespace, provider, result)
      if (credential !== undefined) this.#credentialAttempts.add(1, namespace, credential, result)
      if (attempt.result === 'gateway_overloaded') this.#shed.add(1, 'descriptors')
      const error = attempt.result === 'ok' ? '' : attempt.result
      this.#operationDuration.observe(seconds(attempt.ms), attempt.provider, this.#models.of(attempt).id, error)
    }
  }

  #countFallbacks({ attempts }: Outcome, { namespace, model }: ModelLabel): void {
    const names = attempts.map((attempt) => this.#models.of(attempt).id)
    attempts.slice(0, -1).forEach(({ result }, index) => {
      const [from, to] = [names[index]!, names[index + 1]!]
      if (from !== to) this.#fallbacks.add(1, namespace, model, from, to, result)
    })
  }

  #countTokens(tokens: Tokens, served: Served, label: ModelLabel): void {
    for (const type of TOKEN_TYPES) {
      const amount = tokens[type]
      if (amount !== undefined) this.#tokenUsage.observe(amount, served.provider, label.id, type)
    }
    this.#countCached(tokens, served)
  }

  /** How much of the input each target and credential has in its cache: what is not kept in one place is not there. */
  #countCached({ input = 0, cached_input: cached = 0 }: Tokens, served: Served): void {
    const { namespace, model } = this.#models.of(served)
    const { credential = '' } = served
    if (cached > 0) this.#inputTokens.add(cached, namespace, model, credential, 'read')
    if (input > cached) this.#inputTokens.add(input - cached, namespace, model, credential, 'none')
  }

  /** A call whose client left before a model served it was charged for its last attempt. */
  #countCost({ cost, served, attempts }: Outcome): void {
    const { namespace, model } = this.#models.of(served ?? attempts.at(-1))
    if (cost === undefined) this.#unpricedCalls.add(1, namespace, model)
    else this.#cost.add(cost.nanoUsd / NANO_USD, namespace, model)
  }

  #countStreamEnd({ kind, status }: Outcome): void {
    if (kind === 'client_closed') this.#streamAborts.add(1, 'client')
    // Status 200 on a failed call means that the head was sent before the failure: the stream broke off, whatever the error.
    else if (status === 200 && kind !== 'ok' && kind !== 'gateway_error') this.#streamAborts.add(1, 'upstream')
  }

  #timeStream({ model, times, usageEstimated }: Outcome, operation: string, tokens: Tokens | undefined): void {
    if (times.firstByte === undefined) return
    const { id } = this.#models.of(model)
    this.#timeToFirstToken.observe(seconds(times.firstByte), operation, id)
    const later = (tokens?.output ?? 0) - 1
    if (later > 0 && !usageEstimated) this.#timePerOutputToken.observe(seconds(times.total - times.firstByte) / later, id)
  }
}

/** The metrics of plugins: their own time and their failures. */
export class PluginMetrics {
  readonly #duration: HostHistogram
  readonly #errors: HostCounter

  constructor(metrics: Metrics) {
    this.#duration = metrics.declare(METRICS.pluginDuration)
    this.#errors = metrics.declare(METRICS.pluginErrors)
  }

  /** A plugin has run, and taken so many milliseconds of its own, whether it failed or not. */
  ran(plugin: string, phase: PluginPhase, ms: number): void {
    this.#duration.observe(seconds(ms), plugin, phase)
  }

  /** A plugin has thrown or timed out. */
  failed(plugin: string, phase: PluginPhase): void {
    this.#errors.add(1, plugin, phase)
  }
}

/** `error_type`: empty, which Prometheus treats as absent, for a successful call. */
function errorType({ kind, error }: Outcome): string {
  return kind === 'ok' ? '' : (error?.row ?? kind)
}

function seconds(ms: number): number {
  return ms / 1000
}

/** The labels of a model. */
interface ModelLabel {
  readonly namespace: string
  readonly model: string
  /** `<namespace>/<model>` */
  readonly id: string
}

interface NamespaceLabels {
  readonly models: Map<string, ModelLabel>
  readonly other: ModelLabel
  accepted: number
}

/** The labels of a call without a namespace: refused before it was known, or for a namespace that the routing table lacks. */
const NONE: ModelLabel = { namespace: 'none', model: 'none', id: 'none' }

const MAX_ACCEPTED = 100
const MAX_ACCEPTED_LENGTH = 128

/**
 * Maps models to labels. A name that only a client wrote never becomes a label: a model has a label of its own if the routing table
 * names it, or once an upstream has accepted it, for the first 100 such names of a namespace; all others are `other`.
 *
 * A reload removes no label, because calls of the previous table may still be in flight.
 */
export class ModelLabels {
  readonly #namespaces = new Map<string, NamespaceLabels>()

  /** Adds the model names of each namespace of a routing table, without globs. */
  declare(namespaces: ReadonlyMap<string, readonly string[]>): void {
    for (const [namespace, names] of namespaces) {
      const labels = this.#namespaces.get(namespace) ?? { models: new Map(), other: labelOf(namespace, OTHER), accepted: 0 }
      this.#namespaces.set(namespace, labels)
      for (const name of names) if (!name.includes('*')) labels.models.set(name, labelOf(namespace, name))
    }
  }

  /** Adds a model for which an upstream has answered. */
  accept({ namespace, model }: Pick<ModelId, 'namespace' | 'model'>): void {
    const labels = this.#namespaces.get(namespace)
    if (labels === undefined || labels.models.has(model)) return
    if (labels.accepted >= MAX_ACCEPTED || model.length > MAX_ACCEPTED_LENGTH) return
    labels.accepted++
    labels.models.set(model, labelOf(namespace, model))
  }

  of(model: Pick<ModelId, 'namespace' | 'model'> | undefined): ModelLabel {
    const labels = model && this.#namespaces.get(model.namespace)
    return labels ? (labels.models.get(model.model) ?? labels.other) : NONE
  }

  namespace(name: string): string {
    return this.#namespaces.has(name) ? name : NONE.namespace
  }

  /** The labels to declare at the start: the declared names of each namespace, or `other` if it has none. */
  *known(): Iterable<ModelLabel> {
    for (const { models, other } of this.#namespaces.values()) yield* models.size > 0 ? models.values() : [other]
  }
}

function labelOf(namespace: string, model: string): ModelLabel {
  return { namespace, model, id: `${namespace}/${model}` }
}

import { type Tokens, tokensOf } from '../protocol/usage.ts'
import type { HostCounter, HostHistogram, ModelId, Outcome, Served } from '../sdk/api.ts'
import { type Gauge, OTHER } from './instruments.ts'
import { METRICS } from './metric-definitions.ts'
import type { Metrics } from './metrics.ts'

/** `gen_ai_operation_name`, as the conventions call it. Endpoints that are not here generate nothing. */
const OPERATIONS: { readonly [Endpoint in Outcome['endpoint']]?: string } = {
  'chat.completions': 'chat',
  responses: 'chat',
  embeddings: 'embeddings',
}

const TOKEN_TYPES = ['input', 'output', 'cached_input', 'reasoning'] as const

/** A test key could make labels of any names it likes at a provider that takes them all. */
const ACCEPTS_ANYTHING = 'sandbox'

/** The metrics of calls: what `CATALOGUE` says of requests, attempts, tokens and streams. */
export class CallMetrics {
  readonly #models = new ModelLabels()
  readonly #requests: HostCounter
  readonly #inFlight: Gauge
  readonly #requestDuration: HostHistogram
  readonly #timeToFirstToken: HostHistogram
  readonly #timePerOutputToken: HostHistogram
  readonly #operationDuration: HostHistogram
  readonly #tokenUsage: HostHistogram
  readonly #attempts: HostCounter
  readonly #fallbacks: HostCounter
  readonly #overhead: HostHistogram
  readonly #streamAborts: HostCounter

  constructor(metrics: Metrics) {
    this.#requests = metrics.declare(METRICS.requests)
    this.#inFlight = metrics.declare(METRICS.inFlight)
    this.#requestDuration = metrics.declare(METRICS.requestDuration)
    this.#timeToFirstToken = metrics.declare(METRICS.timeToFirstToken)
    this.#timePerOutputToken = metrics.declare(METRICS.timePerOutputToken)
    this.#operationDuration = metrics.declare(METRICS.operationDuration)
    this.#tokenUsage = metrics.declare(METRICS.tokenUsage)
    this.#attempts = metrics.declare(METRICS.attempts)
    this.#fallbacks = metrics.declare(METRICS.fallbacks)
    this.#overhead = metrics.declare(METRICS.overhead)
    this.#streamAborts = metrics.declare(METRICS.streamAborts)
    for (const side of ['client', 'upstream']) this.#streamAborts.add(0, side)
  }

  /**
   * Takes in a routing table: per namespace the model names it writes (globs are passed over). Their counters stand at 0 from
   * now on, so that rates see the first call.
   */
  declare(namespaces: ReadonlyMap<string, readonly string[]>): void {
    this.#models.declare(namespaces)
    for (const { namespace, model } of this.#models.known()) {
      this.#inFlight.add(0, namespace)
      this.#requests.add(0, namespace, model, '200', 'ok')
    }
  }

  /** A call to a namespace is under way, until the function that this returns is called. */
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
      this.#attempts.add(1, attempt.namespace, attempt.provider, attempt.result)
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
  }

  #countStreamEnd({ kind, status }: Outcome): void {
    if (kind === 'client_closed') this.#streamAborts.add(1, 'client')
    // The head had been sent, or the status would tell of the failure: whatever the upstream then called it, it broke off.
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

/** `error_type`: empty, which Prometheus takes as absent, where nothing went wrong. */
function errorType({ kind, error }: Outcome): string {
  return kind === 'ok' ? '' : (error?.row ?? kind)
}

function seconds(ms: number): number {
  return ms / 1000
}

/** What the metrics call a model. */
export interface ModelLabel {
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

/** The namespace and model of a call that has none: refused before they were known, or naming a namespace that is not in the table. */
const NONE: ModelLabel = { namespace: 'none', model: 'none', id: 'none' }

const MOST_ACCEPTED = 100
const LONGEST_ACCEPTED = 128

/**
 * Which label a model gets. What clients write must not become a label by itself: a name counts where the routing table has
 * it, or once an upstream has accepted it, for the first 100 such names of a namespace; all others are `other`.
 *
 * Nothing is forgotten at a reload, because calls of the table before may still be under way.
 */
export class ModelLabels {
  readonly #namespaces = new Map<string, NamespaceLabels>()

  /** Takes in a routing table: the model names each namespace writes. Globs among them name no model and are passed over. */
  declare(namespaces: ReadonlyMap<string, readonly string[]>): void {
    for (const [namespace, names] of namespaces) {
      const labels = this.#namespaces.get(namespace) ?? { models: new Map(), other: labelOf(namespace, OTHER), accepted: 0 }
      this.#namespaces.set(namespace, labels)
      for (const name of names) if (!name.includes('*')) labels.models.set(name, labelOf(namespace, name))
    }
  }

  /** An upstream has answered for this model. */
  accept({ namespace, model }: Pick<ModelId, 'namespace' | 'model'>): void {
    const labels = this.#namespaces.get(namespace)
    if (labels === undefined || labels.models.has(model)) return
    if (labels.accepted >= MOST_ACCEPTED || model.length > LONGEST_ACCEPTED) return
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

  /** The labels that calls to the namespace may expect from the start: its declared names, or `other` where it has none. */
  *known(): Iterable<ModelLabel> {
    for (const { models, other } of this.#namespaces.values()) yield* models.size > 0 ? models.values() : [other]
  }
}

function labelOf(namespace: string, model: string): ModelLabel {
  return { namespace, model, id: `${namespace}/${model}` }
}

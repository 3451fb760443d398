import type { ErrorName } from '../error-table.ts'
import { GatewayError } from '../errors.ts'
import { type LimitReached, limitError } from '../limits/namespace-limits.ts'
import type { Translation } from '../protocol/translation.ts'
import type { Affinity } from '../routing/affinity.ts'
import type { Credential } from '../routing/credentials.ts'
import { type Handler, parameterSupport, tableFor } from '../routing/handler.ts'
import { circuitOpen, coolingDown } from '../routing/protection.ts'
import { type Candidate, hasChoice, type Route, type Target } from '../routing/route.ts'
import { coolestFirst, inOrder, stickyOf } from '../routing/selection.ts'
import type { UpstreamState } from '../routing/upstream-state.ts'
import type { Call, RouteTrace } from '../sdk/api.ts'
import { rateLimitError } from '../upstream/failures.ts'
import { CallAffinity, type Caller } from './call-affinity.ts'
import { backOff, policyFor } from './retry.ts'
import { type CallTerms, droppedBy, keepingCredential, type Serving, type ServingContext, servingOf } from './serving.ts'

/** The next attempt of a call. */
export interface PlannedAttempt {
  readonly candidate: Candidate
  /** How its provider serves the call's endpoint. */
  readonly handler: Handler
  /** The call, with the route's default parameters. */
  readonly call: Call
  /** How the call was translated, if the attempt is a chat completion in place of it. */
  readonly translation: Translation | undefined
  /** Parameters that the provider leaves out. */
  readonly dropped: readonly string[]
  /** Give the client its own tools in a reply. Absent: the upstream has them as the client has. */
  readonly ownTools?: Serving['ownTools']
  /** The cap that a budget has added to the call. */
  readonly cap?: number | undefined
  /** Milliseconds to wait before. */
  readonly pauseMs: number
  /** An upstream may have refused the states of tool calls: this one gets none. */
  readonly withoutStates: boolean
  /** Of several of its namespace. */
  readonly credential: Credential | undefined
  /** Whether the credential is used because it was its turn. */
  readonly isTurn: boolean
  /** The upstream refused the previous attempt's credential, and the provider can replace it. */
  readonly credentialRefused: boolean
  /** In place of the previous attempt, which its credential failed: it counts as the same one. */
  readonly isRepeat: boolean
  /** Whether another attempt may follow: then a stream is held until its first meaningful event. */
  readonly hold: boolean
  /** Set: the call waits for the limits of the target's namespace, since no other target is left. */
  readonly limited: LimitReached | undefined
  /** What it is for the retry budget of its upstream: the call's first attempt there, a further one, or one that is counted already. */
  readonly counts: 'first' | 'retry' | 'not'
}

/** A target that was not attempted. */
export interface SkippedTarget {
  readonly target: Target
  readonly why: RouteTrace['skipped'][number]['why']
}

/** What selection may depend on in addition to the call. */
export interface SelectionContext extends Caller {
  /** Whether the caller may call a model, by its id. */
  readonly mayCall: (id: string) => boolean
  /** From 0 up to 1. */
  readonly random: () => number
  /** Absent: the call asks for no hosted tools, and is charged to no budget. */
  readonly terms?: CallTerms
}

/** A candidate that cannot serve such a call, or the only one that could if it were not cooling down, and the reason. */
interface Unfit {
  readonly candidate: Candidate
  readonly error: GatewayError
  /** How it would serve the call, where that is known. */
  readonly serving?: Serving | undefined
}

/**
 * What is planned for a call, and what has come of it so far. It is never changed: `choose` and `after` return the next one, without I/O.
 * Times are monotonic milliseconds.
 */
export interface Plan {
  readonly route: Route
  readonly call: Call
  readonly context: ServingContext
  /** What the call has in common with others; absent if its route leaves no choice. */
  readonly affinity: CallAffinity | undefined
  readonly random: () => number
  /** In the order of the route's choice. */
  readonly ordered: readonly Candidate[]
  /** The same, those that are cooling down last. */
  readonly candidates: readonly Candidate[]
  /** How many of them are not cooling down. */
  readonly ready: number
  /** How many of them had their turn. */
  readonly turns: number
  readonly attempts: number
  readonly pauses: number
  /** No further attempt may follow. */
  readonly isOver: boolean
  /** The one that was cooling down, was tried all the same, and refused again: others would probably refuse the call too. */
  readonly inVain: Candidate | undefined
  /** An upstream may have refused the states of tool calls. */
  readonly statesRefused: boolean
  /** An upstream may have served the call, although its attempt failed. */
  readonly isAmbiguous: boolean
  /** The attempt planned last. */
  readonly last: PlannedAttempt | undefined
  /** The same target again, with another credential or in another way. */
  readonly repeat: PlannedAttempt | undefined
  /** Candidates to retry after all have been tried, and the pause that their upstream asked for. */
  readonly again: readonly { readonly candidate: Candidate; readonly cooldownMs: number }[]
  /** The upstreams of the attempts. */
  readonly asked: readonly UpstreamState[]
  /** The credentials of the attempts, where there are several. */
  readonly tried: readonly Credential[]
  /** The last attempt's. */
  readonly error: GatewayError | undefined
  /** The shortest time that upstreams asked to wait, in seconds. */
  readonly retryAfter: number
  /** The first of them. */
  readonly unfit: Unfit | undefined
  /** Planned attempts that the limits of their namespaces had no room for. */
  readonly limited: readonly LimitedAttempt[]
  readonly skipped: readonly SkippedTarget[]
  /** When the first of the open breakers permits a probe. */
  readonly readyAt: number
}

type LimitedAttempt = PlannedAttempt & { readonly limited: LimitReached }

type Failure = Extract<Setback, { kind: 'failed' }>

/** What has come of a planned attempt that did not serve the call. */
export type Setback =
  /**
   * It failed. `statesRefused`: the upstream may have refused states of tool calls, which the gateway or the client had kept. `mayDiffer`: its provider has learned from the
   * refusal, and may make the same attempt in another way.
   */
  | { readonly kind: 'failed'; readonly error: GatewayError; readonly statesRefused?: boolean; readonly mayDiffer?: boolean }
  /** The limits of its namespace have no room for it. */
  | { readonly kind: 'limited'; readonly reached: LimitReached }
  /** Its breaker opened while the call waited. */
  | { readonly kind: 'open' }
  /** The call may go no further: its client left, its time is over, or a link failed it. */
  | { readonly kind: 'ended'; readonly error: GatewayError }

/** The plan of a call without attempts. `standIn`: serves the calls of an endpoint that a provider lacks, or its upstream. */
export function begin(route: Route, call: Call, selection: SelectionContext, now: number, standIn?: Handler): Plan {
  const { account, mayCall, random, terms = NO_TERMS } = selection
  const { leads } = route
  const affinity = hasChoice(leads) ? new CallAffinity(call, selection) : undefined
  const ordered = 'target' in leads ? [leads] : inOrder(leads, { affinity: (sticky) => affinity?.by(sticky), random })
  const { candidates, ready } = coolestFirst(ordered, account, now)
  return {
    route,
    call,
    context: { account, mayCall, standIn, terms },
    affinity,
    random,
    ordered,
    candidates,
    ready,
    turns: 0,
    attempts: 0,
    pauses: 0,
    isOver: false,
    inVain: undefined,
    statesRefused: false,
    isAmbiguous: false,
    last: undefined,
    repeat: undefined,
    again: NONE,
    asked: NONE,
    tried: NONE,
    error: undefined,
    retryAfter: Number.POSITIVE_INFINITY,
    unfit: undefined,
    limited: NONE,
    skipped: NONE,
    readyAt: Number.POSITIVE_INFINITY,
  }
}

/** A plan, and the attempt that it comes to next; without one the call fails with `errorOf`. */
export interface Choice {
  readonly plan: Plan
  readonly next: PlannedAttempt | undefined
}

/** Chooses the next attempt. `until`: no pause before it exceeds that. A call that no target could serve is over, with its error. */
export function choose(plan: Plan, now: number, until = Number.POSITIVE_INFINITY): Choice {
  if (plan.repeat !== undefined) return chosen({ ...plan, repeat: undefined }, plan.repeat)
  const first = nextTurn(plan, now)
  const again = first.next === undefined ? nextAgain(first.plan, now, until) : first
  return again.next === undefined ? nextLimited(again.plan, now, until) : again
}

/** Notes a chosen attempt, which will be made, with its upstream. */
export function note({ candidate, credential, isTurn, counts }: PlannedAttempt, now: number): void {
  const { credentials, retryBudget } = candidate.target.upstream
  if (credential !== undefined && isTurn) credentials!.used(credential)
  if (counts === 'first') retryBudget.earn()
  if (counts === 'retry') retryBudget.spend(now)
}

const chosen = (plan: Plan, next: PlannedAttempt): Choice => ({ plan: { ...plan, last: next }, next })

const mayAttempt = ({ isOver, attempts, route }: Plan): boolean => !isOver && attempts < route.retry.attempts

/** The next candidate that had no turn. */
function nextTurn(before: Plan, now: number): Choice {
  let plan = before
  while (mayAttempt(plan) && plan.turns < plan.candidates.length && plan.inVain === undefined) {
    const candidate = plan.candidates[plan.turns]!
    const tried = consider({ ...plan, turns: plan.turns + 1 }, candidate, now, 0)
    if (tried.next !== undefined) return tried
    plan = tried.plan
  }
  return { plan, next: undefined }
}

/** After all had their turn: one of those that may succeed later. */
function nextAgain(before: Plan, now: number, until: number): Choice {
  let plan = before
  while (mayAttempt(plan) && plan.again.length > 0) {
    const [{ candidate, cooldownMs }, ...again] = plan.again as [Plan['again'][number], ...Plan['again']]
    plan = { ...plan, again }
    const pauseMs = backOff(plan.pauses, cooldownMs, plan.random)
    if (now + pauseMs >= until) continue
    const tried = consider(plan, candidate, now, pauseMs)
    plan = tried.plan
    if (tried.next !== undefined) return { plan: { ...plan, pauses: plan.pauses + 1 }, next: tried.next }
  }
  return { plan, next: undefined }
}

/** Of the targets whose limits soon have room again, the first. */
function nextLimited(plan: Plan, now: number, until: number): Choice {
  if (plan.isOver || plan.limited.length === 0) return { plan, next: undefined }
  const next = plan.limited
    .filter(({ limited: { waitMs, retryAfterMs } }) => waitMs > 0 && now + retryAfterMs < until)
    .filter(({ isRepeat }) => isRepeat || mayAttempt(plan))
    .reduce<LimitedAttempt | undefined>((first, each) => (first && isSooner(first, each) ? first : each), undefined)
  if (next === undefined) return { plan, next }
  const attempts = next.isRepeat ? plan.attempts : plan.attempts + 1
  const limited = plan.limited.filter((each) => each !== next)
  return chosen(
    { ...plan, attempts, limited },
    { ...next, pauseMs: 0, hold: attempts < plan.route.retry.attempts, counts: 'not' },
  )
}

/** Of two equal ones, the first in the order of the route is sooner. */
const isSooner = (first: LimitedAttempt, second: LimitedAttempt): boolean =>
  first.limited.retryAfterMs <= second.limited.retryAfterMs

/** Plans an attempt at a candidate, or skips it. */
function consider(plan: Plan, candidate: Candidate, now: number, pauseMs: number): Choice {
  const { upstream, health, provider } = candidate.target
  const { call, context, route } = plan
  const { account, standIn } = context
  const { maxBody: limit = Number.POSITIVE_INFINITY } = provider
  if (call.size > limit) return unfit(plan, { candidate, error: new GatewayError('request_too_large', { values: { limit } }) })
  const keeping = keepingCredential(candidate, call, context)
  const waitMs = keeping === undefined ? 0 : upstream.credentials!.cooldownOf(keeping, now + pauseMs, account)
  if (waitMs > 0) return unfit(plan, { candidate, error: coolingDown(waitMs) })
  const affinity = affinityAt(candidate, plan)
  const preferred = keeping ?? upstream.credentials?.next(now, account, affinity)
  const serving = fit(plan, candidate, preferred)
  if ('error' in serving)
    return UNFIT.has(serving.error.row)
      ? unfit(plan, serving)
      : { plan: { ...plan, isOver: true, error: serving.error }, next: undefined }
  if (health.availability(now, account) === 'open') return { plan: skipOpen(plan, candidate), next: undefined }
  const isRetry = plan.asked.includes(upstream)
  if (isRetry && !upstream.retryBudget.allows(now)) return { plan: skip(plan, candidate, 'upstream_busy'), next: undefined }
  const attempts = plan.attempts + 1
  const credential = serving.handler === standIn ? undefined : preferred
  const next: PlannedAttempt = {
    ...serving,
    candidate,
    credential,
    isTurn: keeping === undefined && affinity === undefined,
    pauseMs,
    withoutStates: plan.statesRefused,
    hold: attempts < route.retry.attempts || credential !== undefined,
    credentialRefused: false,
    isRepeat: false,
    limited: undefined,
    counts: isRetry ? 'retry' : 'first',
  }
  const asked = isRetry ? plan.asked : [...plan.asked, upstream]
  const tried = credential === undefined ? plan.tried : [...plan.tried, credential]
  return { plan: { ...plan, attempts, asked, tried, last: next }, next }
}

/** What the calls to one of the credentials of a candidate have in common with this one. */
const affinityAt = ({ target }: Candidate, { affinity }: Plan): Affinity | undefined =>
  target.upstream.credentials === undefined ? undefined : affinity?.by(target.sticky)

/** How a candidate serves the call, with all parameters that it drops, or why it cannot. */
function fit({ call, context }: Plan, candidate: Candidate, credential: Credential | undefined): Serving | Unfit {
  let serving: Serving | undefined
  try {
    serving = servingOf(candidate, call, context, credential)
    if (serving === undefined) return { candidate, error: notServed(call) }
    const dropped = droppedBy(serving, candidate)
    const [param] = dropped
    if (!candidate.strict || param === undefined) return dropped === serving.dropped ? serving : { ...serving, dropped }
    return { candidate, serving, error: new GatewayError('unsupported_parameter', { param }) }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { candidate, serving, error }
  }
}

/** Errors of a candidate that cannot serve the call; another one may. Any other error is the call's. */
const UNFIT: ReadonlySet<ErrorName> = new Set<ErrorName>([
  'unsupported_endpoint',
  'unsupported_parameter',
  'previous_response_not_found',
  'item_not_found',
  'invalid_encrypted_content',
])

function unfit(plan: Plan, found: Unfit): Choice {
  const isFirst = plan.unfit === undefined || found.error.row === 'previous_response_unavailable'
  return { plan: { ...skip(plan, found.candidate, found.error.row), ...(isFirst && { unfit: found }) }, next: undefined }
}

const skip = (plan: Plan, { target }: Candidate, why: ErrorName): Plan => ({
  ...plan,
  skipped: [...plan.skipped, { target, why }],
})

const skipOpen = (plan: Plan, candidate: Candidate): Plan =>
  skip({ ...plan, readyAt: Math.min(plan.readyAt, candidate.target.health.probeAt) }, candidate, 'upstream_circuit_open')

/** The plan after the last planned attempt did not serve the call. */
export function after(plan: Plan, setback: Setback, now: number): Plan {
  switch (setback.kind) {
    case 'failed':
      return afterFailure(plan, setback, now)
    case 'limited':
      return afterLimit(plan, setback.reached)
    case 'open':
      return skipOpen(uncount(plan), plan.last!.candidate)
    case 'ended':
      return afterEnd(plan, setback.error)
  }
}

/** The attempt did not reach the upstream, and does not count. */
const uncount = (plan: Plan): Plan => (plan.last!.isRepeat ? plan : { ...plan, attempts: plan.attempts - 1 })

function afterFailure(before: Plan, { error, statesRefused, mayDiffer }: Failure, now: number): Plan {
  const last = before.last!
  const { candidate } = last
  if (error.row === 'unsupported_parameter')
    return { ...uncount(before), unfit: before.unfit ?? { candidate, error, serving: last } }
  // The upstream had no place for the call, so this was no attempt.
  const counted = error.row === 'upstream_busy' ? skip(uncount(before), candidate, 'upstream_busy') : before
  const retryAfter = Math.min(before.retryAfter, Number(error.headers['retry-after'] ?? Number.POSITIVE_INFINITY))
  const plan = { ...counted, error, retryAfter }
  if (plan.isOver) return plan
  if (statesRefused) return { ...plan, statesRefused, repeat: repeated(last, { withoutStates: true }) }
  if (isRenewable(last, error)) return { ...plan, repeat: repeated(last, { credentialRefused: true }) }
  const otherWay = mayDiffer ? fit(plan, candidate, last.credential) : undefined
  if (otherWay !== undefined && !('error' in otherWay)) return { ...plan, repeat: repeated(last, otherWay) }
  // Its upstream has not the endpoint for this model, in this region or for this credential.
  const { standIn } = plan.context
  if (standIn !== undefined && last.handler !== standIn && error.row === 'unsupported_endpoint')
    return { ...plan, repeat: repeated(last, { handler: standIn, credential: undefined }) }
  const { cause, again, cooldownMs, ofCredential } = policyFor(error)
  const credential = ofCredential && anotherCredential(plan, now)
  const serving = credential && fit(plan, candidate, credential)
  if (serving && !('error' in serving)) {
    const repeat = repeated(last, { ...serving, credential, credentialRefused: false })
    return { ...plan, tried: [...plan.tried, credential!], repeat }
  }
  const inVain = cooldownMs !== undefined && plan.turns > plan.ready ? candidate : plan.inVain
  // The upstream may already have served the call: it is retried once only.
  const isAmbiguous = again === 'immediately'
  const isOver = cause === undefined || !plan.route.retry.on.has(cause) || (isAmbiguous && plan.isAmbiguous)
  const mayAgain = again !== undefined && candidate !== inVain
  return {
    ...plan,
    inVain,
    isOver,
    isAmbiguous: plan.isAmbiguous || isAmbiguous,
    again: mayAgain ? [...plan.again, { candidate, cooldownMs: cooldownMs ?? 0 }] : plan.again,
  }
}

/** The same attempt once more. */
const repeated = (last: PlannedAttempt, change: Partial<PlannedAttempt>): PlannedAttempt => ({
  ...last,
  ...change,
  isRepeat: true,
  pauseMs: 0,
  counts: 'not',
})

/** Whether the upstream refused a credential that the provider can replace and has not replaced yet. */
export const isRenewable = ({ candidate, credentialRefused }: PlannedAttempt, { row }: GatewayError): boolean =>
  row === 'upstream_authentication_error' && candidate.target.provider.refreshes === true && !credentialRefused

/** A credential of the same namespace that is ready and that the call has not tried. */
function anotherCredential(plan: Plan, now: number): Credential | undefined {
  const { last, call, context, tried } = plan
  const { candidate } = last!
  if (keepingCredential(candidate, call, context) !== undefined) return undefined
  return candidate.target.upstream.credentials?.another(now, tried, context.account, affinityAt(candidate, plan))
}

/** If the call has waited for the limit, there is no attempt left. */
function afterLimit(plan: Plan, limited: LimitReached): Plan {
  const last = plan.last!
  return {
    ...uncount(plan),
    limited: [...plan.limited, { ...last, limited }],
    isOver: plan.isOver || last.limited !== undefined,
  }
}

/** The error of an earlier attempt takes precedence over this one, and a reached limit over a timeout. */
function afterEnd(plan: Plan, error: GatewayError): Plan {
  const isLimited = plan.limited.length > 0 && error.row === 'upstream_timeout'
  return { ...plan, isOver: true, repeat: undefined, error: plan.error ?? (isLimited ? undefined : error) }
}

/** The error of the call if no attempt is left. */
export function errorOf(plan: Plan, now: number): GatewayError {
  const last = plan.error ?? refusalOf(plan, now)
  const retryAfter = Math.min(plan.retryAfter, coolestAfter(plan, now))
  const error =
    last.row === 'upstream_rate_limited' && retryAfter !== Number.POSITIVE_INFINITY
      ? rateLimitError(retryAfter, last.cause)
      : last
  return plan.attempts > 1 ? error.forbidRetry() : error
}

/** Seconds until the first of the targets that were not tried since they cool down is ready. */
function coolestAfter({ inVain, candidates, turns, context }: Plan, now: number): number {
  if (inVain === undefined) return Number.POSITIVE_INFINITY
  const waits = candidates.slice(turns).map(({ target }) => target.health.cooledDownAt(context.account) - now)
  return Math.max(1, Math.ceil(Math.min(...waits) / 1000))
}

/** The error of a call without any attempt. */
function refusalOf({ limited, readyAt, unfit }: Plan, now: number): GatewayError {
  if (limited.length > 0) return limitError(limited.map((each) => each.limited))
  // A candidate that could serve the call will be back.
  const isOpen = readyAt !== Number.POSITIVE_INFINITY
  return (isOpen ? undefined : unfit?.error) ?? circuitOpen(readyAt - now)
}

/** The routing of the call so far. */
export function traceOf(plan: Plan): RouteTrace {
  const { route, last, unfit } = plan
  const candidate = last?.candidate ?? unfit?.candidate
  const serving = last ?? unfit?.serving
  return {
    route: route.id,
    affinity: affinityIn(plan),
    skipped: skippedOf(plan).map(({ target, why }) => ({ target: target.id, why })),
    parameters:
      serving === undefined ? {} : parameterSupport(serving.call, tableFor(serving.handler, candidate!.target.served.model)),
  }
}

/** By what the target of the last attempt was chosen from several, and its credential. */
function affinityIn({ route: { leads }, affinity, last }: Plan): RouteTrace['affinity'] {
  const sticky = 'target' in leads ? undefined : stickyOf(leads)
  const target = sticky && affinity?.by(sticky)?.signal
  const credential = last?.credential && !last.isTurn ? affinity?.by(last.candidate.target.sticky)?.signal : undefined
  return { ...(target && { target }), ...(credential && { credential }) }
}

/** The targets that were not attempted so far, and why. */
export function skippedOf(plan: Plan): readonly SkippedTarget[] {
  const { candidates, ordered, skipped, limited } = plan
  const isNone = candidates === ordered && skipped === NONE && limited === NONE
  return isNone ? NONE : [...coolingDownOf(plan), ...skipped, ...limited.map(limitedTarget)]
}

/** The targets that would have been attempted before the last one, were they not cooling down. */
function coolingDownOf({ candidates, ordered, last, turns }: Plan): readonly SkippedTarget[] {
  if (candidates === ordered || last === undefined) return NONE
  const before = ordered.slice(0, ordered.indexOf(last.candidate))
  const left = candidates.slice(turns)
  return before.filter((each) => left.includes(each)).map(({ target }) => ({ target, why: 'cooling_down' }))
}

const limitedTarget = ({ candidate: { target } }: LimitedAttempt) => ({ target, why: 'namespace_limit_reached' as const })

const NO_TERMS: CallTerms = { hostedTools: [] }
const NONE: readonly never[] = []

const notServed = ({ model }: Call): GatewayError =>
  new GatewayError('unsupported_endpoint', { param: 'model', values: { model: model.id } })

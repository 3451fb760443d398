import { GatewayError } from '../errors.ts'
import { expectFetchable } from '../protocol/addresses.ts'
import { type ClientBody, ClientCall, type Defaults, missingIn, withDefaults } from '../protocol/call.ts'
import type { Profile } from '../protocol/client-protocol.ts'
import { profileOf } from '../protocol/fit-chat.ts'
import type { GuardedMember } from '../protocol/guarded-members.ts'
import { JsonBody } from '../protocol/json-body.ts'
import { isKeptBy, type Keeper, type KeptCall } from '../protocol/kept-ids.ts'
import { checkKept, keptIds } from '../protocol/kept-references.ts'
import { formedBody } from '../protocol/tool-forms.ts'
import { withFittedNames, withOwnNames } from '../protocol/tool-names.ts'
import { type Translation, translationOf } from '../protocol/translation.ts'
import type { Credential } from '../routing/credentials.ts'
import { chatHandler, droppedParameters, type Handler, parametersOf, tableFor, toolFormsOf } from '../routing/handler.ts'
import { type Candidate, candidatesOf, type Route, type Target } from '../routing/route.ts'
import {
  type Call,
  type CapName,
  capOf,
  type Provider,
  promptEstimate,
  type ReplyTransform,
  type ToolForm,
  takesCap,
} from '../sdk/api.ts'
import { unsupportedParameter } from '../sdk/parameters.ts'

/** How a candidate serves a call. */
export interface Serving {
  readonly handler: Handler
  /** The call as the provider gets it, with the route's default parameters. */
  readonly call: Call
  /** Parameters that its translation leaves out. */
  readonly dropped: readonly string[]
  /** How the call was translated, if the provider serves it as a chat completion. */
  readonly translation: Translation | undefined
  /** Give the client its own tools in a reply: their names, then their forms. Absent: the upstream has them as the client has. */
  readonly ownTools?: readonly (() => ReplyTransform)[] | undefined
  /** The cap that a budget has added to the call. */
  readonly cap?: number | undefined
}

/** On which terms targets may serve a call. */
export interface CallTerms {
  /** The tools of the call that its vendor runs. */
  readonly hostedTools: readonly string[]
  /**
   * Present if the call is charged to budgets: the most tokens of an answer that a candidate may write, if neither the call nor its route says
   * how many.
   */
  readonly capFor?: ((candidate: Candidate) => number) | undefined
}

/** What serving depends on in addition to the candidate and the call. */
export interface ServingContext {
  /** The id of the caller's account. */
  readonly account: string
  /** Whether the caller may call a model, by its id. */
  readonly mayCall: (id: string) => boolean
  /** Serves the calls of an endpoint that the candidate's provider lacks. */
  readonly standIn: Handler | undefined
  readonly terms: CallTerms
}

/**
 * How a candidate serves a call; undefined if it does not. `credential`: the attempt's, if its namespace has several. Throws
 * `GatewayError` (400) for what only an upstream of the client's protocol serves, and for what another upstream keeps.
 */
export function servingOf(
  candidate: Candidate,
  call: Call,
  { account, mayCall, standIn, terms }: ServingContext,
  credential?: Credential,
): Serving | undefined {
  const { target } = candidate
  const client = clientOf(call)
  expectFetchable(client.addresses, target.fetches)
  const { provider, handlers } = credential ?? target
  const { model } = target.served
  const cap = terms.capFor && capOfBudget(candidate, call, terms.capFor)
  const name = cap && capNameOf(provider, call, model)
  const defaults = name ? { ...candidate.defaults, [name]: cap } : candidate.defaults
  const translation = translationOf(call)
  const own = handlers.of(call.endpoint, model) ?? standIn
  const guard = (): void => {
    // A translation leaves out, or refuses, what the vendor would run.
    if (terms.hostedTools.length > 0) checkHostedTools(target, terms)
    checkGuarded(client.guarded, { target, keeper: keeperOf(target, account, credential), mayCall })
  }
  if (translation === undefined) {
    if (own === undefined) return undefined
    guard()
    const isChat = own === provider
    const tools = isChat ? takenTools(provider, call, model, defaults) : undefined
    const sent = ClientCall.with(call, tools?.body ?? client, defaults)
    const handler = isChat ? chatHandler(provider, sent, model) : own
    return { handler, call: sent, dropped: tools?.dropped ?? NONE, translation: undefined, ownTools: tools?.ownTools, cap }
  }
  const isTaken = takesOwn(own, call, model)
  const native = own && isTaken ? translation.native : undefined
  const missing = missingIn(call, defaults)
  const ownDefaults = inOwnNames(missing, translation)
  if (native !== undefined && ownDefaults !== 'unknown') {
    if (own !== standIn) guard()
    const unkept = client.kept && translation.protocol.unkept?.(native.body)
    const sent = ClientCall.with(call, native.body, ownDefaults, unkept)
    return { handler: own!, call: sent, dropped: native.dropped, translation: undefined, cap }
  }
  const usual = translation.chatFor(profileOf(provider, model, own !== undefined))
  const chat = ClientCall.with(call, usual.body, missing)
  if (standIn !== undefined) return { handler: isTaken ? standIn : own!, call: chat, dropped: NONE, translation: undefined }
  const handler = chatHandler(provider, chat, model)
  if (handler === provider) return { handler, call: chat, dropped: usual.dropped, translation, cap }
  const { body, dropped } = translation.chatFor(profileOf(handler, model, false))
  return { handler, call: ClientCall.with(call, body, missing), dropped, translation, cap }
}

/** The body that the client of a call sent. */
const clientOf = (call: Call): ClientBody => ClientCall.bodyOf(call).client

/** Whether a model takes what a call asks for in its client's own protocol. */
const takesOwn = (handler: Handler | undefined, call: Call, model: string): boolean =>
  handler?.takes?.(ClientCall.with(call, clientOf(call)), model) !== false

/** The forms of tools that a provider takes of a chat completion in addition to function tools; undefined if it takes all. */
const formsTaken = (provider: Provider, call: Call, model: string): readonly ToolForm[] | undefined =>
  toolFormsOf(chatHandler(provider, call, model), model)

/** The body of a chat completion with tools that a provider takes. */
interface TakenTools extends Pick<Serving, 'dropped' | 'ownTools'> {
  readonly body: JsonBody
}

/** The body with its tools in the forms, and with the names, that a provider takes; undefined if it takes those of the client. */
function takenTools(provider: Provider, call: Call, model: string, defaults: Defaults | undefined): TakenTools | undefined {
  const client = clientOf(call)
  if (!(client instanceof JsonBody) || !(client.hasToolForms || client.hasUnplainNames)) return undefined
  const forms = client.hasToolForms ? formsTaken(provider, withDefaults(call, defaults), model) : undefined
  const formed = forms && formedBody(client, forms)
  const body = formed?.body ?? client
  const names = body.hasUnplainNames ? provider.toolNames?.(model) : undefined
  const named = names && withFittedNames(body, names)
  if (formed === undefined && named === undefined) return undefined
  const ownTools = [named && (() => withOwnNames(named.names)), formed?.reply].filter((each) => each !== undefined)
  return { body: named?.body ?? body, dropped: formed?.dropped ?? NONE, ownTools }
}

/** The forms of tools that candidates take of a call, of those that do not take all. */
export const toolFormsFor = (candidates: readonly Candidate[], call: Call): readonly (readonly ToolForm[])[] =>
  candidates.flatMap(({ target: { provider, served }, defaults }) => {
    const takes = formsTaken(provider, withDefaults(call, defaults), served.model)
    return takes === undefined ? [] : [takes]
  })

/** The cap that a budget adds to a call; undefined if the call, or its route, has one. */
function capOfBudget(candidate: Candidate, call: Call, capFor: (candidate: Candidate) => number): number | undefined {
  if (!takesCap(call)) return undefined
  return capOf(withDefaults(call, candidate.defaults)) === undefined ? capFor(candidate) : undefined
}

/** By which parameter a provider takes a cap; undefined if it takes none. */
function capNameOf(provider: Provider, call: Call, model: string): CapName | undefined {
  if (call.endpoint === 'completions') return 'max_tokens'
  const table = tableFor(provider, model)
  if (provider.cap !== undefined || table === 'verbatim') return provider.cap ?? 'max_tokens'
  return CAP_NAMES.find((name) => table[name]?.support === 'mapped')
}

const CAP_NAMES: readonly CapName[] = ['max_completion_tokens', 'max_tokens']

/** Throws `GatewayError` (400) for a tool that the vendor runs and that the target's namespace does not allow. */
function checkHostedTools({ hostedTools: allowed, served }: Target, { hostedTools, capFor }: CallTerms): void {
  if (allowed === undefined && capFor === undefined) return
  const refused = hostedTools.find((name) => allowed?.includes(name) !== true)
  if (refused === undefined || served.provider === SANDBOX) return
  const why = allowed === undefined ? ', because what it costs is in no price and you have a budget' : ''
  const detail =
    ` The tool \`${refused.slice(0, 100)}\`, which the vendor runs, is not allowed in the namespace \`${served.namespace}\`${why}. ` +
    `Leave it out, or ask the operator to add it to \`hostedTools\` of the namespace.`
  throw new GatewayError('unsupported_parameter', { param: 'tools', values: { detail } })
}

/** Its calls reach no vendor. */
const SANDBOX = 'sandbox'

/** What a caller may use at a target. */
interface Reach {
  readonly target: Target
  readonly keeper: Keeper
  readonly mayCall: ServingContext['mayCall']
}

/**
 * Throws `GatewayError` (400) for the guarded members of a call, in the client's own protocol, that would reach a model or something kept that its caller may not
 * use: docs/decisions/members-of-requests.md.
 */
function checkGuarded(members: readonly GuardedMember[], { target, keeper, mayCall }: Reach): void {
  if (members.length === 0) return
  const { namespace } = target.served
  for (const { kind, param, value } of members) {
    if (kind === 'model') {
      const id = `${namespace}/${typeof value === 'string' ? value : JSON.stringify(value)}`
      if (!mayCall(id))
        throw unsupportedParameter(
          param,
          `Your key may not call '${id.slice(0, 200)}': name a model of GET /v1/models, or leave it out.`,
        )
    } else if (kind === 'choice')
      throw unsupportedParameter(
        param,
        'It chooses another model. Name one, in `model`; the operator configures which model follows another.',
      )
    else if (kind === 'later' && value !== false)
      throw unsupportedParameter(
        param,
        'The gateway keeps no replies to fetch later: leave it out, and ask for a stream if the answer takes long.',
      )
    else if (kind === 'kept' && !target.keptObjects && !isEmpty(value))
      throw unsupportedParameter(
        param,
        `It refers to what the upstream keeps, and all callers share that: send the content itself. The operator may allow it by \`keptObjects: allow\` of the namespace ${namespace}.`,
      )
  }
  checkKept(members, keeper)
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** The parameters that a candidate drops, by the client's names. */
export function droppedBy({ handler, call, dropped, translation }: Serving, { target }: Candidate): readonly string[] {
  const parameters = tableFor(handler, target.served.model)
  if (parameters === 'verbatim' && dropped.length === 0) return dropped
  const names = [...dropped, ...(parameters === 'verbatim' ? [] : droppedParameters(parametersOf(call), parameters))]
  return translation === undefined ? names : [...new Set(names.map((name) => translation.protocol.namesOf[name] ?? name))]
}

/** Who keeps what a target's upstream stores for the calls of an account. `credential`: of the call, if the namespace has several. */
export const keeperOf = ({ served, secrets }: Target, account: string, credential?: Credential): Keeper => ({
  namespace: served.namespace,
  credential: credential?.name,
  account,
  secret: secrets?.get(credential?.name) ?? '',
})

/** What a call is to its keeper. */
export function keptCall(call: Call, keeper: Keeper): KeptCall {
  const { keptTokens: tokens } = call
  const { guarded, kept } = clientOf(call)
  const previous = guarded.find(({ param }) => param === 'previous_response_id')?.value
  return { keeper, kept, previous, promptTokens: tokens === undefined ? undefined : promptEstimate(call) + tokens }
}

/** Which of the several credentials of a namespace keeps what a call refers to: no other can serve it. Undefined if none does. */
export function keepingCredential({ target }: Candidate, call: Call, { account }: ServingContext): Credential | undefined {
  const { credentials } = target.upstream
  if (credentials === undefined) return undefined
  const [id] = keptIds(clientOf(call).guarded)
  return id && credentials.all.find((each) => isKeptBy(id.value, keeperOf(target, account, each)))
}

/** Throws `GatewayError` (400) for a call that refers to what one of several upstreams of its route keeps, without a sign of which one it is. */
export function checkReferences({ leads }: Route, call: Call): void {
  const kept = clientOf(call).guarded.find(({ kind }) => kind === 'kept')
  if (kept === undefined) return
  const { param } = kept
  const targets = candidatesOf(leads).map(({ target }) => target)
  const keepers = targets.filter(
    ({ keptObjects, handlers, served }) => keptObjects && handlers.of(call.endpoint, served.model) !== undefined,
  )
  if (new Set(keepers.map(({ served }) => served.namespace)).size < 2) return
  const names = keepers.map(({ id }) => id).join(' or ')
  const detail = ` It has several upstreams: name the one that keeps it, such as ${names}.`
  throw new GatewayError('unsupported_parameter', { param, values: { detail } })
}

/** The profiles in which candidates take a call that they cannot serve in the client's own protocol. */
export function profilesFor(candidates: Iterable<Candidate>, call: Call): readonly Profile[] {
  const native = translationOf(call)?.native
  const profiles: Profile[] = []
  for (const { target } of candidates) {
    const { model } = target.served
    const own = target.handlers.of(call.endpoint, model)
    if (native !== undefined && own !== undefined && takesOwn(own, call, model)) continue
    const { provider } = target
    profiles.push(profileOf(provider, model, own !== undefined))
    if (provider.chatBy !== undefined) profiles.push(profileOf({ parameters: {} }, model, false))
  }
  return profiles
}

/** Defaults by the client's names; `unknown` if the client's protocol lacks one of them. */
function inOwnNames(defaults: Defaults | undefined, { protocol: { sameAs } }: Translation): Defaults | undefined | 'unknown' {
  if (defaults === undefined) return undefined
  const members = Object.entries(defaults)
  if (!members.every(([name]) => Object.hasOwn(sameAs, name))) return 'unknown'
  return Object.fromEntries(members.map(([name, value]) => [sameAs[name], value]))
}

const NONE: readonly string[] = []

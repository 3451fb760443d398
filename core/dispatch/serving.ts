import { GatewayError } from '../errors.ts'
import { addressesInForm, expectFetchable, type FoundAddress } from '../protocol/addresses.ts'
import { addressesIn, ClientCall, guardedOf, hasToolForms, hasUnplainNames } from '../protocol/call.ts'
import { type CallForms, formsOf } from '../protocol/call-forms.ts'
import type { Profile } from '../protocol/client-protocol.ts'
import { withDefaults } from '../protocol/filled-call.ts'
import { profileOf } from '../protocol/fit-chat.ts'
import { isKeptBy, type Keeper } from '../protocol/kept-ids.ts'
import { keptIds } from '../protocol/kept-references.ts'
import { type FormedCall, formedCall } from '../protocol/tool-forms.ts'
import { withFittedNames, withOwnNames } from '../protocol/tool-names.ts'
import type { Credential } from '../routing/credentials.ts'
import { checkGuarded, type Reach } from '../routing/guard.ts'
import { chatHandler, droppedParameters, type Handler, parametersOf, tableFor, toolFormsOf } from '../routing/handler.ts'
import { type Candidate, candidatesOf, type Route, type Target } from '../routing/route.ts'
import { type Call, type CapName, capOf, type Provider, type ReplyTransform, type ToolForm, takesCap } from '../sdk/api.ts'

/** How a candidate serves a call. */
export interface Serving {
  readonly handler: Handler
  /** The call as the provider gets it, with the route's default parameters. */
  readonly call: Call
  /** Parameters that its translation leaves out. */
  readonly dropped: readonly string[]
  /** The client's own call, if the provider serves it as a chat completion. */
  readonly forms: CallForms | undefined
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

/** What serving depends on beside the candidate and the call. */
export interface ServingContext {
  /** The id of the caller's account. */
  readonly account: string
  readonly mayCall: Reach['mayCall']
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
  expectFetchable(addressesOf(call), target.fetches)
  const { provider, handlers } = credential ?? target
  const { model } = target.served
  const cap = terms.capFor && capOfBudget(candidate, call, terms.capFor)
  const name = cap && capNameOf(provider, call, model)
  const defaults = name ? { ...candidate.defaults, [name]: cap } : candidate.defaults
  const forms = formsOf(call)
  const own = handlers.of(call.endpoint, model) ?? standIn
  const guard = (own: Call): void => {
    // A translation leaves out, or refuses, what the vendor would run.
    if (terms.hostedTools.length > 0) checkHostedTools(target, terms)
    checkGuarded(own, { target, keeper: keeperOf(target, account, credential), mayCall })
  }
  if (forms === undefined) {
    if (own === undefined) return undefined
    guard(call)
    const formed = own === provider ? withTakenForms(provider, call, { model, defaults }) : undefined
    const known = formed?.call ?? call
    const takes = own === provider && hasUnplainNames(known) ? provider.toolNames?.(model) : undefined
    const named = takes && withFittedNames(known as ClientCall, takes)
    const sent = named?.call ?? known
    const filled = defaults ? withDefaults(sent, defaults) : sent
    const handler = own === provider ? chatHandler(provider, filled, model) : own
    const ownNames = named && (() => withOwnNames(named.names))
    const ownTools = formed ? [...(ownNames ? [ownNames] : []), formed.reply] : ownNames && [ownNames]
    return { handler, call: filled, dropped: formed?.dropped ?? NONE, forms: undefined, ownTools, cap }
  }
  const isTaken = own?.takes?.(forms.client, model) !== false
  const native = own && isTaken ? forms.native : undefined
  const missing = missingIn(call, defaults)
  const { sameAs } = forms.protocol
  if (native !== undefined && missing.every(([name]) => Object.hasOwn(sameAs, name))) {
    if (own !== standIn) guard(forms.client)
    const filled = withMembers(
      native.call,
      missing.map(([name, value]) => [sameAs[name], value]),
    )
    return { handler: own!, call: filled, dropped: native.dropped, forms: undefined, cap }
  }
  const usual = forms.chatFor(profileOf(provider, model, own !== undefined))
  if (standIn !== undefined) {
    const handler = isTaken ? standIn : own!
    return { handler, call: withMembers(usual.call, missing), dropped: NONE, forms: undefined }
  }
  const handler = chatHandler(provider, withMembers(usual.call, missing), model)
  const chat = handler === provider ? usual : forms.chatFor(profileOf(handler, model, false))
  return { handler, call: withMembers(chat.call, missing), dropped: chat.dropped, forms, cap }
}

/** The forms of tools that a provider takes of a chat completion beside function tools; undefined if it takes all. */
function formsTaken(provider: Provider, call: Call, { model, defaults }: FormTerms): readonly ToolForm[] | undefined {
  const handler = chatHandler(provider, defaults ? withDefaults(call, defaults) : call, model)
  return toolFormsOf(handler, model)
}

interface FormTerms {
  readonly model: string
  readonly defaults: Candidate['defaults']
}

/** The call with tools in the forms that a provider takes; undefined if it takes those of the client. */
function withTakenForms(provider: Provider, call: Call, terms: FormTerms): FormedCall | undefined {
  const takes = hasToolForms(call) ? formsTaken(provider, call, terms) : undefined
  return takes && formedCall(call as ClientCall, takes)
}

/** The forms of tools that candidates take of a call, of those that do not take all. */
export const toolFormsFor = (candidates: readonly Candidate[], call: Call): readonly (readonly ToolForm[])[] =>
  candidates.flatMap(({ target: { provider, served }, defaults }) => {
    const takes = formsTaken(provider, call, { model: served.model, defaults })
    return takes === undefined ? [] : [takes]
  })

/** The cap that a budget adds to a call; undefined if the call, or its route, has one. */
function capOfBudget(candidate: Candidate, call: Call, capFor: (candidate: Candidate) => number): number | undefined {
  if (!takesCap(call)) return undefined
  const { defaults } = candidate
  return capOf(defaults === undefined ? call : withDefaults(call, defaults)) === undefined ? capFor(candidate) : undefined
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

/** The addresses in a client's body, JSON or form, that an upstream may fetch. */
function addressesOf(call: Call): readonly FoundAddress[] {
  const client = formsOf(call)?.client ?? call
  if (client instanceof ClientCall) return addressesIn(client)
  return client.form === undefined ? NO_ADDRESSES : addressesInForm(client)
}

const NO_ADDRESSES: readonly FoundAddress[] = []

/** The parameters that a candidate drops, by the client's names. */
export function droppedBy({ handler, call, dropped, forms }: Serving, { target }: Candidate): readonly string[] {
  const parameters = tableFor(handler, target.served.model)
  if (parameters === 'verbatim' && dropped.length === 0) return dropped
  const names = [...dropped, ...(parameters === 'verbatim' ? [] : droppedParameters(parametersOf(call), parameters))]
  return forms === undefined ? names : [...new Set(names.map((name) => forms.protocol.namesOf[name] ?? name))]
}

/** Who keeps what a target's upstream stores for the calls of an account. `credential`: of the call, if the namespace has several. */
export const keeperOf = ({ served, secrets }: Target, account: string, credential?: Credential): Keeper => ({
  namespace: served.namespace,
  credential: credential?.name,
  account,
  secret: secrets?.get(credential?.name) ?? '',
})

/** Which of the several credentials of a namespace keeps what a call refers to: no other can serve it. Undefined if none does. */
export function keepingCredential({ target }: Candidate, call: Call, { account }: ServingContext): Credential | undefined {
  const { credentials } = target.upstream
  if (credentials === undefined) return undefined
  const [id] = keptIds(guardedOf(formsOf(call)?.client ?? call))
  return id && credentials.all.find((each) => isKeptBy(id.value, keeperOf(target, account, each)))
}

/** Throws `GatewayError` (400) for a call that refers to what one of several upstreams of its route keeps, without a sign of which one it is. */
export function checkReferences({ leads }: Route, call: Call): void {
  const kept = guardedOf(formsOf(call)?.client ?? call).find(({ kind }) => kind === 'kept')
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
  const native = formsOf(call)?.native
  const profiles: Profile[] = []
  for (const { target } of candidates) {
    const { model } = target.served
    const own = target.handlers.of(call.endpoint, model)
    if (native !== undefined && own !== undefined && own.takes?.(formsOf(call)!.client, model) !== false) continue
    const { provider } = target
    profiles.push(profileOf(provider, model, own !== undefined))
    if (provider.chatBy !== undefined) profiles.push(profileOf({ parameters: {} }, model, false))
  }
  return profiles
}

/** The defaults of a route that the client did not send. */
const missingIn = (call: Call, defaults: Candidate['defaults']): readonly (readonly [string, unknown])[] =>
  defaults === undefined ? NO_MEMBERS : Object.entries(defaults).filter(([name]) => call.member(name) == null)

const withMembers = (call: Call, members: readonly (readonly [string | undefined, unknown])[]): Call =>
  members.length === 0 ? call : withDefaults(call, Object.fromEntries(members))

const NONE: readonly string[] = []
const NO_MEMBERS: readonly (readonly [string, unknown])[] = []

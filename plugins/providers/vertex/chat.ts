import {
  type AttemptStates,
  type Call,
  defineCallFunction,
  formatMembers,
  readFormat,
  type Translator,
  withCallStates,
} from 'unified-model-gateway/plugin'
import { withMarkAtEnd } from '../anthropic/clouds.ts'
import { formatPlan as claudeFormatPlan, toMessagesRequest } from '../anthropic/request.ts'
import { MessageTranslator } from '../anthropic/stream.ts'
import { formatPlan as geminiFormatPlan, generateMethod, toGenerateRequest } from '../gemini/request.ts'
import { GenerateTranslator } from '../gemini/stream.ts'
import type { VertexModel } from './address.ts'
import { CLAUDE_VERSION } from './messages.ts'
import { claudeFacts, type FactsTable, geminiFacts } from './models.ts'

/** A model, and the operator's settings. */
export interface Target {
  readonly model: VertexModel
  readonly own: FactsTable
  /** Whether the region has Google's tiers. */
  readonly tiers?: boolean
  /** Of the attempt. */
  readonly states?: AttemptStates | undefined
}

/** A request to a model's address. */
export interface ModelRequest {
  /** The last segment of the path, after the model's name and a colon. */
  readonly method: string
  readonly request: object
  /** The parameters that the model does not take. */
  readonly dropped?: readonly string[]
  /** The tier to serve it by. Absent: the usual one. */
  readonly tier?: string | undefined
}

/** A request with its body as JSON. */
export const encode = ({ method, request, tier, dropped = [] }: ModelRequest) => ({
  method,
  tier,
  body: Buffer.from(JSON.stringify(request)),
  dropped,
})

/** A chat completion request to its publisher's. */
export const chatRequest = defineCallFunction(import.meta.url, 'chatRequest', (call, target: Target) =>
  encode(toChatRequest(call, target)),
)

/** Translates a chat completion request to its publisher's. Throws `GatewayError` (400) for parameters that the model cannot honour. */
export function toChatRequest(call: Call, { model: { publisher, name }, own, tiers, states }: Target): ModelRequest {
  const body = withCallStates(call.body, states)
  if (publisher === 'google') {
    const target = { facts: geminiFacts(name, own), callIds: false, ...(tiers && { tiers }) }
    return { method: generateMethod(call), ...toGenerateRequest(body, target) }
  }
  const { request, dropped } = toMessagesRequest(body, { model: claudeName(name), facts: factsOfClaude(name, own) })
  const { model: _, cache_control: mark, service_tier: __, ...rest } = request
  const method = call.stream ? 'streamRawPredict' : 'rawPredict'
  const marked = mark && { messages: withMarkAtEnd(rest.messages, mark) }
  return { method, request: { anthropic_version: CLAUDE_VERSION, ...rest, ...marked }, dropped }
}

/**
 * The prompt of a call, for a Gemini's `:countTokens` ("projects.locations.publishers.models.countTokens", cloud.google.com/vertex-ai/docs/reference/rest;
 * read 2026-11-26).
 */
export const countRequest = defineCallFunction(import.meta.url, 'countRequest', (call, { model: { name }, own }: Target) => {
  const { contents, systemInstruction, tools } = toGenerateRequest(call.body, {
    facts: geminiFacts(name, own),
    callIds: false,
  }).request
  return encode({
    method: 'countTokens',
    request: { contents, ...(systemInstruction && { systemInstruction }), ...(tools && { tools }) },
  })
})

/** Anthropic, and Claude's replies, write the date after a dash. */
const claudeName = (name: string): string => name.replace('@default', '').replace('@', '-')

/** The facts about a Claude, by Vertex AI's name of it. */
export const factsOfClaude = (name: string, own: FactsTable) => claudeFacts(claudeName(name), own)

/** Translates a model's reply to a chat completion request. */
export function createTranslator(call: Call, { publisher, name }: VertexModel, own: FactsTable): Translator {
  const members = formatMembers(call)
  if (publisher === 'google') return readFormat(new GenerateTranslator(call), geminiFormatPlan(members, geminiFacts(name, own)))
  return readFormat(new MessageTranslator(), claudeFormatPlan(members, factsOfClaude(name, own)))
}

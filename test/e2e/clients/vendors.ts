// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { type Bytes, openaiReply, type Said } from '../../../core/testing/kit.ts'
import { inPieces } from '../../../core/testing/upstream/openai-reply.ts'
import { ENCRYPTED, responsesReply } from '../../../core/testing/upstream/responses-reply.ts'
import * as anthropic from '../../plugins/providers/anthropic/messages-api.ts'
import { azureReply } from '../../plugins/providers/azure-openai/azure-reply.ts'
import * as bedrock from '../../plugins/providers/bedrock/converse-reply.ts'
import { chunkOf } from '../../plugins/providers/bedrock/invoke-model.ts'
import * as cohere from '../../plugins/providers/cohere/chat-reply.ts'
import * as gemini from '../../plugins/providers/gemini/generate-content.ts'
import * as interactions from '../../plugins/providers/gemini/interactions.ts'
import * as ollama from '../../plugins/providers/ollama/chat-api.ts'
import { STRICT_VENDORS, type StrictVendor } from '../../support/strict-vendors.ts'

/** A protocol that clients speak. */
export type Protocol = 'chat' | 'responses' | 'messages'

/** A provider in routes.yaml, and how its upstream speaks. */
export interface Vendor {
  /** Its namespace, also in titles of tests. */
  readonly name: string
  readonly provider: string
  readonly model: string
  /** The APIs of its vendor by which the gateway reaches it, as the vendor names them. */
  readonly reachedBy: string
  config(origin: string): object
  /** Several credentials, by their names. */
  readonly credentials?: Readonly<Record<string, object>>
  /** The content type of its upstream's streams. Default: `text/event-stream`. */
  readonly streamType?: string
  /** What the upstream replies to a request for this path. Each text comes in two pieces, or as many as `count`. */
  reply(said: Said, path: string, count?: number): { readonly whole: object; readonly stream: readonly Bytes[] }
  /** Texts of which the upstream must get back one with the result of a tool, to know what it thought; none if it has no need of it. */
  returns(protocol: Protocol): readonly string[]
  /** It counts the tokens of a prompt itself. */
  readonly counts?: true
  /** What it refuses. */
  readonly strict?: StrictVendor
}

const SIGNATURE = 'c2lnbmVkIHRob3VnaHQ='
const KEY = '${env:KEY}'
const USAGE = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 }

/** The thought before the calls of a tool, which some upstreams want back. */
export const THOUGHT = 'The weather?'

const argumentsOf = (values: object, count: number): string[] => inPieces(JSON.stringify(values), count)

/** A chat completion, or a response where the client's request is passed through. */
const openai = (said: Said, path: string, count?: number) =>
  path.includes('/responses') ? responsesReply(said, count) : openaiReply({ ...said, usage: USAGE }, count)

function claude({ reasoning, text, tools = [] }: Said, _path: string, count = 2) {
  const blocks = [
    ...(reasoning === undefined ? [] : [anthropic.thinking(SIGNATURE, ...inPieces(reasoning, count))]),
    ...(text === undefined ? [] : [anthropic.text(...inPieces(text, count))]),
    ...tools.map(({ name, arguments: values, id }, index) =>
      anthropic.tool(id ?? `toolu_${index}`, name, ...argumentsOf(values, count)),
    ),
  ]
  return anthropic.message(blocks, tools.length > 0 ? { stop_reason: 'tool_use' } : {})
}

/** The SDKs' runners of tools leave the conversation to Anthropic, and then name its last message. */
const CLAUDE_RETURNS = [SIGNATURE, '"previous_message_id":"msg_01"']

const google = ({ reasoning = '', text = '', tools = [] }: Said, _path: string, count = 2) =>
  gemini.reply([
    ...inPieces(reasoning, count).map(gemini.thought),
    ...inPieces(text, count).map((piece) => ({ text: piece })),
    // Google signs the first call of a turn.
    ...tools.map(({ name, arguments: values }, index) =>
      gemini.call(name, values, index === 0 ? { thoughtSignature: SIGNATURE } : {}),
    ),
  ])

const googleByInteractions = ({ reasoning, text, tools = [] }: Said, _path: string, count = 2) =>
  interactions.interaction([
    ...(reasoning === undefined ? [] : [interactions.thought(SIGNATURE, ...inPieces(reasoning, count))]),
    ...(text === undefined ? [] : [interactions.output(...inPieces(text, count))]),
    ...tools.map(({ name, arguments: values, id }, index) => interactions.call(id ?? `${name}_${index}`, name, values)),
  ])

/** Converse, or InvokeModel where the client's request is passed through. */
function amazon(said: Said, path: string, count = 2) {
  if (!path.includes('/invoke')) return converse(said, path, count)
  const { whole, stream } = claude(said, path, count)
  const events = stream.map((text) => /^data: (.*)$/m.exec(text)![1]!)
  return { whole, stream: events.map((event) => chunkOf(event)) }
}

function converse({ reasoning, text, tools = [] }: Said, _path: string, count = 2) {
  const blocks = [
    ...(reasoning === undefined ? [] : [bedrock.reasoning(...inPieces(reasoning, count))]),
    ...(text === undefined ? [] : [bedrock.text(...inPieces(text, count))]),
    ...tools.map(({ name, arguments: values, id }, index) =>
      bedrock.tool(id ?? `tooluse_${index}`, name, ...argumentsOf(values, count)),
    ),
  ]
  return bedrock.reply(blocks, tools.length > 0 ? 'tool_use' : 'end_turn')
}

function command({ reasoning, text, tools = [] }: Said, _path: string, count = 2) {
  const parts = [
    ...(reasoning === undefined ? [] : [cohere.content('thinking', ...inPieces(reasoning, count))]),
    ...(text === undefined ? [] : [cohere.content('text', ...inPieces(text, count))]),
    ...tools.map(({ name, arguments: values, id }, index) =>
      cohere.tool(id ?? `${name}_${index}`, name, ...argumentsOf(values, count)),
    ),
  ]
  return cohere.reply(parts, tools.length > 0 ? 'TOOL_CALL' : 'COMPLETE')
}

const local = ({ reasoning = '', text = '', tools = [] }: Said, _path: string, count = 2) =>
  ollama.reply([
    ...inPieces(reasoning, count).map((thinking) => ({ thinking })),
    ...inPieces(text, count).map((content) => ({ content })),
    ...tools.map(({ name, arguments: values, id }, index) => ollama.call(index, name, values, id)),
  ])

const GOOGLE_CLOUD = { project: 'acme-ai', region: 'us-east5' }

/** All providers that have an upstream, one row for each way in which they speak. */
export const VENDORS: readonly Vendor[] = [
  {
    name: 'openai-compatible',
    provider: 'openai-compatible',
    model: 'some-model',
    reachedBy: 'Chat Completions',
    config: (origin) => ({ baseUrl: `${origin}/v1`, apiKey: KEY }),
    reply: openai,
    returns: () => [THOUGHT],
  },
  {
    name: 'openai',
    provider: 'openai-compatible',
    model: 'gpt-5',
    reachedBy: 'Chat Completions; Responses for clients of Responses',
    config: (origin) => ({ preset: 'openai', baseUrl: `${origin}/v1`, apiKey: KEY }),
    reply: openai,
    returns: (protocol) => (protocol === 'responses' ? [ENCRYPTED] : []),
  },
  {
    name: 'openai-by-responses',
    provider: 'openai-compatible',
    model: 'gpt-5.5-pro',
    reachedBy: 'Responses',
    config: (origin) => ({ preset: 'openai', baseUrl: `${origin}/v1`, apiKey: KEY }),
    reply: (said, _path, count) => responsesReply(said, count),
    returns: () => [ENCRYPTED],
  },
  {
    name: 'azure-openai',
    provider: 'azure-openai',
    model: 'gpt-5-in-sweden',
    reachedBy: 'Chat Completions; Responses for clients of Responses',
    config: (origin) => ({ baseUrl: origin, apiKey: KEY }),
    reply: (said, path, count) =>
      path.includes('/responses') ? responsesReply(said, count) : azureReply({ ...said, usage: USAGE }, count),
    returns: (protocol) => (protocol === 'responses' ? [ENCRYPTED] : []),
  },
  {
    name: 'anthropic',
    provider: 'anthropic',
    model: 'claude-haiku-4-5',
    reachedBy: 'Messages',
    config: (origin) => ({ baseUrl: origin, apiKey: KEY }),
    reply: claude,
    returns: () => CLAUDE_RETURNS,
    counts: true,
  },
  {
    name: 'gemini',
    provider: 'gemini',
    model: 'gemini-2.5-pro',
    reachedBy: '`generateContent`',
    config: (origin) => ({ baseUrl: origin, apiKey: KEY }),
    reply: google,
    returns: () => [SIGNATURE],
    counts: true,
  },
  {
    name: 'gemini-by-interactions',
    provider: 'gemini',
    model: 'gemini-3.6-flash',
    reachedBy: 'Interactions',
    config: (origin) => ({ baseUrl: origin, apiKey: KEY, api: 'interactions' }),
    reply: googleByInteractions,
    returns: () => [SIGNATURE],
    counts: true,
  },
  {
    name: 'vertex-gemini',
    provider: 'vertex',
    model: 'gemini-2.5-pro',
    reachedBy: '`generateContent`',
    config: (origin) => ({ ...GOOGLE_CLOUD, baseUrl: origin }),
    reply: google,
    returns: () => [SIGNATURE],
    counts: true,
  },
  {
    name: 'vertex-claude',
    provider: 'vertex',
    model: 'claude-haiku-4-5@20251001',
    reachedBy: 'Messages, by `rawPredict`',
    config: (origin) => ({ ...GOOGLE_CLOUD, baseUrl: origin }),
    reply: claude,
    returns: () => CLAUDE_RETURNS,
    counts: true,
  },
  {
    name: 'bedrock',
    provider: 'bedrock',
    model: 'us.anthropic.claude-sonnet-4-6',
    reachedBy: 'Converse; InvokeModel for clients of Messages',
    config: (origin) => ({ region: 'us-east-1', baseUrl: origin, apiKey: KEY }),
    streamType: 'application/vnd.amazon.eventstream',
    reply: amazon,
    returns: () => [bedrock.SIGNATURE],
    counts: true,
  },
  {
    name: 'cohere',
    provider: 'cohere',
    model: 'command-a-reasoning-08-2025',
    reachedBy: 'Chat (version 2)',
    config: (origin) => ({ baseUrl: origin, apiKey: KEY }),
    reply: command,
    returns: () => [THOUGHT],
  },
  {
    name: 'ollama',
    provider: 'ollama',
    model: 'gpt-oss:20b',
    reachedBy: '`/api/chat`',
    config: (origin) => ({ baseUrl: origin }),
    streamType: 'application/x-ndjson',
    reply: local,
    returns: () => [THOUGHT],
  },
]

/** A vendor that has chat completions only, and refuses what it does not know. */
export const CHAT_ONLY: Vendor = {
  name: 'groq',
  provider: 'openai-compatible',
  model: 'openai/gpt-oss-120b',
  reachedBy: 'Chat Completions',
  config: (origin) => ({ preset: 'groq', baseUrl: `${origin}/v1`, apiKey: KEY }),
  reply: openai,
  returns: () => [],
  strict: STRICT_VENDORS.groq!,
}

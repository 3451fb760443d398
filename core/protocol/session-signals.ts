import type { IncomingHttpHeaders } from 'node:http'
import { isRecord, parseRecord } from '../sdk/json.ts'

/** A place in a request where a client names its conversation. */
interface Signal {
  /** As explanations write it. */
  readonly name: string
  /** Whether clients also send it with one value for all of their conversations: then it names what they have in common. */
  readonly isShared?: true
}

/** A header of a request, in lower case. */
interface HeaderSignal extends Signal {
  /** A header that tells the agents of one conversation apart: each has a prompt of its own. */
  readonly agent?: string
}

/** A member of the top level of a request's body. */
interface MemberSignal extends Signal {
  /** The text in its value. */
  text(value: unknown): unknown
}

/** A conversation as a request names it. */
export interface Session {
  readonly signal: Signal
  readonly id: string
}

/**
 * The headers in which clients name their conversations, the surest first. The order is that of gateways which have the same table
 * (docs.getbifrost.ai/providers/session-affinity, docs.merge.dev/merge-gateway/routing/cache-aware-routing, read 2026-11-27). What names a
 * request (`x-client-request-id`, baggage of W3C), a turn (`x-codex-turn-state`) or a window of an editor (`vscode-sessionid`) is not among them.
 */
const HEADERS: readonly HeaderSignal[] = [
  // Claude Code from 2.1.86, with a second header of its subagents: capture of 2.1.295; coder/coder aibridge/session.go @00a4758.
  { name: 'x-claude-code-session-id', agent: 'x-claude-code-agent-id' },
  // Codex; `thread-id` is that of a subagent too, and equals `prompt_cache_key`: router-for-me/CLIProxyAPI#4452, 2026-07-20.
  { name: 'thread-id' },
  // Codex, and those that take its form: pi (router-for-me/CLIProxyAPI#3089, 2026-04-27), Cline and Roo for OpenAI.
  { name: 'session-id' },
  { name: 'session_id' },
  { name: 'conversation_id' },
  // opencode to gateways of its own: diegosouzapw/OmniRoute#4028; to all others the next two: anomalyco/opencode#31511, 2026-06-09.
  { name: 'x-opencode-session' },
  // The general one, which OpenRouter documents (openrouter.ai/docs/guides/best-practices/prompt-caching, read 2026-11-27); crush
  // sends it with the next: charmbracelet/crush#3277, 2026-07-09.
  { name: 'x-session-id' },
  { name: 'x-session-affinity' },
  // Kilo, Roo, Cline, Copilot CLI and VS Code, Amp, Mux, Coder, Open WebUI: coder/coder aibridge/session.go @00a4758; Amp:
  // router-for-me/CLIProxyAPI#2972.
  { name: 'x-kilo-session' },
  { name: 'x-kilocode-taskid' },
  { name: 'x-roo-task-id' },
  { name: 'x-task-id' },
  { name: 'x-client-session-id' },
  { name: 'x-interaction-id' },
  { name: 'x-amp-thread-id' },
  { name: 'x-mux-workspace-id' },
  { name: 'x-coder-chat-id' },
  { name: 'x-openwebui-chat-id' },
]

const MEMBERS: readonly MemberSignal[] = [
  // openrouter.ai/docs/guides/best-practices/prompt-caching, read 2026-11-27.
  { name: 'session_id', text: (value) => value },
  // A conversation that OpenAI keeps: its id, or an object with it (openai 7.57.0, 2026-11-13).
  { name: 'conversation', text: (value) => (isRecord(value) ? value.id : value) },
  // OpenAI advises one value for all requests that begin alike (developers.openai.com/api/docs/guides/prompt-caching): often one a product.
  { name: 'prompt_cache_key', text: (value) => value, isShared: true },
  // Claude Code before 2.1.86 had no header: coder/coder aibridge/session.go @00a4758.
  { name: 'metadata', text: (value) => (isRecord(value) ? sessionOfUser(value.user_id) : undefined) },
]

/** The end of `user_…_account_…_session_<uuid>`. */
const OLD_USER = /_session_([\da-f-]{36})$/

/** Claude Code's `metadata.user_id`: JSON with a `session_id`, or a text that ends in one. Any other text names a user. */
function sessionOfUser(id: unknown): unknown {
  if (typeof id !== 'string') return undefined
  return id.startsWith('{') ? parseRecord(id)?.session_id : OLD_USER.exec(id)?.[1]
}

/** The longest id, in characters: OpenAI's keys have at most 64, and two uuids 73. */
const MAX_ID = 256

const isId = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= MAX_ID

/** The conversation that a request names; undefined if it names none. `member`: of the top level of its body. */
export function sessionOf(headers: IncomingHttpHeaders, member: (name: string) => unknown): Session | undefined {
  for (const signal of HEADERS) {
    const id = headers[signal.name]
    if (!isId(id)) continue
    const agent = signal.agent && headers[signal.agent]
    return { signal, id: isId(agent) ? `${id} ${agent}` : id }
  }
  for (const signal of MEMBERS) {
    const value = member(signal.name)
    const id = value == null ? undefined : signal.text(value)
    if (isId(id)) return { signal, id }
  }
  return undefined
}

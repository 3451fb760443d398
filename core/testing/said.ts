import type { FinishReason, Usage } from '../sdk/api.ts'

/** A call of a tool, as a client reads it. */
export interface SaidTool {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** What a reply says, in OpenAI's terms. What is not named must not be there. */
export interface Said {
  readonly text?: string
  readonly reasoning?: string
  readonly refusal?: string
  readonly tools?: readonly SaidTool[]
  /** Default: `tool_calls` where there are tools, else `stop`. */
  readonly finish?: FinishReason
  /** As far as it matters. */
  readonly usage?: Partial<Usage>
}

/** Why a reply ends, where it does not say. */
export function finishOf({ finish, tools = [] }: Said): FinishReason {
  return finish ?? (tools.length > 0 ? 'tool_calls' : 'stop')
}

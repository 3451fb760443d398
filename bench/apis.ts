/** What the mock upstream speaks at one path (tools/replies.h). */
export interface UpstreamApi {
  readonly path: string
  /** The one model it knows there. */
  readonly model: string
  /** The namespace of routes.yaml whose provider speaks it. */
  readonly namespace: string
}

/** OpenAI's chat completions: the gateway passes them through. */
export const CHAT: UpstreamApi = { path: '/v1/chat/completions', model: 'gpt-4o-mini', namespace: 'openai' }

/** Anthropic's Messages: the gateway translates them. */
export const MESSAGES: UpstreamApi = { path: '/v1/messages', model: 'claude-sonnet-4-5', namespace: 'claude' }

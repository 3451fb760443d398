/** What the mock upstream speaks at one path (tools/replies.h). */
export interface UpstreamApi {
  readonly path: string
  /** The one model it knows there. */
  readonly model: string
  /** The namespace of routes.yaml whose provider speaks it. */
  readonly namespace: string
  /** It has no stop sequences, by which a request tells the pace: the upstream sends 100 events at once. */
  readonly unpaced?: true
}

/** OpenAI's chat completions: the gateway passes them through. */
export const CHAT: UpstreamApi = { path: '/v1/chat/completions', model: 'gpt-4o-mini', namespace: 'openai' }

/** Anthropic's Messages: the gateway translates them. */
export const MESSAGES: UpstreamApi = { path: '/v1/messages', model: 'claude-sonnet-4-5', namespace: 'claude' }

/** OpenAI's Responses: the gateway translates chat completions of a model that is served there only. */
export const RESPONSES: UpstreamApi = { path: '/v1/responses', model: 'gpt-5.5-pro', namespace: 'responses', unpaced: true }

/** What a client speaks to a gateway, if not chat completions. */
export type ClientApi = 'messages' | 'responses'

/** How something between load generator and upstream is asked for the upstream's model. */
export interface Asked {
  readonly path: string
  /** What the model is called there. */
  readonly model: string
  /** Absent: chat completions. */
  readonly speaks?: ClientApi
  readonly unpaced?: true
  /** Beside those of every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/** As the upstream itself. */
export const asUpstream = ({ path, model, unpaced }: UpstreamApi): Asked => ({ path, model, ...(unpaced && { unpaced }) })

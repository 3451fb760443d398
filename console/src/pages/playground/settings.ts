/** One turn of the conversation. */
export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** The settings of a request. Numbers are kept as typed; empty: the model's default. */
export interface Settings {
  readonly model: string
  readonly system: string
  readonly temperature: string
  readonly topP: string
  readonly maxTokens: string
  readonly stream: boolean
}

/** The settings of a new page. */
export const INITIAL_SETTINGS: Settings = {
  model: '',
  system: '',
  temperature: '',
  topP: '',
  maxTokens: '',
  stream: true,
}

/** The body of the request. */
export function bodyOf(settings: Settings, turns: readonly Turn[]): Record<string, unknown> {
  const { model, system, temperature, topP, maxTokens, stream } = settings
  return {
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...turns],
    ...(temperature !== '' && { temperature: Number(temperature) }),
    ...(topP !== '' && { top_p: Number(topP) }),
    ...(maxTokens !== '' && { max_tokens: Number(maxTokens) }),
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
  }
}

import { readThinking } from 'unified-model-gateway/plugin'
import type { Quirk } from './quirk.ts'

/** The vendor does not know the role `developer`, OpenAI's system role for reasoning models. */
export const developerRole: Quirk = {
  name: 'developer-role',

  request({ messages }) {
    if (!messages.some(({ role }) => role === 'developer')) return {}
    return { messages: messages.map((message) => (message.role === 'developer' ? { ...message, role: 'system' } : message)) }
  },
}

/** The vendor refuses or ignores `max_completion_tokens`, and keeps its old name `max_tokens`. */
export const maxTokens: Quirk = {
  name: 'max-tokens',
  concerns: ['max_completion_tokens'],

  request(body) {
    if (!('max_completion_tokens' in body)) return {}
    const limit = body.max_completion_tokens ?? body.max_tokens ?? undefined
    return { max_completion_tokens: undefined, max_tokens: limit }
  },
}

/** The vendor refuses or does not know `stream_options`, and reports its usage without them. */
export const noStreamOptions: Quirk = {
  name: 'no-stream-options',

  request: () => ({ stream_options: undefined }),
}

/** Google takes a number of tokens to think with in a member of its own, and no effort with it. */
export const googleThinking: Quirk = {
  name: 'google-thinking',
  concerns: ['budget_tokens'],

  request(body) {
    const { budget, param } = readThinking(body) ?? {}
    if (budget === undefined || param !== 'thinking') return {}
    const thinking_config = { thinking_budget: budget, include_thoughts: true }
    return { thinking: undefined, reasoning_effort: undefined, extra_body: { google: { thinking_config } } }
  },
}

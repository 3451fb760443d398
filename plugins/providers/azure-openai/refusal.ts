import { readRefusal, type UpstreamRefusal } from 'unified-model-gateway/plugin'

/** Causes that Azure tells in words only. */
const CAUSES: readonly (readonly [status: number, words: RegExp, meaning: Partial<UpstreamRefusal>])[] = [
  [403, /out of call volume quota/i, { status: 429, code: 'insufficient_quota' }],
]

/** What an error reply means: OpenAI's body, with Azure's ways to say some things. */
export function toRefusal(reply: {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}): UpstreamRefusal {
  const refusal = readRefusal(reply.status, reply.headers, reply.body)
  const { status, message = '' } = refusal
  const cause = CAUSES.find(([when, words]) => when === status && words.test(message))?.[2]
  const seconds = /retry after (\d+) seconds?/i.exec(message)?.[1]
  return { ...(seconds !== undefined && { retryAfter: Number(seconds) }), ...refusal, ...cause }
}

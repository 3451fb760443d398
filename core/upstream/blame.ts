import type { UpstreamRefusal } from '../sdk/api.ts'

/**
 * What an upstream refused: the request itself; the gateway's credential, for all requests; the account of the credential, which has no money; or
 * `unclear`, one of these.
 */
export type Blame = 'request' | 'credential' | 'account' | 'unclear'

/** Statuses by which upstreams refuse a credential, and also requests that are not allowed, too large, or too many. */
const TWOFOLD = new Set([402, 403, 413, 429])

/**
 * Words about one request (read 2026-11-25): OpenRouter's 402 "requires more credits, or fewer max_tokens" and 403 "Your input was flagged";
 * OpenAI's and Groq's 429 and 413 "Request too large for … on tokens per min"; xAI's 403 "Content violates usage guidelines".
 */
const OF_REQUEST =
  /\bflagged\b|\brequires moderation\b|\bcontent (?:violates|polic|filter|management)|\busage (?:guidelines|polic)|\bsafety\b|\bfewer max_tokens\b|\b(?:request|prompt|message|input) (?:is )?too (?:large|long|big)\b|\bmust be reduced\b|\breduce (?:the length|your)\b/i

/** Words about a key or its owner: "Key limit exceeded", "Your API key has been disabled", "reported as leaked". */
const OF_CREDENTIAL =
  /\bapi[ _-]?keys?\b|\b(?:access|security) token\b|\bcredentials?\b|\bkey (?:limit|is|was|has)\b|\b(?:account|organization|project|team) (?:is|was|has been) (?:suspended|deactivated|disabled|blocked)\b|\bleaked\b/i

/**
 * Words about an account without money (read 2026-11-26): "Insufficient Balance" (DeepSeek, Z.ai, Kimi), "used all available credits or reached its
 * monthly spending limit" (xAI), "余额不足" (Z.ai).
 */
const OF_ACCOUNT =
  /\b(?:insufficient|not enough|no|out of|used all available|too low) (?:account )?(?:balance|credits?|funds|quota)\b|\bbalance is (?:too low|insufficient)\b|\bcredit limit\b|\bspend\w* (?:limit|cap)\b|余额不足/i

/** OpenAI's codes that mean the same. */
const CREDENTIAL_CODES = new Set(['invalid_api_key', 'account_deactivated'])

/** OpenAI's codes, also with 400; Alibaba's with 400 (github.com/QwenLM/qwen-code/issues/54), Z.ai's (github.com/zai-org/feedback/issues/789). */
const ACCOUNT_CODES = new Set(['insufficient_quota', 'billing_hard_limit_reached', 'Arrearage', '1113'])

/** What the client sent may be quoted. */
const QUOTED = /"[^"]*"|`[^`]*`|(?<!\w)'[^']*'(?!\w)/g

/** What an upstream refused, by status, code and words. Words of the client's own that the upstream quotes do not count. */
export function blameOf({ status, code = '', message = '' }: UpstreamRefusal): Blame {
  if (status === 401) return 'credential'
  if (status >= 400 && status < 500 && ACCOUNT_CODES.has(code)) return 'account'
  if (!TWOFOLD.has(status)) return 'unclear'
  const words = message.slice(0, MAX_WORDS).replace(QUOTED, '')
  if (OF_REQUEST.test(words)) return 'request'
  if (OF_ACCOUNT.test(words)) return 'account'
  return CREDENTIAL_CODES.has(code) || OF_CREDENTIAL.test(words) ? 'credential' : 'unclear'
}

/** Characters of a message that are read. */
const MAX_WORDS = 1000

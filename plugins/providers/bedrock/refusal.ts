import { parseRecord, textOf, UpstreamError, type UpstreamEvent, type UpstreamRefusal } from 'unified-model-gateway/plugin'

/**
 * The status of each exception, in OpenAI's terms ("Common errors" and "Converse", Amazon Bedrock API reference), in lower case: streams
 * write the first letter small. A wrong credential is 401, unlike at AWS.
 */
const EXCEPTIONS: ReadonlyMap<string, Omit<UpstreamRefusal, 'message'>> = new Map([
  ['validationexception', { status: 400 }],
  ['serializationexception', { status: 400 }],
  ['unrecognizedclientexception', { status: 401 }],
  ['expiredtokenexception', { status: 401 }],
  ['expiredtoken', { status: 401 }],
  ['invalidclienttokenid', { status: 401 }],
  ['invalidsignatureexception', { status: 401 }],
  ['incompletesignature', { status: 401 }],
  ['missingauthenticationtokenexception', { status: 401 }],
  ['accessdeniedexception', { status: 403 }],
  ['resourcenotfoundexception', { status: 404 }],
  ['conflictexception', { status: 409 }],
  ['throttlingexception', { status: 429 }],
  ['toomanyrequestsexception', { status: 429 }],
  ['servicequotaexceededexception', { status: 429, code: 'insufficient_quota' }],
  ['modelerrorexception', { status: 502 }],
  ['modelstreamerrorexception', { status: 502 }],
  ['internalserverexception', { status: 500 }],
  ['internalfailure', { status: 500 }],
  // AWS's status is 429, but the model is being loaded: no rate limit.
  ['modelnotreadyexception', { status: 503 }],
  ['serviceunavailableexception', { status: 503 }],
  ['modeltimeoutexception', { status: 504 }],
])

/** Causes of a ValidationException that only its message names. */
const CAUSES: readonly (readonly [message: RegExp, meaning: UpstreamRefusal])[] = [
  [
    /input is too long|too many input tokens|prompt is too long|maximum context length|exceed context limit/i,
    { status: 400, code: 'context_length_exceeded', param: 'messages' },
  ],
  [/model identifier is invalid/i, { status: 404 }],
]

/** Reads an error reply. A reply of a proxy, without AWS's error, is read by its status. */
export function toRefusal(reply: {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}): UpstreamRefusal {
  const { __type, message, Message } = parseRecord(reply.body) ?? {}
  return meaningOf(reply.headers['x-amzn-errortype'] ?? __type, message ?? Message, reply.status)
}

/**
 * Reads an error reply of CountTokens. Not every model, region and credential (`bedrock:CountTokens`) has it ("CountTokens", Amazon Bedrock API
 * reference): such a reply says that there is no such endpoint.
 */
export function toCountRefusal(reply: Parameters<typeof toRefusal>[0]): UpstreamRefusal {
  const refusal = toRefusal(reply)
  const isWithout = refusal.status === 403 || refusal.status === 404 || /support counting tokens/i.test(refusal.message ?? '')
  return isWithout ? { ...refusal, status: 404, code: 'unsupported_endpoint' } : refusal
}

/** Reads an exception or an error in a stream. */
export function toUpstreamError({ type, data, headers = {} }: UpstreamEvent): UpstreamError {
  const { message, Message } = parseRecord(data) ?? {}
  const name = type || headers[':error-code']
  return new UpstreamError(meaningOf(name, message ?? Message ?? headers[':error-message'], 502))
}

/** `name`: `ThrottlingException`, possibly with a namespace before a `#` and an address after a `:`. */
function meaningOf(name: unknown, text: unknown, status: number): UpstreamRefusal {
  const exception = textOf(name).replace(/^.*#/, '').replace(/:.*$/, '').toLowerCase()
  const message = textOf(text)
  const cause = exception === 'validationexception' ? CAUSES.find(([pattern]) => pattern.test(message))?.[1] : undefined
  return { ...(cause ?? EXCEPTIONS.get(exception) ?? { status }), ...(message && { message }) }
}

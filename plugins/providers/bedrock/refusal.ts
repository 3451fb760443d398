import { parseRecord, UpstreamError, type UpstreamEvent, type UpstreamRefusal } from 'unified-model-gateway/plugin'

/**
 * The status of each exception, in OpenAI's terms ("Common errors" and "Converse", Amazon Bedrock API reference). Streams write the
 * names with a small first letter. A wrong credential is 401 however AWS numbers it.
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
  // AWS calls it 429, but waiting for a turn does not help: the model is being loaded.
  ['modelnotreadyexception', { status: 503 }],
  ['serviceunavailableexception', { status: 503 }],
  ['modeltimeoutexception', { status: 504 }],
])

/** Causes that Bedrock tells in words only, within a ValidationException. */
const CAUSES: readonly (readonly [words: RegExp, meaning: UpstreamRefusal])[] = [
  [
    /input is too long|too many input tokens|prompt is too long|maximum context length|exceed context limit/i,
    { status: 400, code: 'context_length_exceeded', param: 'messages' },
  ],
  [/model identifier is invalid/i, { status: 404 }],
]

/** What a reply with an error status means. A proxy in front of Bedrock may have made it: then the status has to say. */
export function toRefusal(reply: {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}): UpstreamRefusal {
  const { __type, message, Message } = parseRecord(reply.body) ?? {}
  return meaningOf(reply.headers['x-amzn-errortype'] ?? __type, message ?? Message, reply.status)
}

/** What an exception or an error inside a stream means. */
export function toUpstreamError({ type, data, headers = {} }: UpstreamEvent): UpstreamError {
  const { message, Message } = parseRecord(data) ?? {}
  const name = type || headers[':error-code']
  return new UpstreamError(meaningOf(name, message ?? Message ?? headers[':error-message'], 502))
}

/** `name`: `ThrottlingException`, or with a namespace before a `#` and an address behind a `:`. */
function meaningOf(name: unknown, words: unknown, status: number): UpstreamRefusal {
  const exception = typeof name === 'string' ? name.replace(/^.*#/, '').replace(/:.*$/, '').toLowerCase() : ''
  const message = typeof words === 'string' ? words : ''
  const cause = exception === 'validationexception' ? CAUSES.find(([told]) => told.test(message))?.[1] : undefined
  return { ...(cause ?? EXCEPTIONS.get(exception) ?? { status }), ...(message && { message }) }
}

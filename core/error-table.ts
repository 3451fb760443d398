/**
 * The one table of errors. Every error a client can meet is a row here; docs/errors.md is compared with it by a test.
 *
 * The wire shape is OpenAI's: `{"error":{"message","type","param","code"}}`, all four keys, `code` and `param` string or null.
 */

/** Whose doing it was: one closed vocabulary for the log, the metrics and the usage rows. */
export type Fault = 'caller' | 'policy' | 'upstream' | 'gateway'

/** What is said and done about an error. */
export interface Row {
  readonly status: number
  readonly type: string
  /** What the client reads in `error.code`. */
  readonly code: string | null
  readonly fault: Fault
  /** `{name}` is filled from the error's values. */
  readonly message: string
  /** False: repeating the call cannot help. `x-should-retry: false` keeps the official SDKs from it. */
  readonly retry?: false
  /** Seconds: the reply's `retry-after`, unless the error has another. */
  readonly retryAfter?: number
}

const INVALID = 'invalid_request_error'
const SERVER = 'server_error'

const caller = (status: number, code: string | null, message: string): Row => ({
  status,
  type: INVALID,
  code,
  fault: 'caller',
  message,
})
const gateway = (status: number, code: string, message: string, retryAfter?: number): Row => ({
  status,
  type: SERVER,
  code,
  fault: 'gateway',
  message,
  ...(retryAfter !== undefined && { retryAfter }),
})
const upstream = (status: number, code: string, message: string): Row => ({
  status,
  type: SERVER,
  code,
  fault: 'upstream',
  message,
})

const NOT_JSON =
  'We could not parse the JSON body of your request. The gateway expects a JSON object; set the Content-Type header to application/json and send valid JSON.'

/** Every row, by the name that code and log use. */
export const ERRORS = {
  // The key. Claude Code repeats a call with status 401 ten times.
  missing_api_key: {
    ...caller(
      401,
      null,
      "You didn't provide an API key. Provide it in an Authorization header using Bearer auth (Authorization: Bearer YOUR_KEY). You can create a key with `umg keys create`.",
    ),
    retry: false,
  },
  invalid_api_key: {
    ...caller(401, 'invalid_api_key', 'Incorrect API key provided: {key}. You can create a key with `umg keys create`.'),
    retry: false,
  },
  api_key_disabled: {
    ...caller(401, 'api_key_disabled', 'Your API key is disabled. Ask the operator to enable it, or use another key.'),
    retry: false,
  },
  two_api_keys: {
    ...caller(
      401,
      'two_api_keys',
      'Two different API keys were sent: one in Authorization, one in x-api-key. Send one of them. Claude Code sends both if ANTHROPIC_AUTH_TOKEN and ANTHROPIC_API_KEY are set.',
    ),
    retry: false,
  },
  metrics_token_required: caller(401, 'invalid_api_key', 'The metrics need the bearer token that UMG_METRICS_TOKEN sets.'),

  // The address and the envelope
  unknown_url: caller(404, null, 'Invalid URL ({method} {path}){detail}'),
  method_not_allowed: caller(
    405,
    null,
    'Not allowed to {method} on {path}. (HINT: Perhaps you meant to make a {allow} request?)',
  ),
  websocket_unsupported: caller(
    426,
    'websocket_unsupported',
    'This gateway does not speak WebSocket here. Send the same request as {allow} {path}; a streamed reply comes as server-sent events.',
  ),
  origin_not_allowed: {
    status: 403,
    type: INVALID,
    code: 'origin_not_allowed',
    fault: 'policy',
    message: 'Pages of the origin {origin} may not open a WebSocket here. The operator may allow it by `--cors-origins`.',
    retry: false,
  },
  malformed_handshake: caller(
    400,
    'malformed_handshake',
    'The handshake of the WebSocket is not valid: it needs Sec-WebSocket-Key and Sec-WebSocket-Version: 13.',
  ),
  // Of a socket: OpenAI's codes, where it has one.
  malformed_frame: caller(400, 'malformed_frame', 'The frame is not valid: {detail}.'),
  binary_message: caller(
    400,
    'binary_message',
    'The gateway takes no binary messages: send each event as a text message of JSON.',
  ),
  invalid_stream_id: caller(
    400,
    'invalid_stream_id',
    "Invalid 'stream_id': expected 1 to 256 letters, digits, '_', '-' and '.'.",
  ),
  websocket_stream_limit_reached: caller(
    400,
    'websocket_stream_limit_reached',
    'This connection has named {limit} streams, and may name no more: use one of them, or another connection.',
  ),
  websocket_queue_full: caller(
    429,
    'websocket_queue_full',
    'More than {limit} events wait on this connection. Wait for responses before you send more, or use another connection.',
  ),
  websocket_connection_limit_reached: caller(
    400,
    'websocket_connection_limit_reached',
    'Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.',
  ),
  unsupported_media_type: caller(415, 'unsupported_media_type', "Unsupported content type '{type}'; use '{wanted}'."),
  unsupported_encoding: caller(
    415,
    'unsupported_media_type',
    "Unsupported content encoding '{encoding}'; send the body uncompressed.",
  ),
  request_too_large: caller(413, 'request_too_large', 'The request body is larger than the limit of {limit} bytes.'),
  expectation_failed: caller(417, null, "Unsupported expectation; only 'Expect: 100-continue' is understood."),
  request_timeout: caller(408, 'request_timeout', 'The request did not arrive in time. Send it again without pausing.'),
  headers_too_large: caller(431, 'headers_too_large', 'The request has too many headers or headers that are too long.'),
  malformed_http: caller(400, 'malformed_http', 'The request is not valid HTTP/1.1.'),
  http_version_not_supported: caller(
    505,
    'malformed_http',
    'Only HTTP/1.1 (and HTTP/1.0 without chunked encoding) is supported.',
  ),

  // The body
  invalid_json: caller(400, null, NOT_JSON),
  invalid_body: caller(400, 'invalid_value', '{detail}'),
  duplicate_parameter: caller(
    400,
    'duplicate_parameter',
    "Duplicate parameter: '{param}' stands more than once at the top level of the body.",
  ),
  misspelled_parameter: caller(
    400,
    'unknown_parameter',
    "Unknown parameter: '{param}'. Write it as '{field}': the case of letters counts.",
  ),
  missing_required_parameter: caller(400, 'missing_required_parameter', "Missing required parameter: '{param}'."),
  missing_model: caller(400, 'missing_required_parameter', 'you must provide a model parameter'),
  invalid_type: caller(400, 'invalid_type', "Invalid type for '{param}': expected {expected}, but got {actual} instead."),
  invalid_value: caller(400, 'invalid_value', "Invalid value for '{param}': {detail}."),
  unsupported_parameter: caller(
    400,
    'unsupported_parameter',
    "Unsupported parameter: '{param}' is not supported with this model.{detail}",
  ),
  // By OpenAI's code.
  previous_response_not_found: caller(
    400,
    'previous_response_not_found',
    "Previous response with id '{id}' not found: no upstream of this model keeps it for your account. Send all of the conversation as `input`.",
  ),
  invalid_encrypted_content: caller(
    400,
    'invalid_encrypted_content',
    'The encrypted content {id}… could not be verified: it is damaged, it was made by another service or for another account, or its credential was replaced. Send the conversation itself.',
  ),
  response_not_in_background: caller(400, 'response_not_in_background', 'Cannot cancel a synchronous response.'),
  response_without_events: caller(
    400,
    'response_without_events',
    'The events of this response are not kept: only those of a response with `background: true` and `stream: true` are, for a day.',
  ),
  response_under_way: {
    ...caller(409, 'response_under_way', 'The response is still being made. Cancel it first, or wait until it has ended.'),
    retry: false,
  },
  background_limit_reached: {
    status: 429,
    type: 'requests',
    code: 'background_limit_reached',
    fault: 'policy',
    message: 'Your account has as many background responses under way as it may. Cancel one, or wait until one ends.',
    retryAfter: 10,
  },
  response_process_ended: gateway(
    500,
    'response_process_ended',
    'The process of the gateway that made this response has ended. Ask for it again.',
  ),
  response_not_found: caller(404, 'response_not_found', "Response with id '{id}' not found.{detail}"),
  conversation_not_found: caller(404, 'conversation_not_found', "Conversation with id '{id}' not found."),
  conversation_item_not_found: caller(404, 'item_not_found', "Item with id '{id}' not found in the conversation."),
  conversations_not_kept: caller(
    400,
    'conversations_not_kept',
    'The gateway keeps no conversations of your account: the operator turns that on by `keepResponses` of its configuration. Without it, send all of the conversation as `input`.',
  ),
  item_not_found: caller(
    400,
    'item_not_found',
    "Item with id '{id}' not found: no upstream of this model keeps it for your account. Send the item itself, with all that it had in the reply.",
  ),
  unsupported_endpoint: caller(
    400,
    'unsupported_endpoint',
    'The model `{model}` is not served at this endpoint. Ask another endpoint, or for another model.',
  ),
  model_not_found: caller(404, 'model_not_found', 'The model `{model}` does not exist or you do not have access to it.{detail}'),

  // What the operator allows
  rate_limit_requests: { status: 429, type: 'requests', code: 'rate_limit_exceeded', fault: 'policy', message: '{detail}' },
  rate_limit_tokens: { status: 429, type: 'tokens', code: 'rate_limit_exceeded', fault: 'policy', message: '{detail}' },
  budget_exhausted: {
    status: 429,
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    fault: 'policy',
    message: '{detail}',
    retry: false,
  },
  price_unknown: {
    status: 403,
    type: INVALID,
    code: 'price_unknown',
    fault: 'policy',
    message:
      'The price of the model `{model}`{detail} is unknown, so a budget could not be kept. Ask the operator to give it a price, or use another model.',
    retry: false,
  },
  request_refused: { status: 403, type: INVALID, code: 'request_refused', fault: 'policy', message: '{detail}', retry: false },

  // The management API
  unknown_parameter: caller(400, 'unknown_parameter', "Unknown parameter: '{param}'."),
  not_signed_in: caller(
    401,
    'not_signed_in',
    'You are not signed in, or your session has ended. Sign in again; a program sends an admin key in an Authorization header.',
  ),
  sign_in_refused: caller(401, 'sign_in_refused', 'The e-mail address or the password is wrong.'),
  wrong_password: caller(
    403,
    'wrong_password',
    'This is not your current password. If it is lost, an admin can invite you again.',
  ),
  too_many_sign_in_attempts: {
    status: 429,
    type: 'requests',
    code: 'too_many_sign_in_attempts',
    fault: 'policy',
    message: 'Too many sign-in attempts. Try again in {seconds} seconds.',
  },
  too_many_streams: {
    status: 429,
    type: 'requests',
    code: 'too_many_streams',
    fault: 'policy',
    message: '{detail} Close one, or wait until one ends.',
  },
  confirmation_required: {
    status: 403,
    type: INVALID,
    code: 'confirmation_required',
    fault: 'policy',
    message: 'This change needs your password again, since you entered it more than 15 minutes ago.',
  },
  admin_required: { status: 403, type: INVALID, code: 'admin_required', fault: 'policy', message: 'Only an admin may do this.' },
  foreign_origin: caller(
    403,
    'foreign_origin',
    "This request does not come from the console's own pages. Programs authenticate by an admin key, not by a cookie.",
  ),
  foreign_host: caller(
    403,
    'foreign_host',
    'The metrics are not served to {host}, a name that is not of this machine: a page of another site could read them by it. Ask by 127.0.0.1 or localhost, or set UMG_METRICS_TOKEN.',
  ),
  object_not_found: caller(404, 'not_found', 'There is no {what} with this id.'),
  conflict: caller(409, 'conflict', '{detail}'),
  openid_failed: upstream(
    502,
    'openid_failed',
    'Signing in by the OpenID provider failed. Try again; if it fails again, contact the operator.',
  ),
  openid_refused: {
    status: 403,
    type: INVALID,
    code: 'openid_refused',
    fault: 'policy',
    message: 'Nobody here has this e-mail address. Ask an admin for an invitation.',
  },
  link_invalid: caller(410, 'link_invalid', 'This link has been used, withdrawn, or has expired. Ask for a new one.'),
  invalid_routes: caller(
    422,
    'invalid_routes',
    'The routing table has {errors} errors and was not loaded; the one before stays in use.',
  ),

  // The gateway itself
  internal_error: gateway(
    500,
    'internal_error',
    'The gateway had an error while processing your request. Retry it; if it persists, contact the operator with the x-request-id of this reply.',
  ),
  // Only in rows: the connection to the client ends with the process.
  process_killed: gateway(
    500,
    'process_killed',
    'The process that served the request was killed before the reply was complete. Repeat the request.',
  ),
  plugin_error: gateway(500, 'plugin_error', 'A plugin failed. Contact the operator with the x-request-id of this reply.'),
  storage_unavailable: gateway(
    503,
    'storage_unavailable',
    'The database of the gateway cannot be reached right now. Nothing was refused; retry shortly.',
  ),
  storage_busy: gateway(
    503,
    'storage_unavailable',
    'The database is busy: another process may hold a lock on it. Retry shortly; if it persists, the operator must find that process and end it.',
  ),
  storage_full: gateway(503, 'storage_unavailable', 'The disk of the database is full. The operator must free some space.'),
  storage_damaged: gateway(
    503,
    'storage_unavailable',
    'The database is damaged. The operator must end the gateway, restore a backup, and start it again.',
  ),
  service_unavailable: gateway(503, 'service_unavailable', 'The gateway is shutting down or overloaded. Retry shortly.'),
  kept_responses_unavailable: gateway(
    503,
    'kept_responses_unavailable',
    'The conversations that the gateway keeps cannot be read at the moment. Retry shortly, or send all of the conversation as `input`.',
    1,
  ),
  gateway_overloaded: gateway(
    503,
    'gateway_overloaded',
    'The gateway has reached a limit of its own. Retry shortly; if it persists, contact the operator, whose metric umg_shed_total names the limit.',
    1,
  ),
  limits_unavailable: gateway(
    503,
    'limits_unavailable',
    'The gateway cannot check your limits now. Retry shortly; if it persists, contact the operator, whose log says why.',
    1,
  ),
  workers_busy: gateway(503, 'gateway_overloaded', 'Too many large requests at once. Send them one after the other.', 1),

  // The upstream
  upstream_rejected: { status: 400, type: INVALID, code: null, fault: 'caller', message: '{detail}' },
  upstream_size_refused: {
    ...caller(
      413,
      'request_too_large',
      'The upstream does not take a request of this size. Send a shorter prompt, or ask for fewer tokens (`max_tokens`).',
    ),
    retry: false,
  },
  // 400, since few clients read `x-should-retry`: Codex 0.169 repeats any 5xx 30 times and most 4xx 6 times, opencode 1.18 any 5xx and any
  // body with `server_error` without end (tried on 2026-11-26).
  upstream_authentication_error: {
    ...caller(
      400,
      'upstream_authentication_error',
      "The upstream refused the gateway's credential. Your key is fine; contact the operator.",
    ),
    fault: 'upstream',
    retry: false,
  },
  upstream_model_not_found: {
    ...caller(
      400,
      'upstream_model_not_found',
      'The upstream does not know the model that the routing table names. Contact the operator.',
    ),
    fault: 'upstream',
    retry: false,
  },
  // By OpenAI's status and code: Codex repeats any 5xx, and not this.
  upstream_quota_exceeded: {
    status: 429,
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    fault: 'upstream',
    message: "The gateway's quota at the upstream is exhausted. Contact the operator.",
    retry: false,
  },
  // Codex reads the time from the words.
  upstream_rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    fault: 'upstream',
    message: 'The upstream is limiting the rate of requests. Please try again in {seconds}s.',
  },
  upstream_busy: {
    status: 503,
    type: SERVER,
    code: 'upstream_overloaded',
    fault: 'policy',
    message: 'The upstream has as many calls under way as the operator allows. Retry shortly.',
  },
  namespace_limit_reached: {
    status: 429,
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    fault: 'policy',
    message: 'The calls of all keys together have reached a limit that the operator sets for this model. {detail}',
  },
  upstream_circuit_open: upstream(
    503,
    'upstream_overloaded',
    'The upstream has failed too often: its circuit breaker is open. Retry after the time in the retry-after header.',
  ),
  previous_response_unavailable: upstream(
    503,
    'previous_response_unavailable',
    'The upstream has just refused the credential by which it keeps the previous response. Retry after the time in the retry-after header, or send all of the conversation as `input`.',
  ),
  upstream_error: upstream(502, 'upstream_error', 'The upstream had an error while processing your request.'),
  upstream_overloaded: upstream(503, 'upstream_overloaded', 'The upstream is overloaded. Retry shortly.'),
  upstream_invalid_response: upstream(502, 'upstream_invalid_response', 'The upstream gave a reply that is not valid.'),
  upstream_schema_mismatch: upstream(
    502,
    'schema_mismatch',
    "The model's answer does not fit the JSON schema of '{param}', which the model does not follow by itself. Send the call again, make the schema simpler, or choose a model that follows schemas.",
  ),
  upstream_timeout: upstream(504, 'upstream_timeout', 'The upstream did not answer in time.'),
  upstream_unreachable: upstream(502, 'upstream_unreachable', 'The upstream could not be reached.'),
  upstream_disconnected: upstream(
    502,
    'upstream_disconnected',
    'The upstream closed the connection before its reply was complete.',
  ),
} as const satisfies Record<string, Row>

/** The name of a row of `ERRORS`. */
export type ErrorName = keyof typeof ERRORS

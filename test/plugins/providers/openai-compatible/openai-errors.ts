const failure = (status: number, type: string, code: string | null, message = 'No.') => ({
  status,
  body: { error: { message, type, param: null, code } },
})

/** OpenAI's error replies, at any of its APIs. */
export const OPENAI_ERRORS = {
  badRequest: failure(400, 'invalid_request_error', 'invalid_value'),
  contextTooLong: failure(400, 'invalid_request_error', 'context_length_exceeded'),
  badCredential: failure(401, 'invalid_request_error', 'invalid_api_key'),
  unknownModel: failure(404, 'invalid_request_error', 'model_not_found'),
  rateLimit: failure(429, 'requests', 'rate_limit_exceeded'),
  quota: failure(429, 'insufficient_quota', 'insufficient_quota'),
  overloaded: failure(503, 'server_error', null),
  internal: failure(500, 'server_error', null),
}

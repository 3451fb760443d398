import { readRefusal, type UpstreamRefusal } from 'unified-model-gateway/plugin'
import type { Quirk } from './quirk.ts'

/** A prompt beyond the context is refused without a body. */
export const emptyOverflow: Quirk = {
  name: 'empty-overflow',

  error({ status, headers, body }) {
    if (body.trim() !== '' || (status !== 400 && status !== 413)) return readRefusal(status, headers, body)
    return { status, code: 'context_length_exceeded', message: 'The request exceeds the context of the model.' }
  },
}

/**
 * Errors are Google's, in an array: an invalid key is a 400 with a reason, and the details have the time to wait (google.rpc.ErrorInfo,
 * google.rpc.RetryInfo).
 */
export const googleError: Quirk = {
  name: 'google-error',

  error({ status, body }) {
    const { message, details } = readGoogleError(body)
    const isKeyInvalid = details.some(({ reason }) => reason === 'API_KEY_INVALID')
    const seconds = Number.parseFloat(String(details.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay))
    return {
      status: isKeyInvalid ? 401 : status,
      ...(typeof message === 'string' && { message }),
      ...(Number.isFinite(seconds) && { retryAfter: seconds }),
    } satisfies UpstreamRefusal
  },
}

interface GoogleError {
  readonly message?: unknown
  readonly details: readonly { readonly reason?: unknown; readonly retryDelay?: unknown }[]
}

function readGoogleError(body: string): GoogleError {
  try {
    const json = JSON.parse(body)
    const { message, details } = (Array.isArray(json) ? json[0] : json).error
    return { message, details: Array.isArray(details) ? details.filter((one) => typeof one === 'object' && one !== null) : [] }
  } catch {
    return { details: [] }
  }
}

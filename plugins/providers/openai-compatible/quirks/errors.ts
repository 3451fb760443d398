import type { UpstreamRefusal } from 'unified-model-gateway/plugin'
import type { Quirk } from './quirk.ts'

/** Errors have no `error` member, and the message of a 422 is a list: `{message: {detail: [{loc, msg}]}}`. */
export const mistralError: Quirk = {
  name: 'mistral-error',

  error({ status, body }): UpstreamRefusal {
    const message = messageOf(body)
    if (typeof message === 'string') return { status, message }
    const detail = firstDetail(message)
    return detail === undefined ? { status } : { status, message: `${detail.msg}: ${detail.param}`, param: detail.param }
  },
}

function messageOf(body: string): unknown {
  try {
    return JSON.parse(body)?.message
  } catch {
    return undefined
  }
}

/** `loc` is the path of the field: `["body", "messages", 0, "user", "name"]`. */
function firstDetail(message: unknown): { msg: string; param: string } | undefined {
  const detail: unknown = (message as { detail?: unknown[] } | undefined)?.detail?.[0]
  const { loc, msg } = (detail ?? {}) as { loc?: unknown; msg?: unknown }
  if (typeof msg !== 'string' || !Array.isArray(loc)) return undefined
  return { msg, param: loc.slice(1).join('.') }
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

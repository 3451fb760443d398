import type { UpstreamRefusal } from 'unified-model-gateway/plugin'
import type { TalkError } from './wire.ts'

/** What Parrot's kinds of trouble are in OpenAI's terms; for the others the status says enough. */
const KINDS: Readonly<Record<string, UpstreamRefusal>> = {
  too_long: { status: 400, code: 'context_length_exceeded', param: 'messages' },
  broke: { status: 429, code: 'insufficient_quota' },
  tired: { status: 503 },
}

/** What a reply with an error status means: core makes of it what the client may know. */
export function toRefusal({ status, body }: { readonly status: number; readonly body: string }): UpstreamRefusal {
  return refusalOf(status, parse(body))
}

/** What an error means, inside a stream too. */
export function refusalOf(status: number, error: Partial<TalkError> | undefined): UpstreamRefusal {
  const { kind = '', words } = error?.trouble ?? {}
  return { ...(KINDS[kind] ?? { status }), ...(words !== undefined && { message: words }) }
}

/** A proxy in front of Parrot may answer with anything. */
function parse(body: string): Partial<TalkError> | undefined {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

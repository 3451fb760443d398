import { GatewayError } from '../../errors.ts'

/** Quotes inside a text are escaped: only an event's own number matches. */
const NUMBER = /("sequence_number"\s*:\s*)\d+/

/** The frame of an event, with another number. */
export const renumbered = (frame: string, number: number): string => frame.replace(NUMBER, `$1${number}`)

/** Several frames, each with the blank line at its end. */
export const framesIn = (text: string): readonly string[] => text.split(/(?<=\n\r?\n)/)

const typeOf = (frame: string): string | undefined =>
  /^event: (\S+)/.exec(frame)?.[1] ?? /"type"\s*:\s*"([\w.]+)"/.exec(frame)?.[1]

/** Whether an event is not part of what is kept: the first one is the gateway's own, and the last one is made of the response that is kept. */
export const isFirstOrLast = (frame: string): boolean => FIRST_AND_LAST.has(typeOf(frame) ?? '')

const FIRST_AND_LAST: ReadonlySet<string> = new Set([
  'response.created',
  'response.completed',
  'response.incomplete',
  'response.failed',
])

/** The frame of an event that contains the response. */
export const responseFrame = (event: string, number: number, response: object): string => {
  const type = `response.${event}`
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, response })}\n\n`
}

/** A response, as its client got it. */
type AnyResponse = Readonly<Record<string, unknown>>

/** The response whose call has failed. Without an error its upstream has not answered. */
export function failedResponse(
  response: object,
  { code, message, type } = new GatewayError('upstream_invalid_response'),
): object {
  return { ...response, status: 'failed', error: { code: code ?? type, message } }
}

/** The response that its client has cancelled. */
export const cancelledResponse = (response: AnyResponse): object => ({ ...response, status: 'cancelled' })

/** Whether the call of a response has not ended. */
export const isPending = ({ status }: AnyResponse): boolean => status === 'queued' || status === 'in_progress'

/** Whether a response was made in the background. */
export const isInBackground = (response: AnyResponse): boolean => response.background === true

import { withLineEnds } from 'unified-model-gateway/plugin/testing'

/** The members of a reply that differ from the default. */
export interface ReplyOptions {
  /** Default: the same for each. */
  readonly responseId?: string
  readonly finishReason?: string
  readonly usage?: object
}

const USAGE = { promptTokenCount: 12, candidatesTokenCount: 7, totalTokenCount: 19 }
const HEAD = { modelVersion: 'gemini-3-flash-preview', responseId: 'b36LacjwM668nsEP2tbsgQQ' }

/** One event of `:streamGenerateContent?alt=sse`, with Google's line ends. */
export function event(data: object): string {
  return withLineEnds(`data: ${JSON.stringify(data)}\n\n`, '\r\n')
}

/** A reply of generateContent, whole and as the events of its stream: one part per event, and the finish in a last one. */
export function reply(
  parts: readonly object[],
  { finishReason = 'STOP', usage = USAGE, responseId = HEAD.responseId }: ReplyOptions = {},
) {
  const head = { ...HEAD, responseId }
  const candidate = (said: readonly object[], more: object = {}) => ({
    content: { parts: said, role: 'model' },
    ...more,
    index: 0,
  })
  const ending = { finishReason }
  return {
    whole: { candidates: [candidate(parts, ending)], usageMetadata: usage, ...head },
    stream: [
      ...parts.map((part) =>
        event({ candidates: [candidate([part])], usageMetadata: { ...usage, candidatesTokenCount: 1 }, ...head }),
      ),
      event({ candidates: [candidate([{ text: '' }], ending)], usageMetadata: usage, ...head }),
    ],
  }
}

/** A thought. */
export const thought = (text: string) => ({ text, thought: true })

/** A function call; those of the Gemini API may have an id. */
export const call = (name: string, args?: object, more: object = {}) => ({
  functionCall: { name, ...(args && { args }) },
  ...more,
})

/** An error reply of Google. */
export function failure(code: number, status: string, message: string, details: readonly object[] = []) {
  return { status: code, body: { error: { code, message, status, ...(details.length > 0 && { details }) } } }
}

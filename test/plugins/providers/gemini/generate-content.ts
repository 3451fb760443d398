import { withLineEnds } from 'unified-model-gateway/plugin/testing'

/** What of a reply may differ from the usual. */
export interface ReplyOptions {
  readonly finishReason?: string
  readonly usage?: object
}

const USAGE = { promptTokenCount: 12, candidatesTokenCount: 7, totalTokenCount: 19 }
const HEAD = { modelVersion: 'gemini-3-flash-preview', responseId: 'b36LacjwM668nsEP2tbsgQQ' }

/** One event of `:streamGenerateContent?alt=sse`, with the line ends that Google writes. */
export function event(data: object): string {
  return withLineEnds(`data: ${JSON.stringify(data)}\n\n`, '\r\n')
}

/** A reply of generateContent, whole and as the events of its stream: a part an event, the finish in one of its own. */
export function reply(parts: readonly object[], { finishReason = 'STOP', usage = USAGE }: ReplyOptions = {}) {
  const candidate = (said: readonly object[], more: object = {}) => ({
    content: { parts: said, role: 'model' },
    ...more,
    index: 0,
  })
  const ending = { finishReason }
  return {
    whole: { candidates: [candidate(parts, ending)], usageMetadata: usage, ...HEAD },
    stream: [
      ...parts.map((part) =>
        event({ candidates: [candidate([part])], usageMetadata: { ...usage, candidatesTokenCount: 1 }, ...HEAD }),
      ),
      event({ candidates: [candidate([{ text: '' }], ending)], usageMetadata: usage, ...HEAD }),
    ],
  }
}

/** Words of a thought. */
export const thought = (text: string) => ({ text, thought: true })

/** A function call; the Gemini API gives some an id. */
export const call = (name: string, args?: object, more: object = {}) => ({
  functionCall: { name, ...(args && { args }) },
  ...more,
})

/** A refusal of Google's, as its HTTP reply says it. */
export function failure(code: number, status: string, message: string, details: readonly object[] = []) {
  return { status: code, body: { error: { code, message, status, ...(details.length > 0 && { details }) } } }
}

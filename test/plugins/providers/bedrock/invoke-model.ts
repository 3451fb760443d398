import { json, type ReceivedRequest, reply, type Step } from 'unified-model-gateway/plugin/testing'
import { event, frame } from './support.ts'

/** The values of `anthropic-beta` that this upstream knows. */
const BETAS: ReadonlySet<unknown> = new Set([
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'tool-search-tool-2025-10-19',
])

/** A member that Bedrock takes from the path, or not at all. */
const EXTRANEOUS = ['model', 'stream', 'fallbacks']

type Members = Readonly<Record<string, unknown>>

const refused = (message: string): Step[] =>
  json({ message }, { status: 400, headers: { 'x-amzn-errortype': 'ValidationException:http://internal.amazon.com/' } })

/** What is wrong with a body of InvokeModel for Claude; undefined if nothing is. */
function complaint(body: Members, path: string): string | undefined {
  const extra = EXTRANEOUS.find((name) => name in body)
  if (extra !== undefined) return `${extra}: Extra inputs are not permitted`
  const isOld = /claude-(?:3|(?:opus|sonnet|haiku)-4-[0-6])/.test(path)
  const versions = ['bedrock-2023-05-31', ...(isOld ? [] : ['2026-10-21'])]
  if (!versions.includes(String(body.anthropic_version))) return `anthropic_version: ${body.anthropic_version} is not valid`
  if (typeof body.max_tokens !== 'number') return 'max_tokens: Field required'
  const betas = (body.anthropic_beta ?? []) as readonly unknown[]
  return betas.every((beta) => BETAS.has(beta)) ? undefined : 'invalid beta flag'
}

/**
 * Bedrock's runtime as it answers calls of Claude ("InvokeModel", "InvokeModelWithResponseStream" and "CountTokens", Amazon Bedrock API
 * reference): it refuses what Bedrock refuses. `message`: what Claude says, whole and as its events.
 */
export function invokeModel(message: { readonly whole: object; readonly stream: readonly object[] }) {
  return ({ path, headers, json: body }: ReceivedRequest): Step[] => {
    if (!headers.authorization?.startsWith('Bearer ') || 'anthropic-version' in headers || 'anthropic-beta' in headers) {
      return refused('unexpected headers')
    }
    const sent = body() as Members
    if (path.endsWith('/count-tokens')) {
      if (!path.startsWith('/model/anthropic.')) return refused("The provided model doesn't support counting tokens.")
      const { input } = sent as { readonly input: { readonly invokeModel: { readonly body: string } } }
      const wrong = complaint(JSON.parse(Buffer.from(input.invokeModel.body, 'base64').toString()), path)
      return wrong === undefined ? json({ inputTokens: 14 }) : refused(wrong)
    }
    const wrong = complaint(sent, path)
    if (wrong !== undefined) return refused(wrong)
    if (path.endsWith('/invoke')) return json(message.whole)
    return path.endsWith('/invoke-with-response-stream')
      ? chunks(message.stream.map((one) => chunkOf(one)))
      : refused('unknown operation')
  }
}

/** An event of the Messages API, or its text, in its frame, as Bedrock pads it. */
export function chunkOf(one: object | string): Buffer {
  const text = typeof one === 'string' ? one : JSON.stringify(one)
  return event({ chunk: { bytes: Buffer.from(text).toString('base64'), p: 'abcdefgh' } })
}

/** The frames of a stream. */
export const chunks = (frames: readonly Buffer[]): Step[] =>
  reply(frames, { framing: 'chunked', headers: { 'content-type': 'application/vnd.amazon.eventstream' } })

/** A frame of AWS's errors, which are no exceptions of the operation. */
export const errorFrame = (code: string, message: string): Buffer =>
  frame({ ':message-type': 'error', ':error-code': code, ':error-message': message }, {})

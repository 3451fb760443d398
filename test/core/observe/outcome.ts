import type { AttemptRecord, Outcome } from '../../../core/sdk/api.ts'

/** A successful attempt at gpt-5.5, with other fields as given. */
export function attempt(parts: Partial<AttemptRecord> = {}): AttemptRecord {
  return { namespace: 'openai', model: 'gpt-5.5', provider: 'openai-compatible', result: 'ok', start: 1, ms: 900, ...parts }
}

/** A successful stream from openai/gpt-5.5, with other fields as given. */
export function outcome(parts: Partial<Outcome> = {}): Outcome {
  return {
    kind: 'ok',
    status: 200,
    endpoint: 'chat.completions',
    model: { id: 'openai/gpt-5.5', namespace: 'openai', model: 'gpt-5.5' },
    stream: true,
    served: { namespace: 'openai', model: 'gpt-5.5', provider: 'openai-compatible' },
    attempts: [attempt()],
    links: [{ name: 'auth', ms: 0.25 }],
    usage: { prompt_tokens: 20, completion_tokens: 11, total_tokens: 31 },
    usageEstimated: false,
    times: { total: 1000, firstByte: 400, overhead: 2 },
    ...parts,
  }
}

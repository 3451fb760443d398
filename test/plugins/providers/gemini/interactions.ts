import { event } from 'unified-model-gateway/plugin/testing'

/** A step of an interaction, as a whole reply has it, and the deltas of a stream that say it. */
interface Step {
  readonly whole: object
  readonly start: object
  readonly deltas: readonly object[]
}

/** A text in pieces. */
export const output = (...pieces: readonly string[]): Step => ({
  whole: { type: 'model_output', content: [{ type: 'text', text: pieces.join('') }] },
  start: { type: 'model_output' },
  deltas: pieces.map((text) => ({ type: 'text', text })),
})

/** A thought with its summary in pieces, and its signature as the last delta. */
export const thought = (signature: string, ...pieces: readonly string[]): Step => ({
  whole: { type: 'thought', signature, summary: pieces.map((text) => ({ type: 'text', text })) },
  start: { type: 'thought' },
  deltas: [
    ...pieces.map((text) => ({ type: 'thought_summary', content: { type: 'text', text } })),
    { type: 'thought_signature', signature },
  ],
})

/** A call, whose arguments come in two pieces; none come where they are `{}`. */
export function call(id: string, name: string, args: object = {}): Step {
  const head = { type: 'function_call', id, name }
  const json = JSON.stringify(args)
  const pieces = json === '{}' ? [] : [json.slice(0, 4), json.slice(4)]
  return {
    whole: { ...head, arguments: args },
    start: { ...head, arguments: {} },
    deltas: pieces.map((piece) => ({ type: 'arguments_delta', arguments: piece })),
  }
}

/** An event of a stream of the Interactions API ("Streaming interactions", ai.google.dev). */
export const interactionEvent = (event_type: string, members: object): string => event({ ...members, event_type }, event_type)

/** The end of a stream. */
const DONE = 'event: done\ndata: [DONE]\n\n'

const USAGE = { total_input_tokens: 12, total_output_tokens: 7, total_tokens: 19 }

/** The members of an interaction that differ from the default. */
interface Members {
  readonly status?: string
  readonly usage?: object
  readonly errors?: readonly object[]
}

/** An interaction that is not stored: whole, and as the events of its stream. */
export function interaction(steps: readonly Step[], { status, usage = USAGE, ...more }: Members = {}) {
  const asksForTools = steps.some(({ start }) => (start as { type: string }).type === 'function_call')
  const head = { id: '', object: 'interaction', model: 'gemini-3-flash-preview' }
  const ended = {
    ...head,
    status: status ?? (asksForTools ? 'requires_action' : 'completed'),
    usage,
    service_tier: 'standard',
    ...more,
  }
  return {
    whole: { ...ended, steps: steps.map(({ whole }) => whole) },
    stream: [
      interactionEvent('interaction.created', { interaction: { ...head, status: 'in_progress' } }),
      interactionEvent('interaction.status_update', { interaction_id: '', status: 'in_progress' }),
      ...steps.flatMap(({ start, deltas }, index) => [
        interactionEvent('step.start', { index, step: start }),
        ...deltas.map((delta) => interactionEvent('step.delta', { index, delta })),
        interactionEvent('step.stop', { index }),
      ]),
      interactionEvent('interaction.completed', { interaction: ended }),
      DONE,
    ],
  }
}

/** An error reply of the Interactions API ("API errors", ai.google.dev). */
export const failure = (status: number, code: string, message: string) => ({ status, body: { error: { code, message } } })

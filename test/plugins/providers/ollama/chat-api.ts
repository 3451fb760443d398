/** The members of a reply that differ from the default. */
export interface ReplyOptions {
  readonly done_reason?: string
  readonly counts?: object
}

/** A piece of a message: text, thinking, tool calls. */
export interface Piece {
  readonly content?: string
  readonly thinking?: string
  readonly tool_calls?: readonly {
    readonly id?: string
    readonly function: { readonly name: string; readonly arguments?: object }
  }[]
}

const HEAD = { model: 'gpt-oss:20b', created_at: '2026-08-21T17:21:21.196249Z' }
const COUNTS = { total_duration: 174560334, load_duration: 101397084, prompt_eval_count: 12, eval_count: 7, eval_duration: 4 }

/** One line of a stream. */
export const line = (data: object): string => `${JSON.stringify(data)}\n`

/** A call of a tool, the `index`th of a message. */
export const call = (index: number, name: string, values: object, id = `call_${index}x7`): Piece => ({
  tool_calls: [{ id, function: { name, arguments: values } }],
})

/** A reply of `/api/chat`, whole and as the lines of its stream: one piece per line, and a last line. */
export function reply(pieces: readonly Piece[], { done_reason = 'stop', counts = COUNTS }: ReplyOptions = {}) {
  const join = (name: 'content' | 'thinking') => pieces.map((piece) => piece[name] ?? '').join('')
  const calls = pieces.flatMap(({ tool_calls = [] }) => tool_calls)
  const message = (said: Piece) => ({ role: 'assistant', content: '', ...said })
  const whole: Piece = {
    content: join('content'),
    ...(join('thinking') && { thinking: join('thinking') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    whole: { ...HEAD, message: message(whole), done: true, done_reason, ...counts },
    stream: [
      ...pieces.map((piece) => line({ ...HEAD, message: message(piece), done: false })),
      line({ ...HEAD, message: message({}), done: true, done_reason, ...counts }),
    ],
  }
}

/** An error reply of Ollama. */
export const failure = (status: number, error: string) => ({ status, body: { error } })

import { useEffect, useRef, useState } from 'react'
import { type Answer, add, NO_ANSWER, parse, readStream, STOPPED } from './answer.ts'
import type { Turn } from './settings.ts'

const COMPLETIONS = '/v1/chat/completions'

/** A message and its answer, as far as it was received. */
export interface Exchange {
  readonly id: number
  readonly message: string
  readonly answer: Answer
}

/** The turns that a request repeats: those of a message that the model answered, if only in part. */
export const turnsOf = (exchanges: readonly Exchange[]): readonly Turn[] =>
  exchanges.flatMap(({ message, answer }): Turn[] =>
    answer.text === ''
      ? []
      : [
          { role: 'user', content: message },
          { role: 'assistant', content: answer.text },
        ],
  )

/** The turns of the request that the last message made. */
export const lastTurns = (exchanges: readonly Exchange[]): readonly Turn[] =>
  exchanges.slice(-1).flatMap(({ message }): Turn[] => [...turnsOf(exchanges.slice(0, -1)), { role: 'user', content: message }])

/** How to ask: with which key, and with which body. */
export interface Question {
  readonly secret: string
  readonly bodyOf: (turns: readonly Turn[]) => object
}

let lastId = 0

/** A conversation. Each message is sent as any client does, with its own key, and can be stopped, repeated and removed. */
export function useConversation() {
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([])
  const [running, setRunning] = useState(false)
  const stopper = useRef<AbortController>(undefined)

  useEffect(() => () => stopper.current?.abort(), [])

  /** `before`: the exchanges that the message follows. */
  async function ask({ secret, bodyOf }: Question, message: string, before: readonly Exchange[]): Promise<void> {
    const controller = new AbortController()
    stopper.current = controller
    lastId++
    const id = lastId
    const asked = [...before, { id, message, answer: NO_ANSWER }]
    setExchanges(asked)
    setRunning(true)
    const began = performance.now()
    let latest = NO_ANSWER
    const update = (answer: Answer): void => {
      latest = answer
      // A removed exchange shows no more of its answer.
      setExchanges((now) => now.map((exchange) => (exchange.id === id ? { ...exchange, answer } : exchange)))
    }
    try {
      const body = bodyOf(lastTurns(asked))
      update(await exchange({ secret, body, signal: controller.signal, began, onChange: update }))
    } catch {
      // The gateway says why a reply breaks off, and then breaks the connection, which is not a cause of its own.
      const cause = controller.signal.aborted ? STOPPED : (latest.error ?? 'The connection to the gateway was lost.')
      update({ ...latest, error: cause })
    }
    update({ ...latest, totalMs: performance.now() - began })
    if (stopper.current === controller) setRunning(false)
  }

  /** Returns what puts them back, at their place. */
  function takeOut(gone: readonly Exchange[]): () => void {
    const ids = new Set(gone.map(({ id }) => id))
    setExchanges((now) => now.filter(({ id }) => !ids.has(id)))
    return () => setExchanges((now) => [...now, ...gone].toSorted((one, other) => one.id - other.id))
  }

  function clear(): () => void {
    stopper.current?.abort()
    stopper.current = undefined
    setRunning(false)
    return takeOut(exchanges)
  }

  return {
    exchanges,
    running,
    send: (question: Question, message: string) => ask(question, message, exchanges),
    /** Sends the last message again, in place of its answer. */
    retry: (question: Question) => ask(question, exchanges.at(-1)!.message, exchanges.slice(0, -1)),
    /** Removes an exchange; returns what undoes that. */
    remove: (id: number) => takeOut(exchanges.filter((exchange) => exchange.id === id)),
    /** Removes all exchanges; returns what undoes that. */
    clear,
    stop: () => stopper.current?.abort(),
  }
}

/** A request, and the handler of its reply. */
interface Request {
  readonly secret: string
  readonly body: object
  readonly signal: AbortSignal
  readonly began: number
  readonly onChange: (answer: Answer) => void
}

async function exchange({ secret, body, signal, began, onChange }: Request): Promise<Answer> {
  const response = await fetch(COMPLETIONS, {
    method: 'POST',
    // Without the session's cookie: the key alone authenticates.
    credentials: 'omit',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  })
  const head: Answer = { ...NO_ANSWER, ...factsOf(response), firstByteMs: performance.now() - began }
  onChange(head)
  if (response.headers.get('content-type')?.startsWith('text/event-stream') && response.body !== null)
    return readStream(response.body, head, onChange)
  const raw = await response.text()
  return add({ ...head, raw }, parse(raw))
}

function factsOf({ status, headers }: Response): Partial<Answer> {
  const requestId = headers.get('x-request-id')
  const namespace = headers.get('x-umg-namespace')
  return {
    status,
    ...(requestId !== null && { requestId }),
    ...(namespace !== null && { servedBy: `${namespace}/${headers.get('x-umg-model')}` }),
  }
}

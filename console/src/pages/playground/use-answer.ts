import { useEffect, useRef, useState } from 'react'
import { type Answer, add, NO_ANSWER, parse, readStream, STOPPED } from './answer.ts'

const COMPLETIONS = '/v1/chat/completions'

/** Sends a request as any client does, with its own key, and can stop it. */
export function useAnswer() {
  const [answer, setAnswer] = useState<Answer>(NO_ANSWER)
  const [running, setRunning] = useState(false)
  const stopper = useRef<AbortController>(undefined)

  useEffect(() => () => stopper.current?.abort(), [])

  async function ask(secret: string, body: object): Promise<Answer> {
    const controller = new AbortController()
    stopper.current = controller
    setRunning(true)
    const began = performance.now()
    let latest = NO_ANSWER
    const update = (next: Answer): void => {
      latest = next
      // A cleared conversation shows no more of its reply.
      if (stopper.current === controller) setAnswer(next)
    }
    update(NO_ANSWER)
    try {
      update(await exchange({ secret, body, signal: controller.signal, began, onChange: update }))
    } catch {
      update({ ...latest, error: controller.signal.aborted ? STOPPED : 'The connection to the gateway was lost.' })
    }
    update({ ...latest, totalMs: performance.now() - began })
    setRunning(false)
    return latest
  }

  function clear(): void {
    stopper.current?.abort()
    stopper.current = undefined
    setAnswer(NO_ANSWER)
  }

  return { answer, running, ask, clear, stop: () => stopper.current?.abort() }
}

/** A request, and the handler of its reply. */
interface Exchange {
  readonly secret: string
  readonly body: object
  readonly signal: AbortSignal
  readonly began: number
  readonly onChange: (answer: Answer) => void
}

async function exchange({ secret, body, signal, began, onChange }: Exchange): Promise<Answer> {
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

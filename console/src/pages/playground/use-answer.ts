import { useEffect, useRef, useState } from 'react'
import { type Answer, add, NO_ANSWER, parse, readStream, STOPPED } from './answer.ts'

const COMPLETIONS = '/v1/chat/completions'

/** Asks the gateway as any client does, with a key of its own, and stops when told. */
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
    const tell = (next: Answer): void => {
      latest = next
      // Of a conversation that was ended nothing more is to be seen.
      if (stopper.current === controller) setAnswer(next)
    }
    tell(NO_ANSWER)
    try {
      tell(await exchange({ secret, body, signal: controller.signal, began, tell }))
    } catch {
      tell({ ...latest, error: controller.signal.aborted ? STOPPED : 'The connection to the gateway was lost.' })
    }
    tell({ ...latest, totalMs: performance.now() - began })
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

/** One request, and who hears of its reply. */
interface Exchange {
  readonly secret: string
  readonly body: object
  readonly signal: AbortSignal
  readonly began: number
  readonly tell: (answer: Answer) => void
}

async function exchange({ secret, body, signal, began, tell }: Exchange): Promise<Answer> {
  const response = await fetch(COMPLETIONS, {
    method: 'POST',
    // Who is signed in plays no part: the key alone decides.
    credentials: 'omit',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  })
  const head: Answer = { ...NO_ANSWER, ...factsOf(response), firstByteMs: performance.now() - began }
  tell(head)
  if (response.headers.get('content-type')?.startsWith('text/event-stream') && response.body !== null)
    return readStream(response.body, head, tell)
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

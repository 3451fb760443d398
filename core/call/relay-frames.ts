import type { Relay } from '../dispatch/relay.ts'

/**
 * Sends frames to the client of a stream, no faster than it reads. Rejects, and leaves the stream open, if they do: in the turn of the event loop
 * in which the first frame came, before the client has a byte.
 */
export async function relayFrames(relay: Relay, signal: AbortSignal, frames: AsyncIterable<string>): Promise<void> {
  let paused: PromiseWithResolvers<void> | undefined
  const source = {
    pause: () => {
      paused ??= Promise.withResolvers()
    },
    resume: () => {
      paused?.resolve()
      paused = undefined
    },
  }
  relay.attach(source, 'utf8')
  signal.addEventListener('abort', source.resume)
  let committing: NodeJS.Immediate | undefined
  try {
    for await (const frame of frames) {
      signal.throwIfAborted()
      relay.push(frame, true)
      relay.flush()
      committing ??= setImmediate(() => relay.commit())
      await paused?.promise
    }
  } catch (error) {
    clearImmediate(committing)
    throw error
  }
  relay.end('')
  relay.finish()
}

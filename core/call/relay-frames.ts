import type { Relay } from '../dispatch/relay.ts'

/** Sends frames to the client of a stream, no faster than it reads. Rejects, and leaves the stream open, if they do. */
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
  for await (const frame of frames) {
    signal.throwIfAborted()
    relay.push(frame, true)
    relay.flush()
    if (relay.begun) relay.commit()
    await paused?.promise
  }
  relay.end('')
  relay.finish()
}

import assert from 'node:assert/strict'

/** An event of a stream whose events have types. */
export type ReadEvent = Readonly<Record<string, unknown>>

/** The events of a stream, without the comments, which keep a connection open and which clients ignore. Throws an `AssertionError` for bad frames. */
export function readFrames(text: string): ReadEvent[] {
  assert.ok(text.endsWith('\n\n'), `a stream ends with a whole frame: ${JSON.stringify(text.slice(-80))}`)
  const frames = text.split('\n\n').slice(0, -1)
  return frames.filter((one) => !one.startsWith(':')).map(readFrame)
}

function readFrame(frame: string): ReadEvent {
  const [, type, data] = /^event: ([\w.]+)\ndata: (\{[^\n]*\})$/.exec(frame) ?? []
  assert.ok(data !== undefined, `an event is its type and one line of JSON: ${frame}`)
  const event = JSON.parse(data)
  assert.equal(event.type, type, 'the type of an event is that of its data')
  return event
}

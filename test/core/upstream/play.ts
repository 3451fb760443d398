import { Relay } from '../../../core/dispatch/relay.ts'
import { GatewayError } from '../../../core/errors.ts'
import { type ClientWire, OPENAI_WIRE } from '../../../core/protocol/client-protocol.ts'
import { UpstreamError } from '../../../core/sdk/api.ts'
import { refusalError } from '../../../core/upstream/failures.ts'
import type { BodyReader } from '../../../core/upstream/readers/reader.ts'
import { FakeClient } from './fake-client.ts'

/** What a client has of a stream. */
export interface Heard {
  readonly text: string
  readonly ending: FakeClient['ending']
  /** Why it failed, where it did. */
  readonly failure?: GatewayError
}

/** Makes the reader of one stream. */
export type MakeReader = (relay: Relay) => BodyReader

const HEARTBEAT_MS = 60_000

/** Reads a body in these pieces, to an end that HTTP takes for one, and sends its stream to a client whose head goes out at the first commit. */
export function play(make: MakeReader, pieces: Iterable<Buffer>, wire: ClientWire = OPENAI_WIRE): Heard {
  const client = new FakeClient()
  const relay = new Relay(HEARTBEAT_MS, wire)
  const reader = make(relay)
  const commit = (stream: Relay): void => {
    stream.commit()
    if (!stream.opened) stream.open(client.response)
  }
  try {
    for (const piece of pieces) {
      if (!relay.ended) reader.data(piece)
      if (relay.begun) commit(relay)
    }
    if (!relay.ended) reader.end()
    if (!relay.opened) relay.open(client.response)
    else if (relay.ended && client.ending === 'open') relay.finish()
    return { text: client.text, ending: client.ending }
  } catch (thrown) {
    const context = { asked: 'open/m', passedThrough: undefined, hidden: [] }
    const failure = thrown instanceof UpstreamError ? refusalError(thrown.refusal, context) : thrown
    if (!(failure instanceof GatewayError)) throw failure
    // As if the end had come in a turn of its own.
    if (relay.begun) commit(relay)
    if (relay.opened) relay.fail(failure)
    return { text: client.text, ending: client.ending, failure }
  } finally {
    relay.close()
  }
}

/** The bytes in pieces that end at these places. */
export function split(bytes: Buffer, places: readonly number[]): Buffer[] {
  const edges = [0, ...places, bytes.length]
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge))
}

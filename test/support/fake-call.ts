import type { Attempt, Call, ChatRequest } from 'unified-model-gateway/plugin'
import { scanObject, setPointer, spliceObject } from '../../core/protocol/json.ts'

/** A `Call` made from a body only. */
export interface FakeCall extends Call {
  /** Whether `body` was read: a pass-through provider must not read it. */
  readonly parsed: boolean
}

/** Changes to the defaults of a fake call. */
export type FakeCallOptions = Partial<Pick<Call, 'id' | 'headers'>>

/** A call with this body: a text becomes its bytes, an object is added to a minimal request. */
export function fakeCall(body: string | Readonly<Record<string, unknown>> = {}, options: FakeCallOptions = {}): FakeCall {
  const text = typeof body === 'string' ? body : JSON.stringify({ ...MINIMAL, ...body })
  let bytes: Buffer<ArrayBufferLike> = Buffer.from(text)
  let parsed: ChatRequest | undefined
  const member = (key: string): unknown => {
    const found = scanObject(bytes).members.find((one) => one.key === key)
    return found && JSON.parse(bytes.toString('utf8', found.start, found.end))
  }
  const id = String(member('model'))
  const streamOptions = member('stream_options') as ChatRequest['stream_options']
  return {
    id: 'req_fake',
    headers: HEADERS,
    ...options,
    endpoint: 'chat.completions',
    model: { id, namespace: id.slice(0, id.indexOf('/')), model: id.slice(id.indexOf('/') + 1) },
    stream: member('stream') === true,
    includeUsage: streamOptions?.include_usage === true,
    choices: (member('n') as number | undefined) ?? 1,
    size: bytes.length,
    large: false,
    media: { pictures: 0, files: 0 },
    keptTokens: 0,
    keys: scanObject(bytes).members.map(({ key }) => key),
    member,
    mayHave: (names) => names.some((name) => bytes.includes(`"${name}"`)),
    get body() {
      parsed ??= JSON.parse(bytes.toString()) as ChatRequest
      return parsed
    },
    get parsed() {
      return parsed !== undefined
    },
    splice: (members) => spliceObject(bytes, scanObject(bytes).members, members),
    edit(pointer, value) {
      const edited = structuredClone(this.body)
      setPointer(edited, pointer, value)
      bytes = Buffer.from(JSON.stringify(edited))
      parsed = undefined
    },
  }
}

/** The first attempt at the call's model, with a signal that is never aborted. */
export function fakeAttempt(call: Call, overrides: Partial<Attempt> = {}): Attempt {
  const { signal } = new AbortController()
  return { number: 1, model: call.model.model, signal, credentialRefused: false, ...overrides }
}

/** A minimal call and its first attempt: the arguments of `request` and `translator`. */
export function fakeCallAndAttempt(): [Call, Attempt] {
  const call = fakeCall()
  return [call, fakeAttempt(call)]
}

const MINIMAL = { model: 'test/some-model', messages: [{ role: 'user', content: 'Hello' }] }

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': 'unified-model-gateway',
  'x-request-id': 'req_fake',
}

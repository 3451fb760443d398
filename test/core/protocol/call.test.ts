import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { GatewayError } from '../../../core/errors.ts'
import { type CallContext, ClientCall, modelNotFound, UNCOUNTED, withDefaults } from '../../../core/protocol/call.ts'
import { chatCompletions } from '../../../core/protocol/chat-completions.ts'
import { JsonBody } from '../../../core/protocol/json-body.ts'
import { messages } from '../../../core/protocol/messages/endpoint.ts'
import { asSent, translated } from '../../../core/protocol/translation.ts'
import type { ModelId } from '../../../core/sdk/api.ts'

const HELLO = '"messages":[{"role":"user","content":"Hello"}]'
const GOOD = `{"model":"ns/a/b",${HELLO}}`

function clientCall(text: string, upstreamHeaders: Readonly<Record<string, string>> = {}, decided = false): ClientCall {
  const context: CallContext = {
    id: 'req_1',
    endpoint: 'chat.completions',
    check: chatCompletions.check,
    resolve(name): ModelId {
      const slash = name.indexOf('/')
      if (slash < 0) throw modelNotFound(name)
      return { id: name, namespace: name.slice(0, slash), model: name.slice(slash + 1) }
    },
    upstreamHeaders,
    memory: UNCOUNTED,
    decided,
  }
  return new ClientCall(context, JsonBody.read(Buffer.from(text), context))
}

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Whether an object is unreachable. It is kept to the end of the turn of the event loop in which it was used. */
async function isCollected(ref: WeakRef<object>): Promise<boolean> {
  await setImmediate()
  collectGarbage()
  // The first collection may end a marking that was in progress, which keeps all objects that are newer.
  collectGarbage()
  return ref.deref() === undefined
}

/** The same text past the size up to which a body is parsed whole. */
const enlarged = (text: string): string => text.replace(/\}\s*$/, `,"x_padding":${JSON.stringify('x'.repeat(20_000))}$&`)

/** The error that a text meets by the time its model is known. */
function refusal(text: string): ReturnType<GatewayError['toJSON']>['error'] {
  try {
    void clientCall(text).model
  } catch (error) {
    expect(error).to.be.instanceOf(GatewayError)
    return (error as GatewayError).toJSON().error
  }
  return expect.fail(`taken: ${text.slice(0, 200)}`)
}

const SIZES = [
  ['small', (text: string) => text],
  ['large', enlarged],
] as const

const FILL = 'x'.repeat(2_000)

describe('a client’s call', () => {
  for (const [size, sized] of SIZES) {
    it(`reads the fields of its ${size} body`, () => {
      const call = clientCall(
        sized(`{"stream":true,"stream_options":{"include_usage":true},"n":3,"mod\\u0065l":"ns/a/b",${HELLO}}`),
      )
      expect(call.model).to.deep.equal({ id: 'ns/a/b', namespace: 'ns', model: 'a/b' })
      expect([call.stream, call.includeUsage, call.choices]).to.deep.equal([true, true, 3])
    })

    it(`has defaults for the absent fields of its ${size} body`, () => {
      for (const text of [GOOD, GOOD.replace('{', '{"stream":null,"stream_options":null,"n":null,')]) {
        const call = clientCall(sized(text))
        expect([call.stream, call.includeUsage, call.choices]).to.deep.equal([false, false, 1])
      }
    })

    it(`returns the members of its ${size} body, and no inherited ones`, () => {
      const call = clientCall(sized(GOOD.replace('{', '{"seed":7,"x":null,"__proto__":{"a":1},"t\\u006fols":[],')))
      expect(['seed', 'x', 'tools', '__proto__', 'n'].map((key) => call.member(key))).to.deep.equal([
        7,
        null,
        [],
        { a: 1 },
        undefined,
      ])
      expect(['toString', 'constructor', 'hasOwnProperty'].map((key) => call.member(key))).to.deep.equal([
        undefined,
        undefined,
        undefined,
      ])
    })

    it(`parses its ${size} body`, () => {
      expect(clientCall(sized(GOOD)).body).to.deep.equal(JSON.parse(sized(GOOD)))
    })

    it(`replaces only the given fields in the bytes of its ${size} body`, () => {
      const text = sized(
        '{ "seed": 9007199254740993, "model" :"ns/a/b", "messages":[{"role":"user","content":"\\u0048i"}], "a":1e999 }',
      )
      const sent = clientCall(text).splice({ model: 'b', seed: undefined, stream_options: { include_usage: true } })
      const expected = text
        .replace('{ "seed": 9007199254740993, ', '{"stream_options":{"include_usage":true}, ')
        .replace('ns/a/b', 'b')
      expect(JSON.parse(sent.toString())).to.deep.equal(JSON.parse(expected))
      expect(sent.toString()).to.include('"model" :"b", "messages":[{"role":"user","content":"\\u0048i"}], "a":1e999')
    })
  }

  for (const [what, text] of [
    ['no model', `{${HELLO}}`],
    ['a model of null', `{"model":null,${HELLO}}`],
    ['a model that is a number', `{"model":7,${HELLO}}`],
    ['a model that is an object', `{"model":{},${HELLO}}`],
    ['a model that is nowhere', `{"model":"nowhere",${HELLO}}`],
    ['a model with an odd name', `{"model":"\\u0000\\ud800",${HELLO}}`],
    ['two models', `{"model":"ns/a","model":"ns/b",${HELLO}}`],
    ['two models, one escaped', `{"model":"ns/a","m\\u006fdel":"ns/b",${HELLO}}`],
    ['two of something else', `{"model":"ns/a","user":"a","user":"b",${HELLO}}`],
    ['two members of a very long name', `{"model":"ns/a","${FILL}":1,"${FILL}":1,${HELLO}}`],
    ['a model in another case beside its own', `{"model":"ns/a","Model":"ns/b",${HELLO}}`],
    ['messages in another case beside their own', `{"model":"ns/a",${HELLO},${HELLO.replace('m', 'M')}}`],
    ['no messages', '{"model":"ns/a"}'],
    ['empty messages', '{"model":"ns/a","messages":[]}'],
    ['messages that are a text', '{"model":"ns/a","messages":"Hi"}'],
    ['messages that are a long text', `{"model":"ns/a","messages":"${FILL}"}`],
    ['messages that are an object', '{"model":"ns/a","messages":{}}'],
    ['messages that are a large object', `{"model":"ns/a","messages":{"x":"${FILL}"}}`],
    ['a temperature in words', `{"model":"ns/a","temperature":"hot",${HELLO}}`],
    ['a temperature in many words', `{"model":"ns/a","temperature":"${FILL}",${HELLO}}`],
    ['a temperature past all numbers', `{"model":"ns/a","temperature":1e999,${HELLO}}`],
    ['half a choice', `{"model":"ns/a","n":0.5,${HELLO}}`],
    ['a stream that is a text', `{"model":"ns/a","stream":"yes",${HELLO}}`],
    ['stream options without a stream', `{"model":"ns/a","stream_options":{},${HELLO}}`],
    ['an odd tool', `{"model":"ns/a","tools":[{"type":"function"}],${HELLO}}`],
    ['a number that is none', `{"model":"ns/a","seed":1.2.3,${HELLO}}`],
    ['an escape that is none', `{"model":"ns/a","user":"\\x",${HELLO}}`],
    ['a line break in a string', `{"model":"ns/a","user":"a\nb",${HELLO}}`],
    ['a comma too many', `{"model":"ns/a",${HELLO},}`],
    ['too many levels', `{"model":"ns/a",${HELLO},"x":${'['.repeat(65)}${']'.repeat(65)}}`],
  ] as const) {
    it(`is refused with the same error, small or large, for ${what}`, () => {
      const small = refusal(text)
      expect(refusal(enlarged(text))).to.deep.equal(small)
      expect(small.message.length).to.be.below(400)
    })
  }

  it('with a field in the wrong case is refused with the right name', () => {
    for (const [key, field] of [
      ['MODEL', 'model'],
      ['N', 'n'],
      ['Response_Format', 'response_format'],
      ['max_token\u017f', 'max_tokens'],
      ['max_to\u212aens', 'max_tokens'],
    ]) {
      expect(refusal(`{"${key}":1,"model":"ns/a",${HELLO}}`)).to.deep.equal({
        message: `Unknown parameter: '${key}'. Write it as '${field}': the case of letters counts.`,
        type: 'invalid_request_error',
        param: key,
        code: 'unknown_parameter',
      })
    }
  })

  it('with a large body is refused for an inner error only when the body is parsed', () => {
    const text = enlarged(`{"model":"ns/a","messages":[{"role":"user","content":"${FILL}"},{"role":"boss"}]}`)
    const call = clientCall(text)
    expect(call.splice({}).toString()).to.equal(text)
    expect(() => call.body)
      .to.throw(GatewayError)
      .with.property('param', 'messages[1].role')
  })

  it('keeps only the bytes of a large body while it waits', async () => {
    const text = enlarged(GOOD)
    const edited = clientCall(text)
    edited.edit('/n', 2)
    for (const [call, expected] of [
      [clientCall(text), JSON.parse(text)],
      [edited, { ...JSON.parse(text), n: 2 }],
      [withDefaults(clientCall(text), { n: 2 }), { ...JSON.parse(text), n: 2 }],
    ] as const) {
      const messages = new WeakRef(call.body.messages)
      expect(await isCollected(messages)).to.equal(true)
      expect(call.body).to.deep.equal(expected)
      expect(call.body.messages, 'it is parsed once for all who look at it').to.equal(call.body.messages)
    }
  })

  it('says which members it may have, at any depth, without being parsed', () => {
    const answer = (members: string) =>
      clientCall(`{"model":"ns/a","messages":[{"role":"assistant","content":"reasoning_content"${members}}]}`)
    expect(answer('').mayHave(['reasoning_content', 'extra_content'])).to.equal(false)
    expect(answer(',"reasoning_content":"Hm."').mayHave(['extra_content', 'reasoning_content'])).to.equal(true)
    expect(answer(',"reasoning\\u005fcontent":"Hm."').mayHave(['reasoning_content'])).to.equal(true)
    expect(answer(',"more":[{"extra_content":{}}]').mayHave(['extra_content'])).to.equal(true)
    expect(answer(',"tool_calls":[]').mayHave(['tool_call_id'])).to.equal(false)
    expect(answer(',"tool_calls":[]').mayHave(['tool_calls'])).to.equal(true)
    expect(answer(',"tool\\u005fcalls":[]').mayHave(['tool_calls'])).to.equal(true)
    // A member of the request is no part of an answer.
    expect(clientCall(`{"model":"ns/a","reasoning":{},"thinking":{},${HELLO}}`).mayHave(['reasoning', 'thinking'])).to.equal(
      false,
    )
  })

  it('is refused for keys that JSON.parse and the upstream read differently', () => {
    // What it learns, it learns of bodies that begin alike.
    const body = (key: string): string => `{"x_taught":0,"${key}":-2,"model":"ns/a",${HELLO}}`
    expect(clientCall(body('max_token\\\\')).member('max_token\\')).to.equal(-2)
    expect(refusal(body('max_token\\u0073'))).to.include({ param: 'max_tokens' })
  })

  it('has the headers of links, except those of framing and authorisation', () => {
    const { headers } = clientCall(GOOD, { 'x-team': 'blue', 'content-type': 'text/plain', accept: '*/*' })
    expect(headers).to.deep.equal({
      'x-team': 'blue',
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'unified-model-gateway',
      'x-request-id': 'req_1',
    })
    expect(clientCall(GOOD.replace('{', '{"stream":true,')).headers).to.include({ accept: 'text/event-stream' })
  })

  it('of another protocol has no headers of that protocol for other upstreams, unless a link sets them', () => {
    const context: CallContext = {
      id: 'req_1',
      endpoint: messages.name,
      check: messages.check,
      resolve: (name) => ({ id: name, namespace: 'ns', model: 'a' }),
      upstreamHeaders: { 'anthropic-beta': 'of-a-link' },
      clientHeaders: { 'anthropic-beta': 'of-the-client', 'anthropic-version': '2023-06-01' },
      memory: UNCOUNTED,
      decided: false,
    }
    const body = JsonBody.read(Buffer.from(`{"model":"ns/a","max_tokens":9,${HELLO}}`), context)
    const call = new ClientCall(context, translated(body, messages.protocol!))
    expect(call.headers).to.include({ 'anthropic-beta': 'of-a-link' }).and.not.have.property('anthropic-version')
    const own = asSent(call)
    expect(own.headers).to.include({ 'anthropic-beta': 'of-a-link', 'anthropic-version': '2023-06-01' })
    call.edit('/temperature', 0)
    expect(asSent(call), 'an edited call has no other form').to.equal(call)
  })

  describe('that is edited', () => {
    it('has the edited fields everywhere', () => {
      for (const [, sized] of SIZES) {
        const call = clientCall(sized(GOOD))
        expect(call.model.model).to.equal('a/b')
        call.edit('/model', 'other/c')
        call.edit('/stream', true)
        call.edit('/messages/0/content', 'Goodbye')
        expect(call.model.id).to.equal('other/c')
        expect([call.stream, call.member('model')]).to.deep.equal([true, 'other/c'])
        const { x_padding: _, ...sent } = JSON.parse(call.splice({}).toString())
        expect(sent).to.deep.equal({ model: 'other/c', messages: [{ role: 'user', content: 'Goodbye' }], stream: true })
        expect(call.size).to.equal(call.splice({}).length)
      }
    })

    it('stays unchanged if the edit makes it invalid', () => {
      const call = clientCall(GOOD)
      expect(() => call.edit('/temperature', 'hot'))
        .to.throw(GatewayError)
        .with.property('param', 'temperature')
      expect(() => call.edit('/messages/7/content', 'x')).to.throw('no such place')
      expect(() => call.edit('/Model', 'ns/c'))
        .to.throw(GatewayError)
        .with.property('param', 'Model')
      expect(call.splice({}).toString()).to.equal(GOOD)
      expect(call.body).to.deep.equal(JSON.parse(GOOD))
    })

    it('keeps names of inherited members as plain data', () => {
      const call = clientCall(GOOD.replace('{', '{"__proto__":{"polluted":1},"constructor":2,'))
      call.edit('/n', 2)
      expect(call.splice({}).toString()).to.include('"__proto__":{"polluted":1},"constructor":2')
      expect({}).to.not.have.property('polluted')
    })

    it('does not change bodies that were returned before', () => {
      const call = clientCall(GOOD)
      const { body } = call
      call.edit('/messages/0/content', 'Goodbye')
      expect(body).to.deep.equal(JSON.parse(GOOD))
    })

    it('cannot be edited after its target was chosen', () => {
      const call = clientCall(GOOD, {}, true)
      expect(() => call.edit('/n', 2)).to.throw()
      expect(call.splice({}).toString()).to.equal(GOOD)
    })
  })
})

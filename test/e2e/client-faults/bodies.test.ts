import { expect } from 'chai'
import { expectRefusal } from './expect-refusal.ts'
import { COMPLETION, type Fixture, GOOD_BODY, startFixture } from './fixture.ts'

const JSON_REFUSED = { status: 400, code: null }
const BODY_REFUSED = { status: 400, code: 'invalid_value' }
const UNKNOWN = { status: 400, code: 'unknown_parameter' }
const TYPE_REFUSED = { status: 415, code: 'unsupported_media_type' }

/** A good body with members before its own. */
const withMembers = (members: string): string => GOOD_BODY.replace('{', `{${members},`)
const withMessages = (messages: string): string => `{"model":"up/some-model","messages":${messages}}`
/** The same, past the size up to which a body is parsed at once. */
const large = (body: string): string => body.replace('{', `{"x_padding":${JSON.stringify('x'.repeat(20_000))},`)
/** What is not ASCII, as a raw connection reads it. */
const onTheWire = (text: string): string => Buffer.from(text).toString('latin1')
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const bytes = (before: string, odd: readonly number[], after: string): Buffer =>
  Buffer.concat([Buffer.from(before), Buffer.from(odd), Buffer.from(after)])

const refusedBodies = [
  // Not one JSON object.
  ['a scalar', '7', JSON_REFUSED],
  ['an empty array', '[]', JSON_REFUSED],
  ['the good body in an array', `[${GOOD_BODY}]`, JSON_REFUSED],
  ['the good body twice', GOOD_BODY + GOOD_BODY, JSON_REFUSED],
  ['a form', 'model=up/some-model', JSON_REFUSED],
  ['a comma too many', GOOD_BODY.replace('}]}', '}],}'), JSON_REFUSED],
  ['single quotes', GOOD_BODY.replaceAll('"', "'"), JSON_REFUSED],
  ['a comment', `/* */${GOOD_BODY}`, JSON_REFUSED],
  ['NaN', withMembers('"temperature":NaN'), JSON_REFUSED],
  ['a line break in a string', GOOD_BODY.replace('Hi', 'H\ni'), JSON_REFUSED],
  ['a byte order mark', `\uFEFF${GOOD_BODY}`, JSON_REFUSED],
  ['UTF-16', Buffer.from(GOOD_BODY, 'utf16le'), JSON_REFUSED],
  ['a NUL behind it', `${GOOD_BODY}\0`, JSON_REFUSED],

  // Not UTF-8.
  ['a byte that is never UTF-8', bytes(GOOD_BODY.slice(0, -5), [0xff], GOOD_BODY.slice(-5)), BODY_REFUSED],
  ['half a character', bytes(GOOD_BODY.slice(0, -5), [0xc3], GOOD_BODY.slice(-5)), BODY_REFUSED],
  ['a slash in two bytes', bytes('{"model":"up', [0xc0, 0xaf], 'x","messages":[{"role":"user","content":""}]}'), BODY_REFUSED],
  ['a surrogate in UTF-8', bytes(GOOD_BODY.slice(0, -5), [0xed, 0xa0, 0x80], GOOD_BODY.slice(-5)), BODY_REFUSED],

  // Too deep, too wide.
  ['66 levels', withMembers(`"x":${nested(65)}`), BODY_REFUSED],
  ['66 levels in a large body', large(withMembers(`"x":${nested(65)}`)), BODY_REFUSED],
  ['100,000 levels', withMembers(`"x":${nested(100_000)}`), BODY_REFUSED],
  ['100,000 levels of messages', withMessages(nested(100_000)), BODY_REFUSED],
  ['100,000 levels that never close', withMessages('['.repeat(100_000)), BODY_REFUSED],
  ['300 members', withMembers(Array.from({ length: 300 }, (_, i) => `"x${i}":0`).join()), BODY_REFUSED],

  // Two meanings.
  ['two models', withMembers('"model":"up/other"'), { status: 400, code: 'duplicate_parameter', param: 'model' }],
  [
    'two models, one escaped',
    withMembers('"mod\\u0065l":"up/other"'),
    { status: 400, code: 'duplicate_parameter', param: 'model' },
  ],
  ['two models in a large body', large(withMembers('"model":"x"')), { status: 400, code: 'duplicate_parameter', param: 'model' }],
  ['two streams', withMembers('"stream":true,"stream":false'), { status: 400, code: 'duplicate_parameter', param: 'stream' }],
  ['two limits', withMembers('"n":1,"n":100'), { status: 400, code: 'duplicate_parameter', param: 'n' }],

  // What a server that ignores the case of keys reads as another field.
  ['a second model in another case', withMembers('"Model":"up/other"'), { ...UNKNOWN, param: 'Model' }],
  ['no model but one in capitals', GOOD_BODY.replace('model', 'MODEL'), { ...UNKNOWN, param: 'MODEL' }],
  ['a second limit in capitals', withMembers('"max_tokens":10,"MAX_TOKENS":999999'), { ...UNKNOWN, param: 'MAX_TOKENS' }],
  [
    'a limit with an escaped capital',
    withMembers('"\\u004dax_completion_tokens":9'),
    { ...UNKNOWN, param: 'Max_completion_tokens' },
  ],
  ['a limit with a long s', withMembers('"max_token\u017f":9'), { ...UNKNOWN, param: onTheWire('max_token\u017f') }],
  ['a limit with a Kelvin sign', withMembers('"max_to\u212aens":9'), { ...UNKNOWN, param: onTheWire('max_to\u212aens') }],
  ['a Kelvin sign, escaped', withMembers('"max_to\\u212aens":9'), { ...UNKNOWN, param: onTheWire('max_to\u212aens') }],
  ['choices in capitals', withMembers('"N":128'), { ...UNKNOWN, param: 'N' }],
  ['a stream in another case, in a large body', large(withMembers('"Stream":true')), { ...UNKNOWN, param: 'Stream' }],

  // Numbers that are none.
  [
    'a temperature past all numbers',
    withMembers('"temperature":1e999'),
    { status: 400, code: 'invalid_type', param: 'temperature' },
  ],
  ['a limit past all numbers', withMembers('"max_tokens":1e999'), { status: 400, code: 'invalid_type', param: 'max_tokens' }],
  ['a negative limit', withMembers('"max_tokens":-2'), { status: 400, code: 'invalid_value', param: 'max_tokens' }],
  [
    'half a token',
    withMembers('"max_completion_tokens":0.5'),
    { status: 400, code: 'invalid_type', param: 'max_completion_tokens' },
  ],
  ['half a choice', withMembers('"n":1.5'), { status: 400, code: 'invalid_type', param: 'n' }],
  ['a million choices', withMembers('"n":1000000'), { status: 400, code: 'invalid_value', param: 'n' }],
  ['half a seed', withMembers('"seed":0.5'), { status: 400, code: 'invalid_type', param: 'seed' }],
  ['half a choice in a large body', large(withMembers('"n":1.5')), { status: 400, code: 'invalid_type', param: 'n' }],
] as const

/** Model names that would break a log line, a header or a label. */
const refusedModels = [
  ['a NUL', 'up/a\\u0000b'],
  ['a line break', 'up/a\\r\\nx-injected: 1'],
  ['a terminal’s escape', 'up/\\u001b[31mred'],
  ['half a surrogate pair', 'up/\\ud800'],
  ['a control character of Latin-1', 'up/a\\u0085b'],
  ['300 characters', `up/${'x'.repeat(300)}`],
  ['2,000 characters', `up/${'x'.repeat(2_000)}`],
] as const

const takenBodies = [
  ['64 levels below its top', withMembers(`"x":${nested(64)}`)],
  ['a NUL and half a surrogate pair in a message', GOOD_BODY.replace('Hi', '\\u0000 \\ud800')],
  ['numbers that JavaScript cannot hold', withMembers('"seed":9007199254740993,"x_a":1e999,"x_b":-0.0,"x_c":1E+2')],
  [
    'members that objects inherit',
    withMembers('"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1'),
  ],
  ['two members of one name further down', withMembers('"metadata":{"a":"1","a":"2"}')],
  [
    'keys whose case means nothing to the gateway',
    withMembers('"Temperature":1,"X_Model":2,"model_S":3,"Max-Tokens":4,"maxTokens":5'),
  ],
  ['an escaped key', GOOD_BODY.replace('"model"', '"mod\\u0065l"')],
] as const

describe('A request body', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  for (const [name, body, refusal] of refusedBodies) {
    it(`is refused for ${name}`, async () => {
      await expectRefusal(fixture, { name, bytes: ({ call }) => call({ body }), closes: false, ...refusal })
    })
  }

  for (const [path, body] of [
    ['/v1/embeddings', '{"model":"up/some-model","input":"Hi","MODEL":"up/other"}'],
    ['/v1/responses', '{"model":"up/some-model","input":"Hi","Max_Output_Tokens":999999}'],
  ] as const) {
    it(`is refused at ${path} too for a field in another case`, async () => {
      const bytes = ({ call }: Fixture) => call({ requestLine: `POST ${path} HTTP/1.1`, body })
      const param = Object.keys(JSON.parse(body)).at(-1)!
      const message = await expectRefusal(fixture, { name: param, bytes, closes: false, ...UNKNOWN, param })
      expect(message).to.include(`'${param.toLowerCase()}'`)
    })
  }

  for (const [name, model] of refusedModels) {
    it(`is refused for a model with ${name}`, async () => {
      const body = GOOD_BODY.replace('up/some-model', model)
      const refusal = { status: 404, code: 'model_not_found', param: 'model' }
      const message = await expectRefusal(fixture, { name, bytes: ({ call }) => call({ body }), closes: false, ...refusal })
      expect(message.length).to.be.below(400)
    })
  }

  for (const [name, lines] of [
    ['compressed', ['Content-Encoding: gzip']],
    ['compressed twice', ['Content-Encoding: gzip, gzip']],
    ['compressed by another name', ['Content-Encoding: br']],
    ['neither compressed nor not', ['Content-Encoding: identity', 'Content-Encoding: gzip']],
    ['of no type', ['Content-Type:']],
    ['of a type that only begins like JSON', ['Content-Type: application/jsonx']],
    ['JSON among others', ['Content-Type: application/json, text/plain']],
    ['JSON with a parameter of another meaning', ['Content-Type: application/json; charset=utf-8; charset=utf-7']],
    ['JSON in Latin-1', ['Content-Type: application/json; charset=iso-8859-1']],
    ['JSON patch', ['Content-Type: application/json-patch+json']],
  ] as const) {
    it(`is refused with the content type ${name}`, async () => {
      await expectRefusal(fixture, { name, bytes: ({ call }) => call({ lines }), closes: false, ...TYPE_REFUSED })
    })
  }

  it('is refused without a content type', async () => {
    const bytes = ({ call }: Fixture) => call({ without: ['content-type'] })
    await expectRefusal(fixture, { name: 'no type', bytes, closes: false, ...TYPE_REFUSED })
  })

  for (const [name, body] of takenBodies) {
    it(`is forwarded byte for byte with ${name}`, async () => {
      const connection = await fixture.connect()
      connection.write(fixture.call({ body }))
      expect(await connection.reply()).to.include({ status: 200, body: JSON.stringify(COMPLETION) })
      connection.socket.destroy()
      expect(fixture.upstream.requests.at(-1)!.body.toString()).to.equal(body.replace('up/some-model', 'some-model'))
      expect({}).to.not.have.property('polluted')
    })
  }
})

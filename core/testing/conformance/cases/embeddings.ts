import assert from 'node:assert/strict'
import type { ParameterTable } from '../../../sdk/api.ts'
import type { Asked } from '../../translator/run-translator.ts'
import { type Harness, NAMESPACE, type Suite } from '../harness.ts'
import { type EmbeddingsFixture, isAbsent } from '../provider-under-test.ts'
import { errorScript, wholeScript } from '../scripts.ts'
import { caught, itWithSdk } from '../sdk.ts'

/** The parameters of OpenAI's embeddings (openai-openapi, `CreateEmbeddingRequest`) without those that every call has. */
const PARAMETERS: Readonly<Record<string, Asked>> = { dimensions: { dimensions: 512 }, user: { user: 'user-1' } }

/** Parameters that every call has, or that the gateway handles itself. */
const STRUCTURE = new Set(['model', 'input', 'encoding_format'])

/** Cases for the embeddings endpoint. */
export function describeEmbeddings(suite: Suite): void {
  const { embeddings, local } = suite.subject
  if (embeddings === undefined || isAbsent(embeddings)) return

  describe('serves embeddings', () => {
    itWithSdk('in the encoding that the official SDK requests', () => expectVectors(suite, embeddings))
    if (local) return
    itWithSdk('and sends lists of tokens to the upstream, or refuses them by name', () => expectTokens(suite, embeddings))
    itWithSdk('and answers 502 to an upstream reply without vectors', async () => {
      for (const whole of [{}, [], { data: [], embeddings: [], predictions: [] }]) {
        suite.harness.answer(wholeScript({ whole, says: {} }))
        const { status, code } = await caught(create(suite, embeddings))
        assert.deepEqual([status, code], [502, 'upstream_invalid_response'], `a reply of ${JSON.stringify(whole)}`)
      }
    })
    expectRateLimit(suite, embeddings)
    itWithSdk('and treats each parameter as its table says', () => expectParameters(suite, embeddings))
  })
}

function create({ subject, harness }: Suite, { asked, input }: EmbeddingsFixture, more: object = {}) {
  const model = `${NAMESPACE}/${asked?.model ?? subject.model}`
  return harness.sdk.embeddings.create({ input: [...input], ...asked, model, ...more })
}

function answer(harness: Harness, { whole, headers }: EmbeddingsFixture): void {
  if (whole !== undefined) harness.answer(wholeScript({ whole, says: {} }, { ...(headers && { headers }) }))
}

async function expectVectors(suite: Suite, fixture: EmbeddingsFixture): Promise<void> {
  answer(suite.harness, fixture)
  const { vectors, tokens } = fixture.says
  const handler = suite.harness.provider.endpoints?.embeddings
  // A reply that is not translated keeps the upstream's encoding.
  const encodings = handler?.reply === undefined && fixture.whole !== undefined ? ['float'] : [undefined, 'float', 'base64']
  for (const encoding_format of encodings) {
    const { object, data, usage } = await create(suite, fixture, { encoding_format })
    assert.deepEqual(
      [object, ...data.map(({ object, index, embedding }) => [object, index, numbersOf(embedding)])],
      ['list', ...vectors.map((vector, index) => ['embedding', index, vector])],
    )
    assert.deepEqual(usage, { prompt_tokens: tokens, total_tokens: tokens }, 'the reply contains the usage')
  }
}

/** The SDK decodes base64 only if the caller did not request it. */
function numbersOf(embedding: readonly number[] | string): readonly number[] {
  if (typeof embedding !== 'string') return embedding
  const bytes = Buffer.from(embedding, 'base64')
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(4 * index))
}

async function expectTokens(suite: Suite, fixture: EmbeddingsFixture): Promise<void> {
  const { harness } = suite
  answer(harness, fixture)
  const before = harness.received.length
  const input = [46_713, 46_714]
  const failure = await create(suite, fixture, { input }).catch((error) => error)
  if (harness.received.length > before) assert.ok(harness.received.at(-1)?.body.includes(input.join(',')), 'the tokens are sent')
  else assert.deepEqual([failure.status, failure.code, failure.param], [400, 'unsupported_parameter', 'input'])
}

function expectRateLimit(suite: Suite, fixture: EmbeddingsFixture): void {
  const { rateLimit } = suite.subject.errors
  if (isAbsent(rateLimit)) return
  itWithSdk('and answers 429 to an upstream rate limit', async () => {
    suite.harness.answer(errorScript(rateLimit))
    const { status, code } = await caught(create(suite, fixture))
    assert.deepEqual([status, code], [429, 'rate_limit_exceeded'])
  })
}

async function expectParameters(suite: Suite, fixture: EmbeddingsFixture): Promise<void> {
  const { harness } = suite
  const table: ParameterTable = harness.provider.endpoints!.embeddings!.parameters
  const asks = { ...PARAMETERS, ...fixture.parameters }
  answer(harness, fixture)
  const plain = await outcomeOf(suite, fixture, {})
  const wrong: string[] = []
  for (const name of new Set([...Object.keys(asks), ...(table === 'verbatim' ? [] : Object.keys(table))])) {
    if (STRUCTURE.has(name)) continue
    const asked = asks[name]
    const support = table === 'verbatim' ? 'mapped' : (table[name]?.support ?? 'dropped')
    if (asked === undefined) wrong.push(`${name}: give the suite a request that uses it, in \`embeddings.parameters\``)
    else if (support !== supportOf(name, plain, await outcomeOf(suite, fixture, asked))) wrong.push(`${name} is not ${support}`)
  }
  assert.deepEqual(wrong, [])
}

interface Outcome {
  /** The upstream request; undefined if none was sent. */
  readonly sent: string | undefined
  readonly dropped: readonly string[]
}

async function outcomeOf(suite: Suite, fixture: EmbeddingsFixture, asked: Asked): Promise<Outcome> {
  const { harness } = suite
  const before = harness.received.length
  const reply = await create(suite, fixture, asked)
    .asResponse()
    .catch(() => undefined)
  const sent = harness.received.slice(before).map(({ path, body }) => `${path}\n${body}`)
  return { sent: sent.at(-1), dropped: reply?.headers.get('x-umg-params-dropped')?.split(', ') ?? [] }
}

function supportOf(name: string, without: Outcome, { sent, dropped }: Outcome): string {
  if (sent === undefined) return 'refused'
  if (sent !== without.sent) return 'mapped'
  return dropped.includes(name) ? 'dropped' : 'ignored'
}

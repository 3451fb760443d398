import assert from 'node:assert/strict'
import type { ParameterTable } from '../../../sdk/api.ts'
import type { Asked } from '../../translator/run-translator.ts'
import { NAMESPACE, type Stage } from '../fixture.ts'
import { type EmbeddingsFixture, isAbsent } from '../scenarios.ts'
import { errorScript, wholeScript } from '../scripts.ts'
import { caught } from '../sdk-error.ts'
import { itWithSdk, type Suite } from '../suite.ts'

/** The parameters of OpenAI's embeddings (openai-openapi, `CreateEmbeddingRequest`) but for those that every call has. */
const PARAMETERS: Readonly<Record<string, Asked>> = { dimensions: { dimensions: 512 }, user: { user: 'user-1' } }

/** What every call has, or the gateway sees to. */
const STRUCTURE = new Set(['model', 'input', 'encoding_format'])

/** What clients get of the endpoint for embeddings. */
export function describeEmbeddings(suite: Suite): void {
  const { embeddings, local } = suite.subject
  if (embeddings === undefined || isAbsent(embeddings)) return

  describe('serves embeddings', () => {
    itWithSdk('in the encoding that the official SDK asks for', () => expectVectors(suite, embeddings))
    if (local) return
    itWithSdk('of texts: lists of tokens reach its upstream, or are refused by name', () => expectTokens(suite, embeddings))
    itWithSdk('and takes a reply without them for a fault of its upstream', async () => {
      for (const whole of [{}, [], { data: [], embeddings: [], predictions: [] }]) {
        suite.stage.answer(wholeScript({ whole, says: {} }))
        const { status, code } = await caught(create(suite, embeddings))
        assert.deepEqual([status, code], [502, 'upstream_invalid_response'], `a reply of ${JSON.stringify(whole)}`)
      }
    })
    expectRateLimit(suite, embeddings)
    itWithSdk('and does with each parameter what its table says', () => expectParameters(suite, embeddings))
  })
}

function create({ subject, stage }: Suite, { asked, input }: EmbeddingsFixture, more: object = {}) {
  const model = `${NAMESPACE}/${asked?.model ?? subject.model}`
  return stage.sdk.embeddings.create({ input: [...input], ...asked, model, ...more })
}

function answer(stage: Stage, { whole, headers }: EmbeddingsFixture): void {
  if (whole !== undefined) stage.answer(wholeScript({ whole, says: {} }, { ...(headers && { headers }) }))
}

async function expectVectors(suite: Suite, fixture: EmbeddingsFixture): Promise<void> {
  answer(suite.stage, fixture)
  const { vectors, tokens } = fixture.says
  const operation = suite.stage.provider.endpoints?.embeddings
  // What is passed on as it came has the encoding that its upstream gave it.
  const encodings = operation?.reply === undefined && fixture.whole !== undefined ? ['float'] : [undefined, 'float', 'base64']
  for (const encoding_format of encodings) {
    const { object, data, usage } = await create(suite, fixture, { encoding_format })
    assert.deepEqual(
      [object, ...data.map(({ object, index, embedding }) => [object, index, numbersOf(embedding)])],
      ['list', ...vectors.map((vector, index) => ['embedding', index, vector])],
    )
    assert.deepEqual(usage, { prompt_tokens: tokens, total_tokens: tokens }, 'the usage is told')
  }
}

/** Who asks for base64 by name decodes it alone. */
function numbersOf(embedding: readonly number[] | string): readonly number[] {
  if (typeof embedding !== 'string') return embedding
  const bytes = Buffer.from(embedding, 'base64')
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(4 * index))
}

async function expectTokens(suite: Suite, fixture: EmbeddingsFixture): Promise<void> {
  const { stage } = suite
  answer(stage, fixture)
  const before = stage.asked.length
  const input = [46_713, 46_714]
  const failure = await create(suite, fixture, { input }).catch((error) => error)
  if (stage.asked.length > before) assert.ok(stage.asked.at(-1)?.body.includes(input.join(',')), 'the tokens are sent')
  else assert.deepEqual([failure.status, failure.code, failure.param], [400, 'unsupported_parameter', 'input'])
}

function expectRateLimit(suite: Suite, fixture: EmbeddingsFixture): void {
  const { rateLimit } = suite.subject.errors
  if (isAbsent(rateLimit)) return
  itWithSdk('and tells of its errors as elsewhere', async () => {
    suite.stage.answer(errorScript(rateLimit))
    const { status, code } = await caught(create(suite, fixture))
    assert.deepEqual([status, code], [429, 'rate_limit_exceeded'])
  })
}

async function expectParameters(suite: Suite, fixture: EmbeddingsFixture): Promise<void> {
  const { stage } = suite
  const table: ParameterTable = stage.provider.endpoints!.embeddings!.parameters
  const asks = { ...PARAMETERS, ...fixture.parameters }
  answer(stage, fixture)
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
  /** What reached the upstream, if anything did. */
  readonly sent: string | undefined
  readonly dropped: readonly string[]
}

async function outcomeOf(suite: Suite, fixture: EmbeddingsFixture, asked: Asked): Promise<Outcome> {
  const { stage } = suite
  const before = stage.asked.length
  const reply = await create(suite, fixture, asked)
    .asResponse()
    .catch(() => undefined)
  const sent = stage.asked.slice(before).map(({ path, body }) => `${path}\n${body}`)
  return { sent: sent.at(-1), dropped: reply?.headers.get('x-umg-params-dropped')?.split(', ') ?? [] }
}

function supportOf(name: string, without: Outcome, { sent, dropped }: Outcome): string {
  if (sent === undefined) return 'refused'
  if (sent !== without.sent) return 'mapped'
  return dropped.includes(name) ? 'dropped' : 'ignored'
}

import assert from 'node:assert/strict'
import { NAMESPACE, type Suite } from '../harness.ts'
import { isAbsent, type RerankFixture } from '../provider-under-test.ts'
import { errorScript, wholeScript } from '../scripts.ts'

const DOCUMENTS = ['Here.', 'There.']

/** Replies without a ranking, as an upstream with Cohere's format would write them. */
const BROKEN = [
  {},
  [],
  { results: 'none' },
  { results: [null] },
  { results: [{ index: 0 }] },
  { results: [{ relevance_score: 1 }] },
  { results: [{ index: 0.5, relevance_score: 1 }] },
  { results: [{ index: 0, relevance_score: '1' }] },
]

/** Cases for `/v1/rerank`, which no official SDK of OpenAI calls. */
export function describeRerank(suite: Suite): void {
  const { rerank, errors } = suite.subject
  if (rerank === undefined || isAbsent(rerank)) return

  describe('serves rankings', () => {
    it('of two texts, with them if they are requested', async () => {
      const { results } = rerank.says
      assert.deepEqual((await ask(suite, rerank, rerank.whole)).results, results)
      assert.deepEqual(
        (await ask(suite, rerank, rerank.whole, { return_documents: true })).results,
        results.map((rank) => ({ ...rank, document: { text: DOCUMENTS[rank.index] } })),
      )
    })

    it('and answers 502 to an upstream reply without one', async () => {
      for (const whole of BROKEN) {
        const { status, error } = await ask(suite, rerank, whole)
        assert.deepEqual([status, error?.code], [502, 'upstream_invalid_response'], `a reply of ${JSON.stringify(whole)}`)
      }
    })

    const { rateLimit } = errors
    if (isAbsent(rateLimit)) return
    it('and answers 429 to an upstream rate limit', async () => {
      suite.harness.answer(errorScript(rateLimit))
      const { status, error } = await post(suite, rerank)
      assert.deepEqual([status, error?.code], [429, 'rate_limit_exceeded'])
    })
  })
}

/** The client's reply. */
interface Answer {
  readonly status: number
  readonly results?: unknown
  readonly error?: { readonly code: string }
}

function ask(suite: Suite, fixture: RerankFixture, whole: RerankFixture['whole'], fields: object = {}): Promise<Answer> {
  suite.harness.answer(wholeScript({ whole, says: {} }))
  return post(suite, fixture, fields)
}

async function post({ subject, harness }: Suite, { asked }: RerankFixture, fields: object = {}): Promise<Answer> {
  const model = `${NAMESPACE}/${asked?.model ?? subject.model}`
  const reply = await harness.post({ query: 'Where?', documents: DOCUMENTS, ...asked, ...fields, model }, { path: '/v1/rerank' })
  return { status: reply.status, ...((await reply.json()) as object) }
}

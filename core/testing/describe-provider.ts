import assert from 'node:assert/strict'
import { describeBytes } from './conformance/cases/bytes.ts'
import { describeConversations } from './conformance/cases/conversations.ts'
import { describeDepartures } from './conformance/cases/departures.ts'
import { describeDiscovery } from './conformance/cases/discovery.ts'
import { describeEmbeddings } from './conformance/cases/embeddings.ts'
import { describeErrors } from './conformance/cases/errors.ts'
import { describeLargeRequests } from './conformance/cases/large-requests.ts'
import { describeMessages } from './conformance/cases/messages.ts'
import { describeParameters } from './conformance/cases/parameters.ts'
import { describePassedEndpoints } from './conformance/cases/passed-endpoints.ts'
import { describePrivacy } from './conformance/cases/privacy.ts'
import { describeReplies } from './conformance/cases/replies.ts'
import { describeRequests } from './conformance/cases/requests.ts'
import { describeRerank } from './conformance/cases/rerank.ts'
import { describeResponses } from './conformance/cases/responses.ts'
import { describeTools } from './conformance/cases/tools.ts'
import { type Harness, startHarness } from './conformance/harness.ts'
import { type Absent, isAbsent, type ProviderUnderTest } from './conformance/provider-under-test.ts'

/** How long a case may take, in milliseconds: the longest read one stream several thousand times. */
const TIMEOUT_MS = 30_000

/**
 * The conformance suite of a provider, for mocha: a real gateway with the provider in it, called by the official SDK (the package
 * `openai`, if it is installed) and answered by an upstream that plays the fixtures. A fixture that the upstream does not have is
 * named as absent with its reason, which a test title repeats.
 */
export function describeProvider(subject: ProviderUnderTest): void {
  describe(`provider ${subject.title ?? subject.plugin.name}`, function suiteOfProvider() {
    this.timeout(TIMEOUT_MS)
    let starting: Promise<Harness> | undefined
    let harness: Harness | undefined
    const suite = {
      subject,
      get harness() {
        assert.ok(harness, 'the harness exists only while cases run')
        return harness
      },
    }

    before(async () => {
      starting = startHarness(subject)
      harness = await starting
    })

    after(async () => {
      const started = await starting?.catch(() => undefined)
      await started?.stop()
    })

    it(`has a fixture for everything it serves${exceptions(subject)}`, () => {
      const { provider } = suite.harness
      assert.equal(
        provider.models === undefined,
        isAbsent(subject.discovery),
        'a provider with `models` has a `discovery` fixture, and no other has',
      )
      assert.equal(
        provider.endpoints?.embeddings === undefined,
        subject.embeddings === undefined,
        'a provider with an embeddings endpoint has an `embeddings` fixture, and no other has',
      )
      assert.equal(
        provider.endpoints?.rerank?.reply === undefined,
        subject.rerank === undefined,
        'a provider that translates rankings has a `rerank` fixture, and no other has',
      )
      assert.equal(
        provider.endpoints?.responses === undefined,
        subject.responses === undefined,
        'a provider with a responses endpoint says that `responses` are absent, and no other does',
      )
    })

    if (!subject.local) {
      describeRequests(suite)
      describeConversations(suite)
    }
    describeReplies(suite)
    describeTools(suite)
    describeMessages(suite)
    describeResponses(suite)
    describeErrors(suite)
    describeDiscovery(suite)
    describeEmbeddings(suite)
    if (subject.local) return
    describeRerank(suite)
    describePassedEndpoints(suite)
    describeBytes(suite)
    describeLargeRequests(suite)
    describeDepartures(suite)
    describeParameters(suite)
    describePrivacy(suite)
  })
}

function exceptions({
  requests,
  scenarios,
  errors,
  midStreamError,
  discovery,
  embeddings,
  rerank,
  responses,
  local,
}: ProviderUnderTest): string {
  const more = { requests, midStreamError, discovery, ...(embeddings && { embeddings }) }
  const others = { ...(rerank && { rerank }), ...(responses && { responses }) }
  const fixtures: Readonly<Record<string, object>> = { ...scenarios, ...errors, ...more, ...others }
  const absent = Object.entries(fixtures)
    .filter((entry): entry is [string, Absent] => isAbsent(entry[1]))
    .map(([name, { absent: reason }]) => `no ${name} (${reason})`)
  const all = [...absent, ...(local ? ['no upstream'] : [])]
  return all.length === 0 ? '' : `, but ${all.join(', ')}`
}

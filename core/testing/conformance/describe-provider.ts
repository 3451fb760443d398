import assert from 'node:assert/strict'
import type { ProviderPlugin } from '../../sdk/api.ts'
import type { PluginConfig } from '../plugin-gateway.ts'
import type { Script } from '../script.ts'
import type { ReceivedRequest } from '../scripted-upstream.ts'
import type { Asked } from '../translator/run-translator.ts'
import { describeBytes } from './cases/bytes.ts'
import { describeDepartures } from './cases/departures.ts'
import { describeDiscovery } from './cases/discovery.ts'
import { describeEmbeddings } from './cases/embeddings.ts'
import { describeErrors } from './cases/errors.ts'
import { describeParameters } from './cases/parameters.ts'
import { describePrivacy } from './cases/privacy.ts'
import { describeReplies } from './cases/replies.ts'
import { describeTools } from './cases/tools.ts'
import { type Stage, startStage } from './fixture.ts'
import {
  type Absent,
  type Discovery,
  type EmbeddingsFixture,
  type Errors,
  isAbsent,
  type MidStreamError,
  type Scenarios,
} from './scenarios.ts'

/**
 * The conformance suite of a provider, for mocha: a real gateway with the provider in it, the official SDK before it (the package
 * `openai`, where it is installed), and behind it an upstream that plays the fixtures. What the upstream cannot do is named as absent,
 * and why: the suite says so.
 */
export function describeProvider(subject: ProviderUnderTest): void {
  describe(`provider ${subject.title ?? subject.plugin.name}`, function suiteOfProvider() {
    this.timeout(MOST_MS)
    let starting: Promise<Stage> | undefined
    let stage: Stage | undefined
    const suite = {
      subject,
      get stage() {
        assert.ok(stage, 'the stage is there while cases run')
        return stage
      },
    }

    before(async () => {
      starting = startStage(subject)
      stage = await starting
    })

    after(async () => {
      const started = await starting?.catch(() => undefined)
      await started?.stop()
    })

    it(`has all that the suite looks for${exceptions(subject)}`, () => {
      const { provider } = suite.stage
      assert.equal(
        provider.models === undefined,
        isAbsent(subject.discovery),
        'what offers a list of models shows it to the suite',
      )
      assert.equal(
        provider.endpoints?.embeddings === undefined,
        subject.embeddings === undefined,
        'what serves embeddings shows them to the suite',
      )
    })

    describeReplies(suite)
    describeTools(suite)
    describeErrors(suite)
    describeDiscovery(suite)
    describeEmbeddings(suite)
    if (subject.local) return
    describeBytes(suite)
    describeDepartures(suite)
    describeParameters(suite)
    describePrivacy(suite)
  })
}

/** How long a case may take, in milliseconds: the longest ones read a stream some thousand times. */
const MOST_MS = 30_000

function exceptions({ scenarios, errors, midStreamError, discovery, embeddings, local }: ProviderUnderTest): string {
  const more = { midStreamError, discovery, ...(embeddings && { embeddings }) }
  const fixtures: Readonly<Record<string, object>> = { ...scenarios, ...errors, ...more }
  const absent = Object.entries(fixtures)
    .filter((entry): entry is [string, Absent] => isAbsent(entry[1]))
    .map(([name, { absent: why }]) => `no ${name} (${why})`)
  const all = [...absent, ...(local ? ['no upstream'] : [])]
  return all.length === 0 ? '' : `, but ${all.join(', ')}`
}

/** What `describeProvider` must know of a provider and of the wire that it speaks. */
export interface ProviderUnderTest {
  readonly plugin: ProviderPlugin
  /** What the suite calls it. Default: the plugin's name. */
  readonly title?: string
  /** Its configuration, for an upstream at this address. The suite looks for the text of each `Secret` in it where it must not be. */
  config(upstream: { readonly origin: string }): PluginConfig
  /** A model, as the upstream names it, that takes every parameter which the provider maps. */
  readonly model: string
  /** Says of a provider that answers by itself, by `LocalReply`, that no upstream is to be scripted. */
  readonly local?: true
  /** The content type of its upstream's streams. Default: `text/event-stream`. */
  readonly streamType?: string
  readonly scenarios: Scenarios
  readonly errors: Errors
  readonly midStreamError: MidStreamError | Absent
  readonly discovery: Discovery | Absent
  /** Of a provider that serves embeddings. */
  readonly embeddings?: EmbeddingsFixture | Absent
  /**
   * For a parameter, the fields of a request that uses it, where the suite's own do not fit, or the parameter is not OpenAI's:
   * `{ reasoning_effort: { reasoning_effort: 'low', max_tokens: 10_000 } }`.
   */
  readonly parameters?: Readonly<Record<string, Asked>>
  /** Answers what the provider's libraries ask beside models and completions, such as a token. */
  besides?(request: ReceivedRequest): Script | undefined
}

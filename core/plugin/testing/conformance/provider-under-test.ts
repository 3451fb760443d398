import type { ProviderPlugin } from '../../api.ts'
import type { Script } from '../script.ts'
import type { ReceivedRequest } from '../scripted-upstream.ts'
import type { PluginConfig } from '../secrets.ts'
import type { Asked } from '../translator/run-translator.ts'
import type { Absent, Discovery, EmbeddingsFixture, Errors, MidStreamError, Scenarios } from './scenarios.ts'

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

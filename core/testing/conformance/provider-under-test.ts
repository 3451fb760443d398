import type { FinishReason, ProviderPlugin, Usage } from '../../sdk/api.ts'
import type { OtherEndpoint } from '../gateway/endpoint-requests.ts'
import type { PluginConfig } from '../gateway/plugin-gateway.ts'
import type { Asked } from '../translator/run-translator.ts'
import type { Said, SaidTool } from '../upstream/openai-reply.ts'
import type { HeaderLines } from '../upstream/replies.ts'
import type { Bytes, Script } from '../upstream/script.ts'
import type { ReceivedRequest, RequestHandler } from '../upstream/scripted-upstream.ts'
import type { EndpointFixtures } from './endpoint-fixtures.ts'

/** What `describeProvider` needs: a provider, and fixtures of its upstream's replies. */
export interface ProviderUnderTest {
  readonly plugin: ProviderPlugin
  /** The provider's name in test titles. Default: the plugin's name. */
  readonly title?: string
  /** Its configuration, for an upstream at this address. The suite checks that the text of each `Secret` in it does not leak. */
  config(upstream: { readonly origin: string }): PluginConfig
  /** A model, as the upstream names it, that takes every parameter which the provider maps. */
  readonly model: string
  /** The provider replies without an upstream, by `LocalReply`: no upstream is scripted. */
  readonly local?: true
  /** The content type of its upstream's streams. Default: `text/event-stream`. */
  readonly streamType?: string
  /** The requests that the upstream must get. */
  readonly requests: RequestsFixture | Absent
  readonly scenarios: Scenarios
  /** Its further reasons for an end, by their names: `{ stop_sequence: { …, says: { text: 'Hel', finish: 'stop' } } }`. */
  readonly finishes?: Readonly<Record<string, ReplyFixture<{ readonly finish: FinishReason }>>>
  readonly errors: Errors
  readonly midStreamError: MidStreamError | Absent
  readonly discovery: Discovery | Absent
  /** Required if the provider serves embeddings. */
  readonly embeddings?: EmbeddingsFixture | Absent
  /** What the upstream answers at an endpoint of OpenAI's API that it does not have. Absent: it says nothing special. */
  readonly noEndpoint?: ErrorFixture
  /** By endpoint: what its upstream replies. Required where the provider translates that. */
  readonly endpoints?: EndpointFixtures
  /** Required if the provider passes the Responses API on: the suite's upstream then speaks it. */
  readonly responses?: 'verbatim'
  /**
   * For a parameter, the fields of a request that uses it, if the suite's own do not fit or OpenAI has no such parameter:
   * `{ reasoning_effort: { reasoning_effort: 'low', max_tokens: 10_000 } }`.
   */
  readonly parameters?: Readonly<Record<string, Asked>>
  /** The parameters that a provider without a table refuses, with 400 and before anything is sent. */
  readonly refused?: readonly string[]
  /** Answers requests that a call sends before its own, such as the upload of an image. They are in the file of requests too. */
  uploads?(request: ReceivedRequest): Script | undefined
  /** Answers requests that serve many calls, such as a library's request for a token. They are not in the file of requests. */
  besides?(request: ReceivedRequest): Script | undefined
}

/** Calls that lead to requests, besides the suite's own. */
export interface MoreCalls {
  /** Chat completion requests, by title: the fields of each. For models that get other requests, for parameters that meet each other. */
  readonly asked?: Readonly<Record<string, Asked>>
  /**
   * Requests to other endpoints, by endpoint and title: the fields of each besides the suite's own. Those with a `File` are sent as forms.
   * `{ rerank: { 'of objects': { model: 'rerank-2', documents: [{ text: 'Here.' }] } } }`.
   */
  readonly endpoints?: Readonly<Partial<Record<OtherEndpoint, Readonly<Record<string, Asked>>>>>
}

/** The requests that the upstream must get for the suite's calls. */
export interface RequestsFixture extends MoreCalls {
  /** A file that the suite writes if the environment variable UMG_WRITE_REQUESTS is set, and else compares. Read it beside the upstream's documentation. */
  readonly file: URL
  /** What stands in the file for headers that differ from run to run, such as a date or a signature. */
  headers?(request: ReceivedRequest): Readonly<Record<string, string>>
  /**
   * Further configurations, by title, such as `'in a region'`. The file gets the requests that each makes for a text, for the list of models, to
   * check the credential, and for its own calls; or why it is refused.
   */
  readonly configured?: Readonly<Record<string, ConfiguredCalls>>
}

/** A configuration, and the calls that are made with it. */
export interface ConfiguredCalls extends MoreCalls {
  /** Requests to other addresses than the scripted upstream's reach it too: the file shows where they were sent. */
  readonly config: PluginConfig
}

/** Replaces a fixture that the upstream does not have, and gives the reason. */
export interface Absent {
  readonly absent: string
}

/** One reply in the upstream's own format, whole and as a stream, and its meaning. */
export interface ReplyFixture<Says = object> {
  /** Fields of the client's request, if the suite's own do not lead to this reply. `model`: the upstream's name for it. */
  readonly asked?: Asked
  /** The body of a reply that is not a stream: bytes, or a value that is sent as JSON. */
  readonly whole?: object | Bytes
  /** The body of a stream, event by event, as the upstream sends it. */
  readonly stream?: readonly Bytes[]
  readonly says: Said & Says
}

/** The replies of a model, each in the upstream's own format. */
export interface Scenarios {
  /** A text in at least two pieces, and its usage. */
  readonly text: ReplyFixture<{ readonly text: string; readonly usage: Partial<Usage> }>
  readonly parallelTools: ReplyFixture<{ readonly tools: readonly [SaidTool, SaidTool, ...SaidTool[]] }> | Absent
  /** A call whose arguments are `{}`, in the form in which this upstream writes empty arguments. */
  readonly toolWithoutArguments: ReplyFixture<{ readonly tools: readonly [SaidTool] }> | Absent
  readonly textBeforeTools: ReplyFixture<{ readonly text: string; readonly tools: readonly SaidTool[] }> | Absent
  readonly reasoning: ReplyFixture<{ readonly reasoning: string; readonly text: string }> | Absent
  /** A call after reasoning that the upstream expects back with the tool's result. */
  readonly reasoningBeforeTools:
    | (ReplyFixture<{ readonly tools: readonly SaidTool[] }> & {
        /** A text that the next request must contain: a signature. */
        readonly returns: string
      })
    | Absent
  /** The model refuses, or a filter stops it. */
  readonly refusal: ReplyFixture<{ readonly finish: 'content_filter' } | { readonly refusal: string }> | Absent
  /** The reply reached its maximum length. */
  readonly length: ReplyFixture<{ readonly finish: 'length' }> | Absent
  /** The reply to a request with an image. */
  readonly image: ReplyFixture<{ readonly text: string }> | Absent
  /** The usage of a call whose prompt was in a cache. */
  readonly cachedUsage: ReplyFixture<{ readonly usage: Partial<Usage> }> | Absent
}

/** An upstream's error reply. */
export interface ErrorFixture {
  readonly asked?: Asked
  readonly status: number
  /** Bytes, or a value that is sent as JSON. */
  readonly body: object | Bytes
  /** A function, if they depend on the time of the reply: `() => ({ 'x-reset-ms': String(Date.now() + 9000) })`. */
  readonly headers?: HeaderLines | (() => HeaderLines)
  /** Seconds, if the body or a header of the upstream's own says how long to wait. */
  readonly retryAfter?: number
  /** The field of the request that the body names, as the client reads it. */
  readonly param?: string
}

/** The errors that clients can tell apart. */
export interface Errors {
  readonly badRequest: ErrorFixture | Absent
  readonly contextTooLong: ErrorFixture | Absent
  readonly badCredential: ErrorFixture | Absent
  readonly unknownModel: ErrorFixture | Absent
  readonly rateLimit: ErrorFixture | Absent
  /** The upstream account has no credit left. */
  readonly quota: ErrorFixture | Absent
  readonly overloaded: ErrorFixture | Absent
  readonly internal: ErrorFixture | Absent
}

/** An error in the middle of a stream. */
export interface MidStreamError {
  readonly asked?: Asked
  readonly stream?: readonly Bytes[]
  /** The code that the client reads: `upstream_overloaded`. */
  readonly code: string
}

/** A reply of the upstream's embeddings endpoint. */
export interface EmbeddingsFixture {
  /** Fields of the client's request besides `input`. `model`: the upstream's name of an embedding model. */
  readonly asked?: Asked
  /** More than one text if the upstream takes several in one request. */
  readonly input: readonly [string, ...string[]]
  /** The body of its reply: bytes, or a value that is sent as JSON. */
  readonly whole?: object | Bytes
  readonly headers?: HeaderLines
  /** The client's reply: the vector of each text, of numbers that fit 32 bits, and the number of prompt tokens. */
  readonly says: { readonly vectors: readonly (readonly number[])[]; readonly tokens: number }
  /** For a parameter that OpenAI does not have, the fields of a request that uses it. */
  readonly parameters?: Readonly<Record<string, Asked>>
}

/** How the upstream lists its models. */
export interface Discovery {
  /** Answers the provider's requests for the list: a value that is sent as JSON, or a handler. */
  readonly answers?: object | RequestHandler
  /** The models' names, as the upstream has them. */
  readonly lists: readonly string[]
}

/** Whether a fixture is marked as absent. */
export function isAbsent(fixture: object): fixture is Absent {
  return 'absent' in fixture
}

/** The scenarios that the provider has. */
export function present({ scenarios }: ProviderUnderTest) {
  type Fixture = Exclude<Scenarios[keyof Scenarios], Absent>
  return (Object.entries(scenarios) as [keyof Scenarios, Fixture | Absent][]).filter(
    (entry): entry is [keyof Scenarios, Fixture] => !isAbsent(entry[1]),
  )
}

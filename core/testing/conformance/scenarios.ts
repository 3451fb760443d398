import type { Usage } from '../../sdk/api.ts'
import type { HeaderLines } from '../replies.ts'
import type { Said, SaidTool } from '../said.ts'
import type { Bytes } from '../script.ts'
import type { RequestHandler } from '../scripted-upstream.ts'
import type { Asked } from '../translator/run-translator.ts'

/** Stands for what an upstream does not have, and says why. */
export interface Absent {
  readonly absent: string
}

/** One reply in the upstream's own wire, whole and as a stream, and what it says. */
export interface ReplyFixture<Says = object> {
  /** Fields of the client's request that bring the reply about, where the suite's own do not. `model`: the upstream's name for it. */
  readonly asked?: Asked
  /** The body of a reply that is not a stream: bytes, or what its JSON says. */
  readonly whole?: object | Bytes
  /** The body of a stream, event by event, as it stands on the wire. */
  readonly stream?: readonly Bytes[]
  readonly says: Said & Says
}

/** What a model may do, each in the upstream's own wire. */
export interface Scenarios {
  /** A text in at least two pieces, and what it cost. */
  readonly text: ReplyFixture<{ readonly text: string; readonly usage: Partial<Usage> }>
  readonly parallelTools: ReplyFixture<{ readonly tools: readonly [SaidTool, SaidTool, ...SaidTool[]] }> | Absent
  /** A call whose arguments are `{}`, written as this upstream writes nothing. */
  readonly toolWithoutArguments: ReplyFixture<{ readonly tools: readonly [SaidTool] }> | Absent
  readonly textBeforeTools: ReplyFixture<{ readonly text: string; readonly tools: readonly SaidTool[] }> | Absent
  readonly reasoning: ReplyFixture<{ readonly reasoning: string; readonly text: string }> | Absent
  /** A call after reasoning that the upstream wants back with the tool's result. */
  readonly reasoningBeforeTools:
    | (ReplyFixture<{ readonly tools: readonly SaidTool[] }> & {
        /** A text that the request of the next turn must hold: a signature. */
        readonly returns: string
      })
    | Absent
  /** The model refuses, or a filter stops it. */
  readonly refusal: ReplyFixture<{ readonly finish: 'content_filter' } | { readonly refusal: string }> | Absent
  /** The reply is longer than it may be. */
  readonly length: ReplyFixture<{ readonly finish: 'length' }> | Absent
  /** The answer to a request with an image in it. */
  readonly image: ReplyFixture<{ readonly text: string }> | Absent
  /** What a call costs whose prompt was in a cache. */
  readonly cachedUsage: ReplyFixture<{ readonly usage: Partial<Usage> }> | Absent
}

/** A refusal, as the upstream words it. */
export interface ErrorFixture {
  readonly asked?: Asked
  readonly status: number
  /** Bytes, or what its JSON says. */
  readonly body: object | Bytes
  readonly headers?: HeaderLines
  /** Seconds, where the body says how long to wait. */
  readonly retryAfter?: number
}

/** The refusals that clients can tell apart. */
export interface Errors {
  readonly badRequest: ErrorFixture | Absent
  readonly contextTooLong: ErrorFixture | Absent
  readonly badCredential: ErrorFixture | Absent
  readonly unknownModel: ErrorFixture | Absent
  readonly rateLimit: ErrorFixture | Absent
  /** The account is empty. */
  readonly quota: ErrorFixture | Absent
  readonly overloaded: ErrorFixture | Absent
  readonly internal: ErrorFixture | Absent
}

/** An error that comes when some of a stream has been sent. */
export interface MidStreamError {
  readonly asked?: Asked
  readonly stream?: readonly Bytes[]
  /** The code that the client reads: `upstream_overloaded`. */
  readonly code: string
}

/** What the upstream makes of texts, at its endpoint for embeddings. */
export interface EmbeddingsFixture {
  /** Fields of the client's request beside `input`. `model`: the upstream's name of one that embeds. */
  readonly asked?: Asked
  /** More than one where the upstream takes more than one a request. */
  readonly input: readonly [string, ...string[]]
  /** The body of its reply: bytes, or what its JSON says. */
  readonly whole?: object | Bytes
  readonly headers?: HeaderLines
  /** What the client gets: the vector of each text, of numbers that 32 bits can hold, and how many tokens were read. */
  readonly says: { readonly vectors: readonly (readonly number[])[]; readonly tokens: number }
  /** For a parameter beside OpenAI's own, the fields of a request that uses it. */
  readonly parameters?: Readonly<Record<string, Asked>>
}

/** How the upstream lists its models. */
export interface Discovery {
  /** Answers the requests that the provider makes for it: what JSON says, or a handler. */
  readonly answers?: object | RequestHandler
  /** The models' names, as the upstream has them. */
  readonly lists: readonly string[]
}

/** Whether it is named as absent. */
export function isAbsent(fixture: object): fixture is Absent {
  return 'absent' in fixture
}

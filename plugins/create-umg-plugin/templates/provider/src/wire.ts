/** The wire types of Parrot's API: `POST /v1/talk` and `GET /v1/engines`. */

/** The body of a request. */
export interface TalkRequest {
  readonly engine: string
  readonly turns: readonly Turn[]
  readonly tools?: readonly Tool[]
  readonly words?: number
  readonly creativity?: number
  /** Whether the reply is a stream. */
  readonly live: boolean
}

/** One turn of a conversation. */
export type Turn =
  | { readonly who: 'director' | 'user'; readonly says: string }
  | { readonly who: 'parrot'; readonly says: string; readonly calls?: readonly Call[] }
  | { readonly who: 'tool'; readonly call: string; readonly says: string }

/** A tool that the model may call. */
export interface Tool {
  readonly name: string
  readonly about?: string
  /** A JSON Schema. */
  readonly input: object
}

/** A call of a tool. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

/** Why a reply ended. */
export type Ending = 'done' | 'words' | 'tools' | 'bleep' | 'hush'

/** Tokens, which Parrot calls words. */
export interface Cost {
  readonly heard: number
  readonly said: number
}

/** A reply that is not a stream. */
export interface Talk {
  readonly id: string
  readonly says: string
  readonly calls?: readonly Call[]
  readonly ended: Ending
  readonly cost: Cost
}

/** An event of a stream: a piece of the text, a whole call, or at the end its reason. */
export type TalkEvent =
  | { readonly id: string }
  | { readonly says: string }
  | { readonly call: Call }
  | { readonly ended: Ending; readonly cost: Cost }
  | TalkError

/** The body of an error, or its event in a stream. */
export interface TalkError {
  readonly trouble: { readonly kind: string; readonly words?: string }
}

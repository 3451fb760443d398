/** The reply to a call of `/v1/responses` that the gateway keeps, or that goes on with a conversation which it keeps. */
export interface KeptReply {
  /** The id of the response. */
  readonly id: string
  /** The id of the response that the call goes on from. */
  readonly previous: string | null
  /** The id of the conversation to which the call belongs. Absent: to none. */
  readonly conversation?: string | undefined
  /** Whether the response can be referred to later. */
  readonly isStored: boolean
  /** Whether the call goes on without its client. */
  readonly isBackground: boolean
  /** Keeps the complete response, a JSON text, before the client has its end. */
  complete(response: string): void
  /** Settles when its conversation has it, for which its client waits: the next call goes on with it. Absent: nobody waits. */
  readonly written?: Promise<unknown> | undefined
}

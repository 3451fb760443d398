/** The reply to a call of `/v1/responses` that the gateway keeps. */
export interface KeptReply {
  /** The id of the response. */
  readonly id: string
  /** The id of the response that the call goes on from. */
  readonly previous: string | null
  /** Whether the call goes on without its client. */
  readonly isBackground: boolean
  /** Keeps the complete response, a JSON text, before the client has its end. */
  complete(response: string): void
}

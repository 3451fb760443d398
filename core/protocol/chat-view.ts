import { closeFacade } from '../plugins/facade.ts'
import type { Call, ChatRequest, EndpointName, Media, ModelId } from '../sdk/api.ts'

/** What a `ChatView` shows. */
export interface ChatSource {
  readonly endpoint: EndpointName
  readonly model: ModelId
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<ChatRequest>
  /** The client's own call. */
  readonly client: Pick<Call, 'id' | 'stream' | 'size' | 'large' | 'media' | 'keptTokens'>
  /** A top-level member of `body`. */
  member(key: string): unknown
  /** As `Call.edit`. */
  edit(pointer: string, value: unknown): void
}

/** The call of a client of another protocol, as a chat completion request. */
export class ChatView implements Call {
  readonly #source: ChatSource

  constructor(source: ChatSource) {
    this.#source = source
  }

  get id(): string {
    return this.#source.client.id
  }
  get endpoint(): EndpointName {
    return this.#source.endpoint
  }
  get model(): ModelId {
    return this.#source.model
  }
  get stream(): boolean {
    return this.#source.client.stream
  }
  get form(): undefined {
    return undefined
  }
  get files(): undefined {
    return undefined
  }
  get includeUsage(): boolean {
    return this.stream
  }
  get choices(): number {
    return 1
  }
  get size(): number {
    return this.#source.client.size
  }
  get large(): boolean {
    return this.#source.client.large
  }
  get media(): Media {
    return this.#source.client.media
  }
  get keptTokens(): number | undefined {
    return this.#source.client.keptTokens
  }
  get keys(): readonly string[] {
    return Object.keys(this.#source.body)
  }
  get headers(): Readonly<Record<string, string>> {
    return this.#source.headers
  }
  get body(): Readonly<ChatRequest> {
    return this.#source.body
  }

  mayHave(): boolean {
    return true
  }

  member(key: string): unknown {
    return this.#source.member(key)
  }

  splice(members: Readonly<Record<string, unknown>>): Buffer {
    return Buffer.from(JSON.stringify({ ...this.#source.body, ...members }))
  }

  edit(pointer: string, value: unknown): void {
    this.#source.edit(pointer, value)
  }
}

closeFacade(ChatView)

/** Compares what is written with Anthropic's types (@anthropic-ai/sdk). Compiled, never run. */
import type { Message, RawMessageStreamEvent, TextBlock } from '@anthropic-ai/sdk/resources/messages'
import type { Message as OurMessage, StreamEvent } from '../../../../core/protocol/messages/wire.ts'

/** A type as JSON: all members are readonly. Anthropic's replies have no `citations` in a text without them, although the type requires them. */
type Wire<T> = T extends readonly (infer Item)[]
  ? readonly Wire<Item>[]
  : T extends object
    ? { readonly [Key in keyof T as T extends TextBlock ? Exclude<Key, 'citations'> : Key]: Wire<T[Key]> }
    : T

/** A whole message is one of Anthropic's. */
export const toSdkMessage = (message: OurMessage): Wire<Message> => message

/** Each event is one of Anthropic's. */
export const toSdkEvent = (event: StreamEvent): Wire<RawMessageStreamEvent> => event

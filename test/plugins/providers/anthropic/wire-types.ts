/** Compares the request types with Anthropic's (@anthropic-ai/sdk). Compiled, never run. */
import type { MessageCreateParams, TextBlockParam, Tool } from '@anthropic-ai/sdk/resources/messages'
import type { MessagesRequest, Tool as OurTool, TextBlock } from '../../../../plugins/providers/anthropic/wire.ts'

/** A type as JSON: all members are readonly. */
type Wire<T> = T extends readonly (infer Item)[]
  ? readonly Wire<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Wire<T[Key]> }
    : T

/** Members of our version of the API that the SDK's version no longer has. */
type Sampling = 'temperature' | 'top_p' | 'top_k'

/** Our type is assignable to theirs. */
export const toSdk = (request: Omit<MessagesRequest, Sampling>): Wire<MessageCreateParams> => request

/** And has no other members. */
type Keys =
  | Exclude<keyof MessagesRequest, keyof MessageCreateParams | Sampling>
  | Exclude<keyof TextBlock, keyof TextBlockParam>
  | Exclude<keyof OurTool, keyof Tool>

/** There are none. */
export const noneExtra = (key: Keys): never => key

/** What is sent compiles against Anthropic's own types (@anthropic-ai/sdk). Compiled, never run. */
import type { MessageCreateParams, TextBlockParam, Tool } from '@anthropic-ai/sdk/resources/messages'
import type { MessagesRequest, Tool as OurTool, TextBlock } from '../../../../plugins/providers/anthropic/wire.ts'

/** A type as JSON has it: nothing can be written to. */
type Wire<T> = T extends readonly (infer Item)[]
  ? readonly Wire<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Wire<T[Key]> }
    : T

/** Of the version that ours is of, and no longer of theirs, which refuses them. */
type Sampling = 'temperature' | 'top_p'

/** Ours is one of theirs. */
export const toSdk = (request: Omit<MessagesRequest, Sampling>): Wire<MessageCreateParams> => request

/** And has no field that theirs has not. */
type Keys =
  | Exclude<keyof MessagesRequest, keyof MessageCreateParams | Sampling>
  | Exclude<keyof TextBlock, keyof TextBlockParam>
  | Exclude<keyof OurTool, keyof Tool>

/** There is none. */
export const noneExtra = (key: Keys): never => key

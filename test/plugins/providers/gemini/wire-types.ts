/** Compares the request types with Google's (@google/genai). Compiled, never run. */
import type { Content, GenerationConfig, Tool, ToolConfig } from '@google/genai'
import type { GenerateRequest } from '../../../../plugins/providers/gemini/wire.ts'

/** A type of the SDK as JSON: enums are strings, and all members are readonly. */
type Wire<T> = T extends string
  ? `${T}`
  : T extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Wire<T[Key]> }
      : T

/** `GenerateContentRequest` of generateContent, of the SDK's types of its parts. */
interface SdkRequest {
  readonly contents: readonly Wire<Content>[]
  readonly systemInstruction?: Wire<Content>
  readonly tools?: readonly Wire<Tool>[]
  readonly toolConfig?: Wire<ToolConfig>
  readonly generationConfig?: Wire<GenerationConfig>
}

/** Our type is assignable to theirs. */
export const toSdk = (request: GenerateRequest): SdkRequest => request

/** And has no other members. */
type Extra<Ours, Theirs> = Exclude<Ours extends unknown ? keyof Ours : never, keyof Theirs>
type PartKeys = Extra<GenerateRequest['contents'][number]['parts'][number], NonNullable<Content['parts']>[number]>
type ConfigKeys = Extra<NonNullable<GenerateRequest['generationConfig']>, GenerationConfig>

/** There are none. */
export const noneExtra = (key: PartKeys | ConfigKeys): never => key

/** What is sent compiles against Google's own types (@google/genai). Compiled, never run. */
import type { Content, GenerationConfig, Tool, ToolConfig } from '@google/genai'
import type { GenerateRequest } from '../../../../plugins/providers/gemini/wire.ts'

/** A type of the SDK as JSON has it: enums are their texts, and nothing can be written to. */
type Wire<T> = T extends string
  ? `${T}`
  : T extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Wire<T[Key]> }
      : T

/** `GenerateContentRequest` of generateContent, of the parts that the SDK has types for. */
interface SdkRequest {
  readonly contents: readonly Wire<Content>[]
  readonly systemInstruction?: Wire<Content>
  readonly tools?: readonly Wire<Tool>[]
  readonly toolConfig?: Wire<ToolConfig>
  readonly generationConfig?: Wire<GenerationConfig>
}

/** Ours is one of theirs. */
export const toSdk = (request: GenerateRequest): SdkRequest => request

/** And has no field that theirs has not. */
type Extra<Ours, Theirs> = Exclude<Ours extends unknown ? keyof Ours : never, keyof Theirs>
type PartKeys = Extra<GenerateRequest['contents'][number]['parts'][number], NonNullable<Content['parts']>[number]>
type ConfigKeys = Extra<NonNullable<GenerateRequest['generationConfig']>, GenerationConfig>

/** There is none. */
export const noneExtra = (key: PartKeys | ConfigKeys): never => key

/** What becomes of a chat parameter. */
export type ParameterFate =
  | { readonly fate: 'mapped'; readonly to: string }
  /** Harmless: left out, and named in `x-umg-params-dropped`. */
  | { readonly fate: 'dropped' }
  /** Leaving it out would change the meaning: 400 `unsupported_parameter`. */
  | { readonly fate: 'refused'; readonly why?: string }

/** A parameter that is sent; `to`: what the upstream calls it. For a table: `{ temperature: mapped('creativity'), seed: dropped }`. */
export const mapped = (to: string): ParameterFate => ({ fate: 'mapped', to })

/** A parameter that is left out. */
export const dropped: ParameterFate = { fate: 'dropped' }

/** A parameter that is refused; `why`: a sentence that says what to do instead. */
export const refused = (why: string): ParameterFate => ({ fate: 'refused', why })

const USE_TOOLS = refused('Use `tools` and `tool_choice`.')
const NO_SOUND = refused('This provider gives no sound; ask for text.')

/** What hardly any upstream but OpenAI takes. A provider's table ends with it: `{ …, ...onlyOpenai }`; what one does take stands below it. */
export const onlyOpenai: Readonly<Record<string, ParameterFate>> = {
  verbosity: dropped,
  prediction: dropped,
  service_tier: dropped,
  store: dropped,
  metadata: dropped,
  user: dropped,
  safety_identifier: dropped,
  prompt_cache_key: dropped,
  prompt_cache_retention: dropped,
  prompt_cache_options: dropped,
  modalities: NO_SOUND,
  audio: NO_SOUND,
  functions: USE_TOOLS,
  function_call: USE_TOOLS,
  web_search_options: refused('This provider does not search the web.'),
  moderation: refused('This provider does not moderate.'),
}

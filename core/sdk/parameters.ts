import { GatewayError } from '../errors.ts'

/** What becomes of a chat parameter. */
export type ParameterSupport =
  | { readonly support: 'mapped'; readonly to: string }
  /** Harmless: left out, and named in `x-umg-params-dropped`. */
  | { readonly support: 'dropped' }
  /** Leaving it out would change the meaning: 400 `unsupported_parameter`. */
  | { readonly support: 'refused'; readonly why?: string }

/** A parameter that is sent; `to`: what the upstream calls it. For a table: `{ temperature: mapped('creativity'), seed: dropped }`. */
export const mapped = (to: string): ParameterSupport => ({ support: 'mapped', to })

/** A parameter that is left out. */
export const dropped: ParameterSupport = { support: 'dropped' }

/** A parameter that is refused; `why`: a sentence that says what to do instead. */
export const refused = (why: string): ParameterSupport => ({ support: 'refused', why })

const USE_TOOLS = refused('Use `tools` and `tool_choice`.')
const NO_SOUND = refused('This provider gives no sound; ask for text.')

/** What hardly any upstream but OpenAI takes. A provider's table ends with it: `{ …, ...onlyOpenai }`; what one does take stands below it. */
export const onlyOpenai: Readonly<Record<string, ParameterSupport>> = {
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

/** The two refusals of a request that cannot be translated. `param` is a path in the client's body: `messages[0].content`. */

/** 400 for what OpenAI takes and this upstream does not. `hint` is a sentence that says what to do instead. */
export function unsupportedParameter(param: string, hint: string): GatewayError {
  return new GatewayError('unsupported_parameter', { param, values: { detail: ` ${hint}` } })
}

/** 400 for what OpenAI would not take either. `detail` completes "Invalid value for 'param': …". */
export function invalidValue(param: string, detail: string): GatewayError {
  return new GatewayError('invalid_value', { param, values: { detail } })
}

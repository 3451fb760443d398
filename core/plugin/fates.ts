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

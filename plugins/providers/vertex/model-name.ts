/** Who made a model: its address, its wire and its parameters depend on it. */
export type Publisher = 'google' | 'anthropic'

/** A model as Vertex AI addresses it: `publishers/{publisher}/models/{name}`. */
export interface VertexModel {
  readonly publisher: Publisher
  /** `gemini-2.5-pro`, `claude-opus-4-5@20251101`. */
  readonly name: string
}

const NAME = /^(?:publishers\/)?(?:(google|anthropic)\/(?:models\/)?)?([\w-][\w.@-]*)$/

/**
 * The model that a name means: `claude-opus-4-5@20251101` alone, or with its publisher before it as in Google's own lists. Undefined
 * for what is no name, or another publisher's.
 */
export function readModel(model: string): VertexModel | undefined {
  const [, publisher, name] = NAME.exec(model) ?? []
  if (name === undefined) return undefined
  if (publisher === 'google' || publisher === 'anthropic') return { publisher, name }
  return { publisher: name.startsWith('claude-') ? 'anthropic' : 'google', name }
}

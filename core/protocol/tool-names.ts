import { createHash } from 'node:crypto'

/**
 * The names of tools that every vendor takes: OpenAI and Bedrock 64 letters, digits, `_` and `-`; Gemini and Moonshot want a letter or `_` first
 * (platform.openai.com, "Function calling"; "ToolSpecification", Amazon Bedrock API reference; ai.google.dev, `FunctionDeclaration`).
 */
const FITTING = /^[A-Za-z_][\w-]{0,63}$/

const LENGTH = 64

/** The name of a tool as vendors take it. One that is not taken keeps its beginning, and ends with a digest: each has a name of its own. */
export function fittedName(name: string): string {
  if (name === '' || FITTING.test(name)) return name
  const digest = `_${createHash('sha256').update(name).digest('hex').slice(0, 10)}`
  const plain = name.replace(/[^\w-]/g, '_')
  return (/^[A-Za-z_]/.test(plain) ? plain : `_${plain}`).slice(0, LENGTH - digest.length) + digest
}

const FITTED = /_[\da-f]{10}$/

/** The names of a client's tools, by those that vendors have for them. */
export class ClientNames {
  readonly #names: () => readonly string[]
  #byFitted: ReadonlyMap<string, string> | undefined

  /** `names`: of the client's tools; called only for a reply with a name that may be a fitted one. */
  constructor(names: () => readonly string[]) {
    this.#names = names
  }

  /** The client's name of the tool that a model calls. */
  of(called: string): string {
    if (!FITTED.test(called)) return called
    this.#byFitted ??= new Map(this.#names().map((name) => [fittedName(name), name]))
    return this.#byFitted.get(called) ?? called
  }
}

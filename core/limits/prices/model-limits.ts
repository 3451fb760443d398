import { matchesGlob } from '../../text/glob.ts'

/** A table of vendors: of each, globs of its names of models, the first that matches. The last row is for models that nothing is known of. */
type ByModel = Readonly<Record<string, readonly (readonly [glob: string, tokens: number])[]>>

const OPENAI_OUTPUT: ByModel[string] = [
  ['gpt-6*', 128_000],
  ['gpt-5*chat*', 16_384],
  ['gpt-5*', 128_000],
  ['gpt-4.1*', 32_768],
  ['gpt-4o-2024-05-13', 4096],
  ['gpt-4*-realtime*', 4096],
  ['gpt-4o*', 16_384],
  ['gpt-4*', 4096],
  ['gpt-3.5*', 4096],
  ['o1*', 100_000],
  ['o3*', 100_000],
  ['o4*', 100_000],
  ['*', 16_384],
]

const CLAUDE_OUTPUT: ByModel[string] = [
  ['claude-3-7*', 64_000],
  ['claude-3-5*', 8192],
  ['claude-3*', 4096],
  ['claude-2*', 4096],
  ['claude-opus-4-1*', 32_000],
  ['claude-opus-4-2*', 32_000],
  ['claude-4-opus*', 32_000],
  ['claude-opus-4', 32_000],
  ['claude-opus-4-0', 32_000],
  ['claude-opus-4-5*', 64_000],
  ['claude-opus-4-*', 128_000],
  ['claude-opus-5*', 128_000],
  ['claude-haiku-5*', 128_000],
  ['claude-sonnet-5*', 128_000],
  ['claude-fable-5*', 128_000],
  ['claude-mythos-5*', 128_000],
]

/**
 * The most tokens that a model writes, thoughts included. Upstreams refuse a cap beyond it, so an unknown model has what all newer ones of its
 * vendor take. Read 2026-11-26: platform.claude.com/docs/en/models/overview (Opus 5.5, Sonnet 5.5, Haiku 5.5, Haiku 4.5) and
 * developers.openai.com/api/docs/models/compare (GPT-6). The others are from model_prices_and_context_window.json of
 * github.com/BerriAI/litellm, 2026-07-24, not confirmed by the vendors' pages; the last rows are our choice. One that is too low shortens
 * answers, and costs nothing: it is sent as the cap.
 */
const OUTPUT: ByModel = {
  openai: OPENAI_OUTPUT,
  azure: OPENAI_OUTPUT,
  anthropic: [...CLAUDE_OUTPUT, ['*', 64_000]],
  aws: [...CLAUDE_OUTPUT.map(([glob, tokens]) => [`*${glob}`, tokens] as const), ['*claude*', 64_000], ['*', 4096]],
  google: [
    ['claude*', 32_000],
    ['gemini-1*', 8192],
    ['gemini-2.0*', 8192],
    ['gemini*', 65_535],
    ['*', 8192],
  ],
  deepseek: [
    ['deepseek-reasoner*', 65_536],
    ['*', 8192],
  ],
  moonshotai: [
    ['kimi-k2.6*', 384_000],
    ['kimi-k2.5*', 131_072],
    ['*', 8192],
  ],
  'x-ai': [['*', 131_072]],
}

/** Of all other vendors: a cap that nearly every model takes. */
const OTHER_OUTPUT = 4096

/** The most tokens that a model writes, or a number that it surely can write if that is unknown. `vendor`: of genai-prices. */
export const outputLimitOf = (vendor: string | undefined, model: string): number => find(OUTPUT, vendor, model) ?? OTHER_OUTPUT

/** The most tokens that a model writes; undefined if no row names its version, since the others are our choice. */
export function knownOutputLimitOf(vendor: string, model: string): number | undefined {
  const row = rowOf(OUTPUT, vendor, model)
  return row !== undefined && /\d/.test(row[0]) ? row[1] : undefined
}

/** Pictures of mini and nano models have more tokens for each patch. */
const OPENAI_PICTURE: ByModel[string] = [
  ['gpt-4o-mini*', 48_169],
  ['*-mini*', 17_200],
  ['*-nano*', 24_600],
  ['*', 10_000],
]

/**
 * The largest price of one picture in a prompt, in tokens. Not confirmed: no passage with these numbers could be read on 2026-11-26, neither of
 * developers.openai.com/api/docs/guides/images-vision (eight tiles in high detail: 2833 + 8 × 5667 for gpt-4o-mini; 10,000 patches in original
 * detail, times 1.72 or 2.46 for mini and nano models), platform.claude.com/docs/en/build-with-claude/vision (4784 at high resolution),
 * ai.google.dev/gemini-api/docs/media-resolution (2240; 258 for each of up to 16 tiles before Gemini 3), nor of Mistral (64 rows of 64 patches,
 * each with an end). Each is the highest that is known of its vendor; a vendor without a known one has that of all others.
 */
const PICTURE: ByModel = {
  openai: OPENAI_PICTURE,
  azure: OPENAI_PICTURE,
  anthropic: [['*', 4784]],
  aws: [['*', 4784]],
  google: [['*', 4128]],
  mistral: [['*', 4160]],
}

/** Of all other vendors: the most patches that Qwen's models take of a picture (huggingface.co/Qwen/Qwen2-VL-7B-Instruct, read 2026-11-26). */
const OTHER_PICTURE = 16_384

/** The largest price of one picture in the prompt of a model, in tokens. */
export const pictureTokensOf = (vendor: string | undefined, model: string): number =>
  find(PICTURE, vendor, model) ?? OTHER_PICTURE

/**
 * The context window of a model that nothing is known of: as large as the largest that are common, of GPT-6
 * (developers.openai.com/api/docs/models/compare, read 2026-11-26).
 */
export const LARGEST_CONTEXT = 1_050_000

function rowOf(table: ByModel, vendor: string | undefined, model: string): ByModel[string][number] | undefined {
  if (vendor === undefined || !Object.hasOwn(table, vendor)) return undefined
  return table[vendor]!.find(([glob]) => matchesGlob(glob, model))
}

const find = (table: ByModel, vendor: string | undefined, model: string): number | undefined => rowOf(table, vendor, model)?.[1]

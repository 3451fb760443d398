import { type Static, Type } from 'typebox'
import { VARIANTS, type VariantName } from '../../protocol/variants.ts'
import { defaulted, duration } from './fields.ts'

/** The most US dollars of any price: beyond it, costs would not be exact. */
const MAX_USD = 1000

const usd = (description: string, example: number) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: MAX_USD, description, examples: [example] }))

/** US dollars per million tokens of each class. */
const perMillion = {
  input: usd('Tokens of the prompt that none of the fields below is for.', 2.5),
  cachedInput: usd('Tokens read from the cache of the upstream. Absent: as `input`.', 0.25),
  cachedInputAudio: usd('Audio read from the cache. Absent: as `cachedInput`.', 0.4),
  cacheWrite: usd('Tokens written to the cache. Absent: as `input`.', 3.75),
  cacheWrite1h: usd('Tokens written to a cache that is kept for an hour. Absent: as `cacheWrite`.', 6),
  cacheWrite12h: usd('Tokens written to a cache that is kept for twelve hours. Absent: as `cacheWrite`.', 5),
  inputAudio: usd('Audio of the prompt. Absent: as `input`.', 32),
  inputImage: usd('Images of the prompt. Absent: as `input`.', 5),
  output: usd('Tokens of the answer that none of the fields below is for.', 10),
  reasoning: usd('Reasoning. Absent: as `output`.', 3),
  outputAudio: usd('Audio of the answer. Absent: as `output`.', 64),
  outputImage: usd('Images of the answer. Absent: as `output`.', 30),
}

/** The prices of long prompts. */
const tier = Type.Object({
  above: Type.Integer({
    minimum: 1,
    description: 'Prompts with more tokens than this have the prices of the tier.',
    examples: [200000],
  }),
  ...perMillion,
})

const picture = Type.Object(
  {
    usd: Type.Number({ minimum: 0, maximum: MAX_USD, description: 'US dollars for each picture.', examples: [0.08] }),
    size: Type.Optional(Type.String({ description: 'The `size` of the call. Absent: any.', examples: ['1024x1792'] })),
    quality: Type.Optional(Type.String({ description: 'The `quality` of the call. Absent: any.', examples: ['hd'] })),
  },
  { description: 'The price of pictures of one size and quality.' },
)

/** The most by which the price of a service may differ from that of the usual one. */
const MAX_FACTOR = 100

const variant = (name: string) =>
  Type.Optional(
    Type.Record(Type.String(), Type.Number({ minimum: 0, maximum: MAX_FACTOR }), {
      minProperties: 1,
      description: `By the value of \`${name}\`.`,
    }),
  )

/** What a model costs in addition to its tokens. */
const extras = {
  pictures: Type.Optional(
    Type.Array(picture, {
      minItems: 1,
      description: 'For each picture that a call to /v1/images asks for; the first that fits its `size` and `quality`.',
      examples: [[{ usd: 0.12, size: '1024x1792', quality: 'hd' }, { usd: 0.08 }]],
    }),
  ),
  search: usd('US dollars for each search of a call to /v1/rerank: 100 documents of up to 500 tokens.', 0.002),
  variants: Type.Optional(
    Type.Object(
      Object.fromEntries(Object.keys(VARIANTS).map((name) => [name, variant(name)])) as Record<
        VariantName,
        ReturnType<typeof variant>
      >,
      {
        minProperties: 1,
        description:
          'The factor of the price of all tokens of a call that asks for another service than the usual one, by member and value.',
        examples: [{ service_tier: { priority: 2, flex: 0.5 } }],
      },
    ),
  ),
}

/** The fields of `extras`, which may be added to `like`. */
export const EXTRA_FIELDS: readonly string[] = Object.keys(extras)

/** Prices in numbers. `checkPrices` says which are needed. */
const amounts = {
  ...perMillion,
  request: usd('US dollars for each call, added to those of its tokens.', 0.01),
  ...extras,
  tiers: Type.Optional(
    Type.Array(tier, {
      minItems: 1,
      description: 'Prices of long prompts, for all tokens of the call. Absent fields: as for short prompts.',
      examples: [[{ above: 200000, input: 5, output: 15 }]],
    }),
  ),
}

const modelPrice = Type.Object(
  {
    ...amounts,
    like: Type.Optional(
      Type.String({
        title: 'a vendor and a model of genai-prices',
        pattern: '^[^/]+/.+$',
        description: 'The list price of this model, `<vendor>/<model>` of genai-prices, instead of prices in numbers.',
        examples: ['azure/gpt-4o'],
      }),
    ),
    free: Type.Optional(Type.Literal(true, { description: 'The model costs nothing, for example on your own machine.' })),
  },
  { description: 'US dollars per million tokens, unless stated otherwise.' },
)

/** The fields of a model's price. */
export const PRICE_FIELDS: readonly string[] = Object.keys(modelPrice.properties)

const unpricedAmounts = Type.Object(amounts, { description: 'Such calls are charged by this price.' })

/** What a caller with a budget may do with a model without a price. */
const unpriced = Type.Unsafe<'refuse' | 'estimate' | 'serve' | Static<typeof unpricedAmounts>>({
  type: ['string', 'object'],
  if: { type: 'string' },
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
  then: Type.Enum(['refuse', 'estimate', 'serve']),
  else: unpricedAmounts,
  default: 'refuse',
  description:
    'Calls of callers with a budget to a model without a price: `refuse` refuses them; `estimate` charges them by the dearest known model of ' +
    'the vendor, and refuses them where none is known; `serve` serves them, and charges nothing; a price charges them by it.',
  examples: ['refuse', 'estimate', 'serve', { input: 10, output: 50 }],
})

/** Where each source publishes its list; the first source wins. */
export const SOURCES = {
  'genai-prices': 'https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data.json',
  litellm: 'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json',
} as const

/** The name of a source of list prices. */
export type SourceName = keyof typeof SOURCES

const source = (name: SourceName) =>
  Type.Optional(
    Type.Object(
      {
        from: defaulted(
          Type.String({
            title: 'an https address or the path of a file',
            minLength: 1,
            default: SOURCES[name],
            description: 'Where the list is read: an address, or a file relative to this one. Absent: where it is published.',
            examples: ['https://mirror.example.com/prices.json', './mirror/prices.json'],
          }),
        ),
        sha256: Type.Optional(
          Type.String({
            title: '64 hexadecimal digits',
            pattern: '^[0-9a-f]{64}$',
            description: 'The SHA-256 of the only list that is taken. Absent: any list that can be believed.',
            examples: ['0123456789abcdef'.repeat(4)],
          }),
        ),
      },
      { description: `The list of ${name}.` },
    ),
  )

/** The lists of vendors' prices that are newer than the one in the package. */
const lists = Type.Object(
  {
    folder: defaulted(
      Type.String({
        minLength: 1,
        default: 'prices',
        description: 'The folder in which the last good lists are kept, relative to this file.',
        examples: ['/var/lib/umg/prices'],
      }),
    ),
    every: Type.Optional(
      duration('How often the gateway itself fetches the lists. Absent: never; only `umg prices update` does.'),
    ),
    sources: defaulted(
      Type.Object(
        { 'genai-prices': source('genai-prices'), litellm: source('litellm') },
        {
          minProperties: 1,
          default: { 'genai-prices': {}, litellm: {} },
          description: 'The lists that are updated. Where both know a model, `genai-prices` applies.',
          examples: [{ 'genai-prices': {} }],
        },
      ),
    ),
  },
  { default: {}, description: 'Newer list prices of vendors than those in the package.' },
)

/** The prices of models, over the list prices of their vendors. */
export const prices = Type.Object(
  {
    lists: defaulted(lists),
    models: defaulted(
      Type.Record(Type.String(), modelPrice, {
        default: {},
        description:
          'Prices by model id, as calls are served: `<namespace>/<model>`; `*` matches any characters. ' +
          'Absent: the list price of the vendor.',
        examples: [{ 'local/*': { free: true } }],
      }),
    ),
    unpriced: defaulted(unpriced),
  },
  { default: {}, description: 'What models cost, where it is not the list price of their vendor.' },
)

/** The validated value of `prices`. */
export type PricesValues = Static<typeof prices>

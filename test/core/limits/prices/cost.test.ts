import { expect } from 'chai'
import fc from 'fast-check'
import { costOf, createPrice, highestCost, sumOfCosts, type UsdPrice } from '../../../../core/limits/prices/price.ts'
import { TOKEN_CLASSES, tokenClasses } from '../../../../core/protocol/usage.ts'
import type { Usage } from '../../../../core/sdk/api.ts'
import { usageOfMessages as anthropic } from '../../../../core/sdk/messages-usage.ts'
import { formatUsd } from '../../../../core/text/money.ts'
import { toUsage as bedrock } from '../../../../plugins/providers/bedrock/reply.ts'
import { toUsage as cohere } from '../../../../plugins/providers/cohere/reply.ts'
import { toUsage as gemini } from '../../../../plugins/providers/gemini/reply.ts'

/** One call: the usage as its upstream reported it, a price, and the cost as computed by hand. */
interface Example {
  readonly what: string
  readonly usage: Partial<Usage> | undefined
  readonly price: UsdPrice
  readonly classes: Readonly<Record<string, number>>
  readonly usd: string
}

const SONNET: UsdPrice = {
  input: 3,
  cachedInput: 0.3,
  cacheWrite: 3.75,
  cacheWrite1h: 6,
  output: 15,
  tiers: [{ above: 200_000, input: 6, cachedInput: 0.6, cacheWrite: 7.5, cacheWrite1h: 12, output: 22.5 }],
}
const AUDIO: UsdPrice = { input: 4, inputAudio: 32, cachedInput: 0.4, output: 16, outputAudio: 64 }

const EXAMPLES: readonly Example[] = [
  {
    what: 'OpenAI: cached tokens are part of the prompt, reasoning of the completion',
    usage: {
      prompt_tokens: 2006,
      completion_tokens: 300,
      total_tokens: 2306,
      prompt_tokens_details: { cached_tokens: 1920, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 192, audio_tokens: 0 },
    },
    price: { input: 2.5, cachedInput: 1.25, output: 10 },
    classes: { input: 86, cachedInput: 1920, output: 108, reasoning: 192 },
    // 86 × 2.5 + 1920 × 1.25 + 300 × 10 = 215 + 2400 + 3000
    usd: '0.005615',
  },
  {
    what: 'DeepSeek, recorded: cache hits are also in the details',
    usage: {
      prompt_tokens: 339,
      completion_tokens: 92,
      total_tokens: 431,
      prompt_tokens_details: { cached_tokens: 320 },
      completion_tokens_details: { reasoning_tokens: 48 },
      prompt_cache_hit_tokens: 320,
      prompt_cache_miss_tokens: 19,
    },
    price: { input: 0.28, cachedInput: 0.028, output: 0.42 },
    classes: { input: 19, cachedInput: 320, output: 44, reasoning: 48 },
    // 19 × 0.28 + 320 × 0.028 + 92 × 0.42 = 5.32 + 8.96 + 38.64
    usd: '0.00005292',
  },
  {
    what: 'Anthropic: the prompt is read from and written to caches of two lifetimes',
    usage: anthropic({
      input_tokens: 10,
      output_tokens: 255,
      cache_read_input_tokens: 4000,
      cache_creation_input_tokens: 735,
      cache_creation: { ephemeral_1h_input_tokens: 135 },
    }),
    price: SONNET,
    classes: { input: 10, cachedInput: 4000, cacheWrite: 600, cacheWrite1h: 135, output: 255 },
    // 10 × 3 + 4000 × 0.3 + 600 × 3.75 + 135 × 6 + 255 × 15 = 30 + 1200 + 2250 + 810 + 3825
    usd: '0.008115',
  },
  {
    what: 'Anthropic: the tier of a long prompt applies to all tokens, and its length includes cached ones',
    usage: anthropic({ input_tokens: 1, output_tokens: 1000, cache_read_input_tokens: 200_000 }),
    price: SONNET,
    classes: { input: 1, cachedInput: 200_000, output: 1000 },
    // 1 × 6 + 200,000 × 0.6 + 1000 × 22.5 = 6 + 120,000 + 22,500
    usd: '0.142506',
  },
  {
    what: 'Anthropic: a prompt of exactly the limit has the prices of short ones',
    usage: anthropic({ input_tokens: 0, output_tokens: 1000, cache_read_input_tokens: 200_000 }),
    price: SONNET,
    classes: { cachedInput: 200_000, output: 1000 },
    // 200,000 × 0.3 + 1000 × 15
    usd: '0.075',
  },
  {
    what: 'Bedrock: cached tokens are beside the input tokens, written ones with their lifetime',
    usage: bedrock({
      inputTokens: 22,
      outputTokens: 57,
      cacheReadInputTokens: 100,
      cacheWriteInputTokens: 50,
      cacheDetails: [
        { ttl: '5m', inputTokens: 30 },
        { ttl: '1h', inputTokens: 20 },
      ],
    }),
    price: SONNET,
    classes: { input: 22, cachedInput: 100, cacheWrite: 30, cacheWrite1h: 20, output: 57 },
    // 22 × 3 + 100 × 0.3 + 30 × 3.75 + 20 × 6 + 57 × 15 = 66 + 30 + 112.5 + 120 + 855
    usd: '0.0011835',
  },
  {
    what: 'Gemini, recorded: thoughts are beside the candidates',
    usage: gemini({
      promptTokenCount: 9,
      candidatesTokenCount: 29,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 9 }],
      thoughtsTokenCount: 282,
    }),
    price: { input: 2, output: 12 },
    classes: { input: 9, output: 29, reasoning: 282 },
    // 9 × 2 + 311 × 12
    usd: '0.00375',
  },
  {
    what: 'Gemini: cached audio is reported apart',
    usage: gemini({
      promptTokenCount: 1000,
      candidatesTokenCount: 10,
      cachedContentTokenCount: 600,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 300 },
        { modality: 'AUDIO', tokenCount: 700 },
      ],
      cacheTokensDetails: [
        { modality: 'TEXT', tokenCount: 100 },
        { modality: 'AUDIO', tokenCount: 500 },
      ],
    }),
    price: { input: 0.3, inputAudio: 1, cachedInput: 0.03, cachedInputAudio: 0.1, output: 2.5 },
    classes: { input: 200, inputAudio: 200, cachedInput: 100, cachedInputAudio: 500, output: 10 },
    // 200 × 0.3 + 200 × 1 + 100 × 0.03 + 500 × 0.1 + 10 × 2.5 = 60 + 200 + 3 + 50 + 25
    usd: '0.000338',
  },
  {
    what: 'OpenAI: audio of prompt and answer',
    usage: {
      prompt_tokens: 119,
      completion_tokens: 75,
      total_tokens: 194,
      prompt_tokens_details: { audio_tokens: 100, cached_tokens: 0, text_tokens: 19 },
      completion_tokens_details: { audio_tokens: 60, text_tokens: 15, reasoning_tokens: 0 },
    },
    price: AUDIO,
    classes: { input: 19, inputAudio: 100, output: 15, outputAudio: 60 },
    // 19 × 4 + 100 × 32 + 15 × 16 + 60 × 64 = 76 + 3200 + 240 + 3840
    usd: '0.007356',
  },
  {
    what: 'an image model whose text and images cost differently',
    usage: {
      prompt_tokens: 20,
      completion_tokens: 1310,
      total_tokens: 1330,
      prompt_tokens_details: { image_tokens: 8 },
      completion_tokens_details: { image_tokens: 1290 },
    },
    price: { input: 0.3, output: 2.5, outputImage: 30 },
    classes: { input: 12, inputImage: 8, output: 20, outputImage: 1290 },
    // 20 × 0.3 + 20 × 2.5 + 1290 × 30 = 6 + 50 + 38,700
    usd: '0.038756',
  },
  {
    what: 'Cohere, recorded: tokens that it adds itself are not billed, cached or not',
    usage: cohere({
      billed_units: { input_tokens: 12, output_tokens: 7 },
      tokens: { input_tokens: 507, output_tokens: 10 },
      cached_tokens: 448,
    }),
    price: { input: 2.5, output: 10 },
    classes: { input: 12, output: 7 },
    // 12 × 2.5 + 7 × 10
    usd: '0.0001',
  },
  {
    what: 'an upstream that counts reasoning in the total only',
    usage: { prompt_tokens: 12, completion_tokens: 1, total_tokens: 303 },
    price: { input: 3, output: 15, reasoning: 5 },
    classes: { input: 12, output: 1, reasoning: 290 },
    // 12 × 3 + 1 × 15 + 290 × 5
    usd: '0.001501',
  },
  {
    what: 'a price for each request',
    usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
    price: { input: 1, output: 1, request: 0.012 },
    classes: { input: 10, output: 10 },
    usd: '0.01202',
  },
  {
    what: 'a fraction of a nano-dollar, rounded once',
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    price: { input: 0.0375, output: 0.0001 },
    classes: { input: 3, output: 1 },
    // 112.5 + 0.1 nano-dollars
    usd: '0.000000113',
  },
]

describe('the cost of a call', () => {
  for (const { what, usage, price, classes, usd } of EXAMPLES) {
    it(`is exact for ${what}`, () => {
      const counts = Object.entries(tokenClasses(usage as Usage)).filter(([, tokens]) => tokens > 0)
      expect(Object.fromEntries(counts)).to.deep.equal(classes)
      const cost = costOf(createPrice('test', price), usage as Usage)
      expect(cost?.price).to.equal('test')
      expect(formatUsd(cost!.nanoUsd)).to.equal(usd)
    })
  }

  it('says what tokens from a cache would have cost more without it', () => {
    const prompt_tokens_details = { cached_tokens: 600, cached_audio_tokens: 500 }
    const usage: Usage = { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010, prompt_tokens_details }
    const rates = { input: 0.3, inputAudio: 1, cachedInput: 0.03, cachedInputAudio: 0.1, output: 2.5 }
    // 100 × (0.3 − 0.03) + 500 × (1 − 0.1)
    expect(costOf(createPrice('audio', rates), usage)?.savedNanoUsd).to.equal(477_000)
    expect(costOf(createPrice('same', { input: 1, output: 1 }), usage)).to.not.have.property('savedNanoUsd')
    const cost = costOf(createPrice('audio', rates), usage)
    expect(sumOfCosts(cost, cost)?.savedNanoUsd).to.equal(954_000)
  })

  it('is unknown if it has tokens of a class without a price', () => {
    const price = createPrice('embeddings', { input: 0.02 })
    expect(costOf(price, { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 })?.nanoUsd).to.equal(200)
    expect(costOf(price, { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 })).to.equal(undefined)
  })

  it('counts each token once, whatever an upstream reports', () => {
    const tokens = fc.oneof(fc.nat(2000), fc.integer(), fc.double(), fc.constantFrom(null, undefined, '7', {}, 1e308))
    const anyUsage = fc.record({
      prompt_tokens: fc.nat(1000),
      completion_tokens: fc.nat(1000),
      prompt_tokens_details: fc.option(
        fc.record({
          cached_tokens: tokens,
          cached_audio_tokens: tokens,
          cache_write_tokens: tokens,
          cache_write_1h_tokens: tokens,
          audio_tokens: tokens,
          image_tokens: tokens,
        }),
      ),
      completion_tokens_details: fc.option(fc.record({ reasoning_tokens: tokens, audio_tokens: tokens, image_tokens: tokens })),
    })
    fc.assert(
      fc.property(anyUsage, (reported) => {
        const { prompt_tokens, completion_tokens } = reported
        const counts = tokenClasses({ ...reported, total_tokens: prompt_tokens + completion_tokens } as Usage)
        expect(Object.keys(counts)).to.have.members(Object.keys(TOKEN_CLASSES))
        const { output, outputAudio, outputImage, reasoning, ...prompt } = counts
        expect(Object.values(counts).every((count) => Number.isSafeInteger(count) && count >= 0)).to.equal(true)
        expect(Object.values(prompt).reduce((sum, count) => sum + count, 0)).to.equal(prompt_tokens)
        expect(output + outputAudio + outputImage + reasoning).to.equal(completion_tokens)
      }),
    )
  })

  it('equals the product of whole numbers, up to the largest counts and prices', () => {
    const usd = fc.integer({ min: 0, max: 1e9 }).map((micros) => micros / 1e6)
    const count = fc.integer({ min: 0, max: 1e9 })
    fc.assert(
      fc.property(usd, usd, count, count, (input, output, prompt, completion) => {
        const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
        const pico = BigInt(Math.round(input * 1e6)) * BigInt(prompt) + BigInt(Math.round(output * 1e6)) * BigInt(completion)
        expect(costOf(createPrice('test', { input, output }), usage)!.nanoUsd).to.equal(Number((pico + 500n) / 1000n))
      }),
    )
  })
})

describe('the highest cost of an estimated call', () => {
  it('is that of the dearest class of tokens', () => {
    // 100 × 32 + 10 × 64
    expect(highestCost(createPrice('test', AUDIO), { input: 100, output: 10 })).to.equal(3_840_000)
  })

  it('includes the price of the request, and the tier of a long prompt', () => {
    const price = createPrice('test', { ...SONNET, request: 0.01 })
    // 200,001 × 12 + 1 × 22.5
    expect(highestCost(price, { input: 200_001, output: 1 })).to.equal(10_000_000 + 2_400_012_000 + 22_500)
    expect(highestCost(price, { input: 200_000, output: 1 })).to.equal(10_000_000 + 1_200_000_000 + 15_000)
  })

  it('has sound only if the call asks for it', () => {
    const price = createPrice('test', { input: 2.5, output: 8, outputAudio: 80 })
    expect(highestCost(price, { input: 0, output: 2000, silent: true })).to.equal(16_000_000)
    expect(highestCost(price, { input: 0, output: 2000 })).to.equal(160_000_000)
  })

  it('is unknown if a price is', () => {
    const embeddings = createPrice('test', { input: 0.02 })
    expect(highestCost(embeddings, { input: 10, output: 0 })).to.equal(200)
    expect(highestCost(embeddings, { input: 10, output: 1 })).to.equal(undefined)
  })

  it('is never below the cost', () => {
    const amount = fc.integer({ min: 0, max: 1000 })
    const tokens = fc.nat(1000)
    const details = fc.record({ cached_tokens: tokens, cache_write_tokens: tokens, audio_tokens: tokens })
    fc.assert(
      fc.property(
        fc.array(amount, { minLength: 8, maxLength: 8 }),
        tokens,
        tokens,
        details,
        (usd, prompt, completion, ofPrompt) => {
          const [input, cachedInput, cacheWrite, inputAudio, output, reasoning, inTier, outTier] = usd
          const tiers = [{ above: 500, input: inTier, output: outTier }]
          const price = createPrice('test', { input, cachedInput, cacheWrite, inputAudio, output, reasoning, tiers })
          const usage = {
            prompt_tokens: prompt,
            completion_tokens: completion,
            total_tokens: prompt + completion,
            prompt_tokens_details: ofPrompt,
          }
          expect(highestCost(price, { input: prompt, output: completion })).to.be.at.least(costOf(price, usage)!.nanoUsd)
        },
      ),
    )
  })
})

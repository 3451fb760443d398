/** How far a request exceeds the context of its model, as its upstream says it. All counts are tokens; absent: not said. */
export interface ContextOverflow {
  readonly prompt?: number
  /** What was asked for beside the prompt. */
  readonly output?: number
  /** Of both together. */
  readonly limit?: number
}

/** `P`, `O` and `L` stand for the tokens of the prompt, of the output, and the limit. */
const counts = (pattern: string): RegExp =>
  new RegExp(
    pattern.replace(/\b[POL]\b/g, (name) => `(?<${{ P: 'prompt', O: 'output', L: 'limit' }[name]}>\\d[\\d,]{0,11})`),
    'i',
  )

/** The wordings of vendors (read 2026-11-25), with and without counts. */
const WORDINGS: readonly RegExp[] = [
  // Anthropic
  'prompt is too long: P tokens > L maximum',
  'prompt is too long',
  'exceed context limit: P \\+ O > L',
  'exceed context limit',
  // OpenAI, Azure, vLLM, DeepSeek, OpenRouter, SGLang
  'maximum context length (?:is|of) L tokens.{0,60}requested.{0,40}[(:] ?P (?:in the messages|of text input|tokens from the input).{0,60}? O (?:in the|tokens for the) (?:completion|output)',
  'maximum context length is L tokens.{0,40}(?:resulted in|requested|request has)(?: about)? P (?:input )?tokens',
  'passed P input tokens and requested O output tokens.{0,60}context length is only L tokens',
  'maximum context length is L tokens',
  'maximum context length',
  'length P\\) is longer than the maximum model length of L',
  'exceeds the context window',
  // Gemini
  'input token count \\(P\\) exceeds the maximum number of tokens allowed \\(L\\)',
  'input token count \\(P\\) plus the requested output count \\(O\\) exceeds',
  'input token count.{0,40}exceeds|exceeds the maximum number of (?:input )?tokens',
  // xAI
  'maximum prompt length is L but the request contains P tokens',
  // Groq, Cerebras
  'reduce the length of the messages or completion.{0,40}length is P while limit is L',
  'reduce the length of the messages or completion',
  // Together, SGLang
  '(?:input|prompt) \\(P tokens\\) is longer than the model.s context length \\(L tokens\\)',
  'longer than the model.s context length',
  // llama.cpp
  'request \\(P tokens\\) exceeds the available context size \\(L tokens\\)',
  'exceeds the available context size',
  // LM Studio
  'greater than the context length \\(n_keep: P\\s*>= n_ctx: L\\)',
  'greater than the context length',
  // Text Generation Inference
  'inputs. tokens \\+ .max_new_tokens. must be <= L.{0,20}Given: P .inputs. tokens and O .max_new_tokens',
  // Mistral
  'prompt contains P tokens.{0,60}too large for model with L maximum context length',
  'too large for model with L maximum context length',
  // MiniMax, Kimi, Z.ai
  'context window exceeds limit',
  'exceeded model token limit: L \\(requested: P\\)',
  'exceeded model token limit',
  'prompt exceeds max length',
  // Ollama
  'prompt too long|(?:exceeds|longer than).{0,40} context length',
  // Alibaba
  'range of input length should be \\[\\d+, L\\]',
  // Bedrock
  'input is too long|too many input tokens',
].map(counts)

/** Limits of a time, which are told in words that are like those of contexts. */
const OF_RATE = /\brate limit|\btoo many requests\b|\btokens per (?:min|hour|day)/i

/** Characters of a message that are read. */
const MAX_WORDS = 1000

/** What an upstream's message says of an exceeded context; undefined if it is about anything else. */
export function readOverflow(message: string): ContextOverflow | undefined {
  const words = message.slice(0, MAX_WORDS)
  if (OF_RATE.test(words)) return undefined
  const found = WORDINGS.map((wording) => wording.exec(words))
    .filter((match) => match !== null)
    .map(({ groups = {} }) => Object.entries(groups))
  if (found.length === 0) return undefined
  const fullest = found.reduce((best, each) => (each.length > best.length ? each : best))
  return Object.fromEntries(fullest.map(([name, text]) => [name, Number(text.replaceAll(',', ''))]))
}

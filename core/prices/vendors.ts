/** The vendors of genai-prices whose list prices the upstreams of a provider have, by the provider's name. */
export const PROVIDER_VENDORS: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  'azure-openai': 'azure',
  bedrock: 'aws',
  cohere: 'cohere',
  gemini: 'google',
  vertex: 'google',
}

/** The same for the presets of `openai-compatible`. */
export const PRESET_VENDORS: Readonly<Record<string, string>> = {
  openai: 'openai',
  cerebras: 'cerebras',
  deepseek: 'deepseek',
  fireworks: 'fireworks',
  gemini: 'google',
  groq: 'groq',
  mistral: 'mistral',
  moonshot: 'moonshotai',
  openrouter: 'openrouter',
  perplexity: 'perplexity',
  together: 'together',
  xai: 'x-ai',
  zai: 'zai',
}

/** An address of the operator's own may be a proxy, or another vendor. Azure has no other. */
const OWN_ADDRESS_IS_USUAL = 'azure-openai'

/** The vendor whose list prices apply to a provider with this config; undefined if none is known. */
export function vendorOf(provider: string, config: unknown): string | undefined {
  const { preset, baseUrl } = (config ?? {}) as { readonly preset?: unknown; readonly baseUrl?: unknown }
  if (baseUrl !== undefined && provider !== OWN_ADDRESS_IS_USUAL) return undefined
  const vendors = provider === 'openai-compatible' ? PRESET_VENDORS : PROVIDER_VENDORS
  const name = provider === 'openai-compatible' ? preset : provider
  return typeof name === 'string' && Object.hasOwn(vendors, name) ? vendors[name] : undefined
}

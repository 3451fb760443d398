import { matchesGlob } from '../../text/glob.ts'

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

/**
 * Hosts of vendors that keep calls in a region, where some models cost more. OpenAI's: developers.openai.com/api/docs/guides/data-residency, which
 * was read as far as us, eu, au, in and jp; the others as its clients on GitHub list them. Google's: docs.cloud.google.com,
 * gemini-enterprise-agent-platform/resources/locations (both read 2026-11-26).
 */
const REGIONAL_HOSTS: Readonly<Record<string, readonly string[]>> = {
  google: ['*-aiplatform.googleapis.com', 'aiplatform.*.rep.googleapis.com'],
  openai: ['us', 'eu', 'au', 'ca', 'jp', 'in', 'sg', 'kr', 'gb', 'ae'].map((region) => `${region}.api.openai.com`),
}

/**
 * The other hosts of each vendor; `*` matches any characters. A provider fills its config with the vendor's own address, and an operator may write
 * it too: list prices apply there, and nowhere else. A test compares them with the addresses of providers and presets.
 */
const HOSTS: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['api.anthropic.com'],
  aws: ['bedrock-runtime.*.amazonaws.com', 'bedrock-runtime-fips.*.amazonaws.com'],
  cerebras: ['api.cerebras.ai'],
  cohere: ['api.cohere.com', 'api.cohere.ai'],
  deepseek: ['api.deepseek.com'],
  fireworks: ['api.fireworks.ai'],
  google: ['generativelanguage.googleapis.com', 'aiplatform.googleapis.com'],
  groq: ['api.groq.com'],
  mistral: ['api.mistral.ai'],
  moonshotai: ['api.moonshot.ai'],
  openai: ['api.openai.com'],
  openrouter: ['openrouter.ai'],
  perplexity: ['api.perplexity.ai'],
  together: ['api.together.ai', 'api.together.xyz'],
  'x-ai': ['api.x.ai'],
  zai: ['api.z.ai'],
}

/** Each customer of Azure has an address of their own, so an address says nothing of its prices. */
const OWN_ADDRESSES = 'azure-openai'

/** The vendor whose list prices apply to a provider with this config; undefined if none is known: a proxy may charge anything. */
export function vendorOf(provider: string, config: unknown): string | undefined {
  const { preset, baseUrl } = (config ?? {}) as { readonly preset?: unknown; readonly baseUrl?: unknown }
  const host = hostOf(baseUrl)
  if (provider === 'openai-compatible') {
    const vendors = typeof preset === 'string' ? [ownValue(PRESET_VENDORS, preset)] : Object.values(PRESET_VENDORS)
    return baseUrl === undefined && preset === undefined ? undefined : vendors.find((vendor) => isAt(vendor, host))
  }
  const vendor = ownValue(PROVIDER_VENDORS, provider)
  return provider === OWN_ADDRESSES || isAt(vendor, host) ? vendor : undefined
}

/** Whether a provider with this config calls an address that keeps its calls in a region. */
export function isRegional(provider: string, config: unknown): boolean {
  const { region, baseUrl } = (config ?? {}) as { readonly region?: unknown; readonly baseUrl?: unknown }
  // Its path names the region, whatever its host is.
  if (provider === 'vertex') return region !== undefined && region !== 'global'
  const host = hostOf(baseUrl)
  return host !== undefined && Object.values(REGIONAL_HOSTS).some((hosts) => isOneOf(hosts, host))
}

/** Whether a host is one of the vendor. `host`: undefined for the one that the provider knows. */
function isAt(vendor: string | undefined, host: string | undefined): boolean {
  if (vendor === undefined) return false
  return host === undefined || isOneOf([...HOSTS[vendor]!, ...(REGIONAL_HOSTS[vendor] ?? [])], host)
}

/** The host of an address; empty if it has none. */
const hostOf = (baseUrl: unknown): string | undefined =>
  baseUrl === undefined ? undefined : (URL.parse(String(baseUrl))?.hostname ?? '')

const isOneOf = (hosts: readonly string[], host: string): boolean => hosts.some((glob) => matchesGlob(glob, host))

const ownValue = (table: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

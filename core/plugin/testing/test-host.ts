import { createMemoryLimits } from '../../limits/memory.ts'
import { getJson } from '../../upstream/get-json.ts'
import type { Host } from '../api.ts'

const NOTHING = { add: () => undefined, observe: () => undefined }

/**
 * A host for a plugin under test. Limits are kept and `getJson` asks; functions are run at once, in this thread; the log and the
 * metrics keep nothing; every prompt has ten tokens, and no key is anybody's.
 */
export function testHost(overrides: Partial<Host> = {}): Host {
  const silent = (): void => {}
  return {
    log: { info: silent, warn: silent, error: silent },
    metrics: { counter: () => NOTHING, histogram: () => NOTHING },
    keys: { verify: async () => undefined },
    limits: createMemoryLimits(),
    countTokens: async () => 10,
    offload: async (module, exportName, input) => (await import(module.href))[exportName](structuredClone(input)),
    getJson,
    signal: new AbortController().signal,
    ...overrides,
  }
}

import type { Problem } from '../file/config-file.ts'
import { asMap, type RawConfig } from '../file/raw-config.ts'

/** The section that every config file of LiteLLM's proxy has (docs.litellm.ai/docs/proxy/configs, 2026-10-13). */
const MODEL_LIST = 'model_list'

/** The only problem of a config file of LiteLLM: errors of its fields would help nobody. Undefined for any other file. */
export function findLiteLlm(raw: RawConfig): Problem | undefined {
  const sections = asMap(raw.values)
  if (!Object.hasOwn(sections, MODEL_LIST) || Object.hasOwn(sections, 'namespaces')) return undefined
  const message =
    'this is a config file of LiteLLM, which the gateway does not read: write a routes.yaml, with a namespace for each vendor, and under ' +
    '"aliases" or in a namespace without a provider the names of "model_list"; docs/routes.md, "From LiteLLM", has both forms of one file'
  // Keys of vendors are often written out there.
  return { span: raw.file.keySpan([MODEL_LIST]), message, hide: raw.literals([]) }
}

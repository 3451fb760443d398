/** A routes.yaml of many namespaces, with ten models each. `origin`: where their upstreams are; `version`: makes the text another one. */
export function manyNamespaces(count: number, origin: string, version: string | number): string {
  const models = Array.from({ length: 10 }, (_, index) => `model-${index}`).join(', ')
  const entries = Array.from(
    { length: count },
    (_, index) => `  upstream-${index}:
    provider: openai-compatible
    config: { baseUrl: "${origin}/${index === 0 ? version : index}/v1" }
    models: [${models}]
`,
  )
  return `version: 1\nchain:\n  - plugin: auth\nnamespaces:\n${entries.join('')}`
}

/** A routes.yaml of about this number of lines: namespaces with timeouts, and curated models over them. */
export function manyLines(lines: number, origin: string, version: string | number): string {
  const count = Math.ceil(lines / 20)
  const upstreams = Array.from(
    { length: count },
    (_, index) => `  upstream-${index}:
    provider: openai-compatible
    config:
      baseUrl: "${origin}/${index === 0 ? version : index}/v1"
    models:
      - fast
      - large
      - cheap
    timeouts:
      connect: 2s
      total: 60s
    concurrency:
      limit: 100
`,
  )
  const curated = Array.from(
    { length: count },
    (_, index) => `      any-${index}:
        targets:
          - model: upstream-${index}/fast
            weight: 2
          - model: upstream-${(index + 1) % count}/large
        fallbacks: [upstream-${(index + 2) % count}/cheap]
        retry: { attempts: 2 }
`,
  )
  return `version: 1\nchain:\n  - plugin: auth\nnamespaces:\n${upstreams.join('')}  acme:\n    models:\n${curated.join('')}`
}

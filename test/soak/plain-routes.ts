/** A routes.yaml with these namespaces, given as lines of YAML, and the usual links without limits. */
export const plainRoutes = (namespaces: string): string => `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config: { classes: { many: { requests: 100M/min } }, default: many }
namespaces:
${namespaces}`

/** A namespace for a path of the upstream, with optional further settings. */
export const namespaceOf = (name: string, more = ''): string =>
  `  ${name}: { provider: openai-compatible, config: { baseUrl: "\${env:SOAK_OPEN}/${name}" }${more} }\n`

/** A table with these namespaces, as lines of YAML, behind the links that every call passes; nobody's rate is limited. */
export const plainTable = (namespaces: string): string => `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config: { classes: { many: { requests: 100M/min } }, default: many }
namespaces:
${namespaces}`

/** A namespace for a path of the upstream, with more of it where that is given. */
export const namespaceOf = (name: string, more = ''): string =>
  `  ${name}: { provider: openai-compatible, config: { baseUrl: "\${env:SOAK_OPEN}/${name}" }${more} }\n`

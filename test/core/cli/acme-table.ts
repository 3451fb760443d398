/** A table for most parts of an explanation. */
export const ACME_TABLE = `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config:
      classes:
        standard: { requests: 60/min }
        batch:
          tokens: 5M/day
          concurrent: 2
      default: standard
  - plugin: header-stamping
    config: { response: { x-served-by: "{served_model}" } }
    when: { namespaces: [openai] }
namespaces:
  openai:
    provider: openai-compatible
    config: { preset: openai, apiKey: "\${env:OPENAI_API_KEY}" }
    models: [gpt-5.5, "o4-*"]
  claude:
    provider: anthropic
    optional: true
    config: { apiKey: "\${env:ANTHROPIC_API_KEY}" }
  local:
    provider: openai-compatible
    config: { baseUrl: http://127.0.0.1:11434/v1 }
  acme:
    models:
      smart:
        targets:
          - { model: openai/gpt-5.5, weight: 3 }
          - model: acme/spare
        fallbacks: [claude/claude-sonnet-5, acme/asleep]
        retry: { attempts: 2 }
        defaults: { temperature: 0.2, user: "\${env:WHO}" }
      spare:
        targets: [{ model: local/qwen3 }, { model: local/mistral }]
        choose: busy
      asleep:
        targets: [{ model: claude/claude-haiku-4-5 }]
aliases: { gpt-4o: acme/smart }
keys:
  - { name: nightly, hash: "sha256:${'0'.repeat(64)}", kind: live, models: ["acme/*"], class: batch }
  - { name: tester, hash: "sha256:${'1'.repeat(64)}", kind: test, models: ["*"] }
  - { name: lost, hash: "sha256:${'2'.repeat(64)}", kind: live, models: ["*"], expires: 2020-01-01 }
  - { name: teamed, hash: "sha256:${'3'.repeat(64)}", kind: live, models: ["*"], account: research }
accounts:
  research: { models: ["local/*"], class: batch }
`

/** The variables of the table. */
export const ACME_ENV = { OPENAI_API_KEY: 'value-of-the-key', WHO: 'value-of-who' }

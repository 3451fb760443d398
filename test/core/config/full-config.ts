import { fileURLToPath } from 'node:url'
import { selfSigned } from '../../support/certificate.ts'

/** The path of a test plugin. */
export const plugin = (name: string): string => fileURLToPath(new URL(`plugins/${name}.ts`, import.meta.url))

/** A routes.yaml with every field that there is. */
export const FULL_CONFIG = `version: 1
chain:
  - plugin: ${plugin('auth')}
  - plugin: ${plugin('audit')}
    config:
      sink: stdout
      level: full
      sample: 0.5
      fields: [model, status]
      rotate: { lines: 100, keep: 3 }
    when: { namespaces: [east, west], endpoints: [responses], accounts: [research],
      keys: ["routes:nightly"], tags: { job: nightly }, headers: { x-team: search } }
namespaces:
  east:
    provider: ${plugin('upstream')}
    config:
      baseUrl: https://api.example.com
      apiKey: "\${env:UPSTREAM_KEY}"
      region: west
      retries: 3
      headers: { x-team: search }
    models: [large, "small-*"]
    timeouts:
      connect: 500ms
      firstByte: 30s
      idle: 2m
      total: 1h
    testKeys: upstream
    keptObjects: allow
    keepReasoning: false
    breaker: false
    concurrency:
      limit: 20
      queue: 5
      wait: 1s
    limits:
      requests: 500/min
      tokens: 2M/day
      concurrent: 50
      wait: 3s
    tls:
      ca: "\${env:UPSTREAM_CA}"
      cert: "\${env:CLIENT_CERTIFICATE}"
      key: "\${env:CLIENT_KEY}"
    optional: true
  west:
    provider: ${plugin('upstream')}
    credentials:
      first: { apiKey: "\${file:west.txt}" }
      second: { apiKey: "\${env:UPSTREAM_KEY}" }
  acme:
    models:
      smart:
        targets:
          - model: east/large
            weight: 80
          - model: west/qwen3
            weight: 20
        fallbacks: [acme/spare, west/mistral]
        sticky: user
        retry:
          attempts: 4
          on: [connect, timeout, 429, 5xx]
        defaults:
          temperature: 0.2
        timeouts:
          connect: 1s
          firstByte: 20s
          idle: 10s
          total: 5m
        strict: true
      spare:
        targets:
          - model: east/small-1
          - model: east/small-2
        choose: latency
aliases:
  gpt-4o: east/large
accounts:
  research:
    models: ["east/*"]
    class: batch
    tags: { team: vision }
    budget: [30 USD/day, 500 USD/month]
keys:
  - name: nightly
    account: research
    tags: { job: nightly }
    hash: sha256:${'0123456789abcdef'.repeat(4)}
    kind: live
    models: ["east/*"]
    class: batch
    expires: 2027-01-31
    budget: 20.5 USD/day
budgets:
  timeZone: Europe/Berlin
  alerts: [50, 80]
  onOutage: refuse
  webhooks:
    - url: https://hooks.example.com/umg
      secret: "\${env:WEBHOOK_SECRET}"
prices:
  models:
    east/large:
      input: 2.5
      cachedInput: 0.25
      cachedInputAudio: 0.4
      cacheWrite: 3
      cacheWrite1h: 5
      inputAudio: 32
      inputImage: 4
      output: 10
      reasoning: 8
      outputAudio: 64
      outputImage: 30
      request: 0.01
      tiers:
        - above: 200000
          input: 5
          output: 15
    east/*:
      like: openai/gpt-4o
    west/*:
      free: true
  unpriced: refuse
expect:
  gpt-4o: east/large
  acme/smart:
    - to: east/large
    - failing:
        east: 5xx
        west/qwen3: timeout
      to: west/mistral
`

const client = selfSigned({ name: 'gateway.internal' })

/** The environment of `FULL_CONFIG`. */
export const FULL_ENV = {
  UPSTREAM_KEY: 'value-of-the-variable',
  WEBHOOK_SECRET: `whsec_${'Secret0+'.repeat(5)}`,
  UPSTREAM_CA: client.cert,
  CLIENT_CERTIFICATE: client.cert,
  CLIENT_KEY: client.key,
}

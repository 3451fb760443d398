// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml

import { setImmediate } from 'node:timers/promises'
import { createSetupToken } from '../../core/accounts/setup.ts'
import { setupLink } from '../../core/accounts/tokens.ts'
import type { ManagementOptions } from '../../core/control/services.ts'
import type { Store } from '../../core/store/database.ts'
import { json, openaiReply, scriptedUpstream, sse } from '../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

/** A gateway with a console that is not set up yet, and an upstream that replies. */
export interface ConsoleFixture {
  readonly gateway: TestGateway
  /** The first admin's setup link; works once. */
  readonly setupLink: string
  /** The URL of a page: `/keys`. */
  address(path: string): string
  /** The upstream refuses a credential from now on. */
  refuse(apiKey: string): void
  stop(): Promise<void>
}

const MODELS: readonly string[] = ['gpt-5.5', 'gpt-5.5-mini', 'o4-mini']

const DECLARED_DIGEST = 'sha256:5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5'

/** The clients' base URL in the console's snippets. */
export const PUBLIC_URL = 'https://models.example.com'

/** A routes.yaml with an example of everything that the console shows. */
const routes = (baseUrl: string): string => `version: 1

chain:
  - plugin: auth
  - plugin: rate-tagging
    config:
      classes:
        standard: { requests: 6000/min, tokens: 10M/min }
        batch: { tokens: 5M/day }
      default: standard
  - plugin: header-stamping

namespaces:
  sandbox:
    provider: sandbox
  openai:
    provider: openai-compatible
    config: { baseUrl: "${baseUrl}", apiKey: "\${env:OPENAI_API_KEY}" }
  claude:
    provider: anthropic
    optional: true
    config: { apiKey: "\${env:ANTHROPIC_API_KEY}" }
    models: [claude-sonnet-5, "claude-haiku-*"]
  acme:
    models:
      smart:
        targets:
          - { model: openai/gpt-5.5, weight: 80 }
          - { model: openai/gpt-5.5-mini, weight: 20 }
        fallbacks: [sandbox/hello]
      fast:
        targets: [{ model: openai/gpt-5.5-mini }]

aliases: { gpt-4o: acme/smart, gpt-4o-mini: acme/fast }

keys:
  - { name: nightly, hash: "${DECLARED_DIGEST}", kind: live, models: ["acme/*"], class: batch, expires: 2099-01-31 }
`

/** How the console is started. */
export interface ConsoleOptions extends Pick<ManagementOptions, 'openid'> {
  /** The upstream's list. */
  readonly models?: readonly string[]
  /** Whether the console has its own listener. */
  readonly adminListen?: boolean
}

/** Starts the gateway. */
export async function startConsole({
  models = MODELS,
  adminListen = false,
  openid,
}: ConsoleOptions = {}): Promise<ConsoleFixture> {
  await using opened = new AsyncDisposableStack()
  const upstream = opened.adopt(await scriptedUpstream(), (all) => all.close())
  const refused = new Set<string>()
  upstream.on(({ path, headers, json: body }) => {
    if (refused.has(String(headers.authorization))) return json({ error: { message: 'No.' } }, { status: 401 })
    if (path.endsWith('/models'))
      return json({ object: 'list', data: models.map((id) => ({ id, object: 'model', owned_by: 'openai' })) })
    const { whole, stream } = openaiReply({ text: 'Hello from far away.' })
    return (body() as { stream?: boolean }).stream ? sse(stream) : json(whole)
  })
  const gateway = await startTestGateway({
    routes: routes(`${upstream.origin}/v1`),
    env: { OPENAI_API_KEY: 'sk-upstream', OPENAI_SECOND_KEY: 'sk-second' },
    management: { urls: { clients: PUBLIC_URL }, ...(openid && { openid }) },
    adminListen,
  })
  opened.defer(() => gateway.stop())
  const token = await createSetupToken(gateway.store)
  const all = opened.move()
  return {
    gateway,
    setupLink: setupLink(gateway.adminUrl, token!),
    address: (path) => `${gateway.adminUrl}/console${path}`,
    refuse: (apiKey) => void refused.add(`Bearer ${apiKey}`),
    stop: () => all.disposeAsync(),
  }
}

/** Resolves when a call has its row. */
export async function recorded({ db }: Store, column: 'id' | 'key_id', value: string): Promise<void> {
  // The database answers within this turn of the event loop, and the row is written in another one.
  while ((await db.selectFrom('calls').select('id').where(column, '=', value).execute()).length === 0) await setImmediate()
}

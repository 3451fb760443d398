import { describeCause } from '../observe/describe-cause.ts'

/** What a running gateway answered. */
export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** A sentence for the person at the terminal. */
export class AskError extends Error {
  override readonly name = 'AskError'
}

/** Longer than the loading of a table may take. In milliseconds. */
const PATIENCE_MS = 90_000

/**
 * Where the gateway of this machine listens for operators, by the variables that `umg start` reads: beside it, inside its container,
 * nothing has to be said.
 */
export function defaultUrl({ UMG_ADMIN_LISTEN, UMG_HOST, UMG_PORT, PORT }: NodeJS.ProcessEnv): string {
  const [, host = UMG_HOST ?? '127.0.0.1', port = UMG_PORT ?? PORT ?? '8080'] = /^(.+):(\d+)$/.exec(UMG_ADMIN_LISTEN ?? '') ?? []
  const bare = host.replace(/^\[|\]$/g, '')
  // Who listens everywhere listens here.
  if (bare === '0.0.0.0' || bare === '::') return `http://127.0.0.1:${port}`
  return `http://${bare.includes(':') ? `[${bare}]` : bare}:${port}`
}

/**
 * Asks a running gateway what only admins may ask, with the key of `UMG_ADMIN_KEY`. Throws an AskError that says what to do where
 * there is no answer, or the key is refused.
 */
export async function askAsAdmin(
  url: string,
  { method, path }: { readonly method: 'GET' | 'POST'; readonly path: string },
  { UMG_ADMIN_KEY: key }: NodeJS.ProcessEnv,
): Promise<Answer> {
  if (!key) throw new AskError('set UMG_ADMIN_KEY to an admin key; "umg keys create --admin --name operations" makes one')
  const changes = method === 'POST' && {
    body: '{}',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  }
  const reply = await reach(new URL(path, url), { method, headers: { authorization: `Bearer ${key}` }, ...changes }, PATIENCE_MS)
  const body: unknown = await reply.json().catch(() => undefined)
  if (reply.status === 401 || reply.status === 403) {
    throw new AskError(`${url} refuses the key of UMG_ADMIN_KEY; "umg keys create --admin --name operations" makes another`)
  }
  if (reply.status === 404 || body === undefined) {
    throw new AskError(`${url} is not where a gateway listens for operators; say with --url where it does`)
  }
  return { status: reply.status, body }
}

/** Sends a request. Throws an AskError where nobody answers in time. */
export async function reach(url: URL, init: RequestInit, patienceMs: number): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(patienceMs) })
  } catch (error) {
    throw new AskError(
      `${url.origin} does not answer (${describeCause(error)}): is the gateway running? Say with --url where it listens for operators`,
    )
  }
}

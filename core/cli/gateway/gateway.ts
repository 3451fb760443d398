import type { Diagnostic } from '../../text/diagnostic.ts'
import { type CommandIo, type JsonOption, writeJson } from '../output.ts'
import { printReport, reportOf } from '../validation-report.ts'
import { fetchFrom } from './own-certificate.ts'

/** The options of the commands that call a running gateway. */
export interface AdminOptions extends JsonOption {
  /** The URL of the management API. */
  readonly url: string
}

/** The bodies of `POST /-/reload`, with 200 and with 422. */
type ReloadReply = { readonly difference: readonly string[] } | { readonly diagnostics: readonly Diagnostic[] }

/**
 * `umg reload`: reloads routes.yaml in a running gateway, and prints the changes or the errors. Resolves to the exit code: 0 if it was
 * reloaded, 1 if it is not valid, 2 if the gateway cannot be called.
 */
export async function reload({ url, json }: AdminOptions, io: CommandIo): Promise<number> {
  return orCallFailed(io, async () => {
    const reply = (await callAsAdmin(url, { method: 'POST', path: '/-/reload' }, io.env)) as ReloadReply
    if ('difference' in reply) {
      writeDifference(reply.difference, { json }, io)
      return 0
    }
    printReport(reportOf(reply, reply.diagnostics[0]?.file ?? 'the routing table'), json ? 'json' : 'pretty', io)
    io.stderr.write('The previous routing table stays in use.\n')
    return 1
  })
}

/**
 * `umg diff`: prints the changes that a running gateway would make if it loaded this file. Secrets are compared by their references.
 * Resolves to the exit code, like diff(1): 0 if there are no differences, 1 if there are, 2 if the file is not valid or the gateway
 * cannot be called.
 */
export async function diff(file: string, { url, json }: AdminOptions, io: CommandIo): Promise<number> {
  // Not loaded for the other commands, which start sooner without them.
  const { withValidGeneration } = await import('../generation.ts')
  const { diffTexts } = await import('../../config/diff.ts')
  return orCallFailed(io, async () => {
    const text = await withValidGeneration(file, { json }, io, ({ config }) => config.text)
    if (text === undefined) return 2
    const running = (await callAsAdmin(url, { method: 'GET', path: '/api/v1/config' }, io.env)) as { readonly text: string }
    const difference = diffTexts(running.text, text)
    writeDifference(difference, { json }, io)
    return difference.length === 0 ? 0 : 1
  })
}

/** `umg healthcheck`: prints in one line whether a gateway is ready. Resolves to the exit code: 0 if it is, else 1. */
export async function healthcheck({ url, json }: AdminOptions, io: CommandIo): Promise<number> {
  const code = await orCallFailed(io, async () => {
    const reply = await send(new URL('/readyz', url), {}, { env: io.env, timeoutMs: HEALTHCHECK_TIMEOUT_MS })
    const [status] = (await reply.text()).split('\n', 1)
    if (json) writeJson({ url, ready: reply.ok, status }, io)
    else io.stdout.write(`${url} is ${status}\n`)
    return reply.ok ? 0 : 1
  })
  return Math.min(1, code)
}

function writeDifference(difference: readonly string[], { json }: JsonOption, io: CommandIo): void {
  if (json) writeJson({ difference }, io)
  else io.stdout.write(difference.length === 0 ? 'nothing has changed\n' : `${difference.join('\n')}\n`)
}

/** Longer than a gateway takes to load routes.yaml. */
const CALL_TIMEOUT_MS = 90_000
/** A gateway that does not answer within this time is not ready. */
const HEALTHCHECK_TIMEOUT_MS = 5_000

/** A failed call of the gateway. Its message says what to do. */
class CallError extends Error {
  override readonly name = 'CallError'
}

/** Runs a command. Prints a CallError and resolves to the exit code 2. */
async function orCallFailed({ stderr }: CommandIo, command: () => Promise<number>): Promise<number> {
  try {
    return await command()
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    stderr.write(`${error.message}\n`)
    return 2
  }
}

interface AdminCall {
  readonly method: 'GET' | 'POST'
  readonly path: string
}

/** Calls the management API of a running gateway with the key of `UMG_ADMIN_KEY`. Resolves to the body. Throws a CallError. */
async function callAsAdmin(url: string, { method, path }: AdminCall, env: NodeJS.ProcessEnv): Promise<unknown> {
  const key = env.UMG_ADMIN_KEY
  if (!key) throw new CallError('set UMG_ADMIN_KEY to an admin key; "umg keys create --admin --name operations" creates one')
  const headers = { authorization: `Bearer ${key}`, ...(method === 'POST' && { 'content-type': 'application/json' }) }
  const init = { method, headers, ...(method === 'POST' && { body: '{}' }) }
  const reply = await send(new URL(path, url), init, { env, timeoutMs: CALL_TIMEOUT_MS })
  const body: unknown = await reply.json().catch(() => undefined)
  if (reply.status === 401 || reply.status === 403) {
    throw new CallError(`${url} refuses the key of UMG_ADMIN_KEY; "umg keys create --admin --name operations" creates another`)
  }
  if (reply.status === 404 || body === undefined) {
    throw new CallError(`${url} is not the management API of a gateway; name its URL with --url`)
  }
  return body
}

interface SendOptions {
  readonly env: NodeJS.ProcessEnv
  readonly timeoutMs: number
}

/** Sends a request. Throws a CallError if there is no reply in time. */
async function send(url: URL, init: RequestInit, { env, timeoutMs }: SendOptions): Promise<Response> {
  try {
    return await (await fetchFrom(url, env))(url, { ...init, signal: AbortSignal.timeout(timeoutMs) })
  } catch (error) {
    throw new CallError(
      `${url.origin} does not answer (${reasonOf(error)}): is the gateway running? Name the URL of its management API with --url`,
    )
  }
}

/** The code of the network error behind an error of `fetch`, such as `ECONNREFUSED`, or else the error's name. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as Error
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? name
}

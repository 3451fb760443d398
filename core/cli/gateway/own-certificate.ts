import { readFile } from 'node:fs/promises'
import type { ConnectionOptions } from 'node:tls'
import { isLoopback } from '../../http/listen.ts'

/**
 * The `fetch` for a gateway. One with a certificate has another name on this machine, an address: it is then known by the file of its
 * certificate, `UMG_TLS_CERT`. A health check, which sends no secret, takes any certificate: while a renewed file cannot be used, the
 * gateway serves with the one before.
 */
export async function fetchFrom(
  { protocol, hostname, pathname }: URL,
  { UMG_TLS_CERT: file }: NodeJS.ProcessEnv,
): Promise<typeof fetch> {
  if (protocol !== 'https:' || !isLoopback(hostname)) return fetch
  const connect = pathname === '/readyz' ? { rejectUnauthorized: false } : await knownBy(file)
  const { Agent, fetch: send } = await import('undici')
  const dispatcher = new Agent({ connect })
  return ((url: URL, init: object) => send(url, { ...init, dispatcher })) as unknown as typeof fetch
}

/** Connects only to a server with the key of this certificate, under any name. */
async function knownBy(file: string | undefined): Promise<ConnectionOptions> {
  if (!file) return {}
  return { ca: await readFile(file, 'utf8'), allowPartialTrustChain: true, checkServerIdentity: () => undefined }
}

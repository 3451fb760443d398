import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { StoreError } from './unavailable.ts'

/** How a client connects to PostgreSQL: its URL without settings of TLS, and these. */
export interface PostgresAddress {
  readonly url: string
  /** False: without TLS; absent: as `PGSSLMODE` says, by default without. */
  readonly ssl?: ConnectionOptions | false
}

/** The parameters of a URL that are read here, as libpq names them (https://www.postgresql.org/docs/current/libpq-ssl.html). */
const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const

const MODES = ['disable', 'require', 'verify-ca', 'verify-full']

/**
 * Reads the settings of TLS in a PostgreSQL URL as libpq does, so that a URL means what it means to psql; `pg` reads them in another way,
 * which changes with its versions. Without `sslmode`, and for `prefer` and `allow`, libpq would try both: they are refused, because they protect
 * nothing. Throws `StoreError`.
 */
export function readPostgresTls(text: string): PostgresAddress {
  const url = new URL(text)
  const [mode, root, cert, key] = PARAMETERS.map((name) => url.searchParams.get(name) ?? undefined)
  if (mode === undefined && [root, cert, key].some((file) => file !== undefined))
    throw new StoreError('The database URL names files of TLS, but no sslmode: add sslmode=verify-full.')
  if (mode !== undefined && !MODES.includes(mode))
    throw new StoreError(`sslmode of the database URL must be one of ${MODES.join(', ')}; verify-full is the safe one.`)
  if (mode === undefined) return { url: text }
  for (const name of PARAMETERS) url.searchParams.delete(name)
  if (mode === 'disable') return { url: url.href, ssl: false }
  // `system` means the authorities that the machine trusts.
  const ca = root === undefined || root === 'system' ? undefined : readText('sslrootcert', root)
  if (mode === 'verify-ca' && ca === undefined)
    throw new StoreError(
      'sslmode=verify-ca of the database URL needs sslrootcert, the file of the authority; or use sslmode=verify-full.',
    )
  if ((cert === undefined) !== (key === undefined))
    throw new StoreError(
      `The database URL has ${cert === undefined ? 'sslkey without sslcert' : 'sslcert without sslkey'}: add the other one.`,
    )
  return {
    url: url.href,
    ssl: {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert: readText('sslcert', cert), key: readText('sslkey', key!) }),
      // With an authority, libpq verifies it in the mode `require` too.
      rejectUnauthorized: mode !== 'require' || ca !== undefined,
      ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    },
  }
}

function readText(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StoreError(
      `${parameter} of the database URL: ${path} cannot be read (${code}). Name a file that this user may read.`,
    )
  }
}

/** OpenSSL's and Node's codes for a certificate that is not trusted. */
const UNTRUSTED = /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/

/** What is wrong with TLS between the gateway and a database at `place`, and what to do; undefined if it is something else. */
export function explainTls(error: Error & { readonly code?: string }, place: string): string | undefined {
  const { code = '', message } = error
  if (message === 'The server does not support SSL connections')
    return `${place} does not support TLS. Turn it on there (ssl = on), or remove sslmode from the database URL.`
  if (code === NOT_ADMITTED)
    return `${place} refuses this connection: ${message}. If it demands TLS, add sslmode=verify-full to the database URL.`
  if (UNTRUSTED.test(code))
    return `${place} has a certificate that is not trusted (${code}). Add sslrootcert, the file of its authority, to the database URL.`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${place} has the certificate of another host. Write the host of the certificate into the database URL.`
  return undefined
}

/** SQLSTATE: no entry of pg_hba.conf admits the connection, or the user is not authorised. */
const NOT_ADMITTED = '28000'

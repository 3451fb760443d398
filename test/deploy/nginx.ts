import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { Agent, fetch as undiciFetch } from 'undici'
import type { Certificate } from '../support/certificate.ts'
import { find } from '../support/requirements.ts'

/** An nginx of a test's own. */
export interface TestNginx {
  /** `fetch` through it, whatever the host of the URL. */
  readonly fetch: typeof fetch
  /** Opens a connection to it. */
  connect(): TLSSocket
  stop(): Promise<void>
}

/** Folders that nginx makes, also for what it is not used for. */
const FOLDERS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/**
 * Starts nginx with the configuration that an operator would copy into its `http` block. It listens on a Unix socket in place of port 443,
 * and shows this certificate.
 */
export async function startNginx(config: string, certificate: Certificate): Promise<TestNginx> {
  const folder = await mkdtemp(join(tmpdir(), 'umg-nginx-'))
  const socketPath = join(folder, 'nginx.sock')
  const own = config
    .replace('listen 443 ssl', `listen unix:${socketPath} ssl`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${join(folder, 'cert.pem')};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${join(folder, 'key.pem')};`)
  const folders = FOLDERS.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n')
  await writeFile(join(folder, 'cert.pem'), certificate.cert)
  await writeFile(join(folder, 'key.pem'), certificate.key)
  await writeFile(
    join(folder, 'nginx.conf'),
    `${MAIN}\npid ${join(folder, 'pid')};\nhttp {\naccess_log off;\n${folders}\n${own}\n}\n`,
  )
  const nginx = spawn(find('nginx')!, ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  for await (const text of nginx.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += text
    // It says its version when it has opened its sockets.
    if (/\[emerg\]/.test(output)) throw new Error(output)
    if (/\[notice\].* nginx\//.test(output)) break
  }
  nginx.stderr.resume()
  const dispatcher = new Agent({ connect: { socketPath, ca: certificate.cert } })
  const send = (url: string | URL, init: object) => undiciFetch(url, { ...init, dispatcher })
  return {
    fetch: send as unknown as typeof fetch,
    connect: () => connect({ path: socketPath, ca: certificate.cert, servername: 'llm.example.com' }),
    async stop() {
      await dispatcher.destroy()
      nginx.kill()
      if (nginx.exitCode === null) await once(nginx, 'exit')
      await rm(folder, { recursive: true })
    },
  }
}

const MAIN = `daemon off;
master_process off;
error_log stderr notice;
events {}`

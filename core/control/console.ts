import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Router } from '@koa/router'
import type { Context } from 'koa'
import { GatewayError } from '../errors.ts'

/** The path of the console. */
export const CONSOLE = '/console'
const DIST = fileURLToPath(new URL('../../console/dist', import.meta.url))

/** Vite's placeholder in the index for the nonce of each reply (`html.cspNonce` of its configuration). */
const NONCE = /\bNONCE\b/g

const NOT_BUILT =
  'The console is not built. Run `node console/build.mjs` where the gateway is installed, then reload this page.\n'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const HEADERS = {
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** A file of the built console, plain and compressed. */
interface ConsoleFile {
  readonly type: string
  readonly bytes: Buffer
  readonly gzipped: Buffer
}

/** The built console by path below `/console/`. */
type ConsoleFiles = ReadonlyMap<string, ConsoleFile>

/** Creates the router of `/console`. The files are read by the first request; if they are not built, the reply says what to run. */
export function consoleRouter(dist: string = DIST): Router {
  const router = new Router({ strict: true, sensitive: true })
  let files: Promise<ConsoleFiles | undefined> | undefined
  async function built(): Promise<ConsoleFiles | undefined> {
    files ??= readConsole(dist)
    const found = await files.catch((error: unknown) => {
      files = undefined
      throw error
    })
    // The next request tries again: the console may have been built by then.
    if (found === undefined) files = undefined
    return found
  }
  router.get('/', (ctx) => ctx.redirect(CONSOLE))
  router.get([CONSOLE, `${CONSOLE}/{*path}`], async (ctx) => {
    const found = await built()
    ctx.set(HEADERS)
    if (found === undefined) sendNotBuilt(ctx)
    else serve(ctx, found)
  })
  return router
}

/** Any path that is not a file is a page of the console, which the index's own router resolves. */
function serve(ctx: Context, files: ConsoleFiles): void {
  const path = ctx.path.slice(CONSOLE.length + 1)
  const file = files.get(path)
  if (file !== undefined && path !== 'index.html') sendFile(ctx, file, path.startsWith('assets/'))
  else if (path.startsWith('assets/')) throw new GatewayError('unknown_url', { values: { method: ctx.method, path: ctx.path } })
  else sendIndex(ctx, files.get('index.html')!)
}

function sendFile(ctx: Context, { type, bytes, gzipped }: ConsoleFile, hashed: boolean): void {
  ctx.set({
    'content-type': type,
    'cache-control': hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
  })
  const compress = ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
  if (compress) ctx.set('content-encoding', 'gzip')
  ctx.body = compress ? gzipped : bytes
}

/** Never compressed, and without a validator, since each reply has its own nonce. */
function sendIndex(ctx: Context, { type, bytes }: ConsoleFile): void {
  const nonce = randomBytes(18).toString('base64')
  ctx.set({ 'content-type': type, 'cache-control': 'no-cache', 'content-security-policy': policy(nonce) })
  ctx.body = bytes.toString().replace(NONCE, nonce)
}

function sendNotBuilt(ctx: Context): void {
  ctx.status = 503
  ctx.type = 'text/plain; charset=utf-8'
  ctx.body = NOT_BUILT
}

/** The content security policy: only what the gateway serves; styles created by the page carry the nonce. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const compressed = promisify<Buffer, Buffer>(gzip)

const typeOf = (name: string): string => TYPES[extname(name)] ?? 'application/octet-stream'

/** Reads the folder into memory (about a megabyte), so that no request reads a path of the disk. Undefined if it is not built. */
async function readConsole(dist: string): Promise<ConsoleFiles | undefined> {
  const entries = await readdir(dist, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  const read = files.map(async ({ parentPath, name }): Promise<[string, ConsoleFile]> => {
    const path = join(parentPath, name)
    const bytes = await readFile(path)
    return [relative(dist, path).replaceAll('\\', '/'), { type: typeOf(name), bytes, gzipped: await compressed(bytes) }]
  })
  const found = new Map(await Promise.all(read))
  return found.has('index.html') ? found : undefined
}

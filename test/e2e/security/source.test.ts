import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { expect } from 'chai'

const ROOT = new URL('../../../', import.meta.url)

/** What rivals of ours had and came to regret. */
const REGRETTED: readonly (readonly [what: string, pattern: RegExp, but?: RegExp])[] = [
  // A supervisor starts the gateway's own processes.
  ['starts programs', /child_process|\bexecFile\b|\bspawn\(/, /^core\/gateway\/supervised-process\.ts$/],
  ['runs text as code', /\beval\(|new Function\b|node:vm\b/],
  // Migrations say what no query builder can: triggers, functions, partial indices.
  ['writes SQL by hand', /\bsql\.raw\b|\.raw\(\s*`/, /^core\/store\/migrations\//],
  ['decides by the Host header', /ctx\.(?:request\.)?(?:URL|href|host|hostname|origin|protocol|secure)\b|req\.headers\.host\b/],
  // Those that the operator has named, of people who sign in.
  [
    'believes what proxies say of clients',
    /x-forwarded|app\.proxy\b|ctx\.ips?\b/i,
    /^core\/(?:control\/origin|cli\/start\/commands|http\/forward)\.ts$/,
  ],
  // An operator may want so of a database (sslmode=require). A health check sends no secret, and asks this machine.
  [
    'trusts certificates blindly',
    /rejectUnauthorized|NODE_TLS_REJECT_UNAUTHORIZED/,
    /^core\/(?:store\/postgres-tls|cli\/gateway\/own-certificate)\.ts$/,
  ],
  ['reads HTTP leniently', /insecureHTTPParser/],
  ['follows redirects', /redirect: 'follow'|interceptors\.redirect|maxRedirections/],
]

describe('The source', () => {
  const sources = new Map<string, string>()

  before(async () => {
    for await (const file of glob('{core,plugins}/**/*.ts', { cwd: ROOT }))
      sources.set(file, readFileSync(new URL(file, ROOT), 'utf8'))
    expect(sources.size).to.be.above(100)
  })

  for (const [what, pattern, but] of REGRETTED) {
    it(`never ${what}`, () => {
      expect([...sources].filter(([file, text]) => pattern.test(text) && !but?.test(file)).map(([file]) => file)).to.deep.equal(
        [],
      )
    })
  }
})

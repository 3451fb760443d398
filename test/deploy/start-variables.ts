import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const UMG = fileURLToPath(new URL('../../core/umg.mjs', import.meta.url))

/** Variables that no option has: secrets, which belong into no process list. */
const SECRETS = ['UMG_METRICS_TOKEN', 'UMG_OIDC_CLIENT_SECRET']

/** The options of `umg start` and its variables, as its help names them. */
export function startOptions(): { readonly options: readonly string[]; readonly variables: readonly string[] } {
  const help = execFileSync(process.execPath, [UMG, 'start', '--help'], { encoding: 'utf8' })
  const variables = Array.from(help.matchAll(/\bUMG_[A-Z_]+\b/g), String)
  return {
    options: Array.from(help.matchAll(/^ {2}(--[a-z-]+)/gm), ([, option]) => option!),
    variables: [...new Set([...variables, ...SECRETS])],
  }
}

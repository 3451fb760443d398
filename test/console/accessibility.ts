import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** Rules that depend on colours only, to check another colour scheme. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/** Mantine's dialogs have a `<header>`, as the page has: axe takes both for the page's. */
const BY_DIALOGS = ['landmark-no-duplicate-banner', 'landmark-unique']

/** The violations of axe's rules on a page, each with its element. */
export async function accessibilityViolations(page: Page, rules: 'all' | 'colors'): Promise<string[]> {
  // Evaluated by the debugger: the page's content security policy refuses foreign scripts.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
  const options = { resultTypes: ['violations'], ...(rules === 'colors' && { runOnly: COLOR_RULES }) }
  const { violations } = await page.evaluate<{ violations: Violation[] }>(`axe.run(document, ${JSON.stringify(options)})`)
  return violations
    .filter(({ id }) => !BY_DIALOGS.includes(id))
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`))
}

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** Rules that colours alone decide: all that a second look in other colours can find. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block']

/** Rules of axe that a page breaks in a way that keeps people out, each with what breaks it. */
export async function barriers(page: Page, rules: 'all' | 'colours'): Promise<string[]> {
  // As a debugger would, not as a script of the page: its content security policy would refuse it.
  await page.evaluate(AXE)
  const options = { resultTypes: ['violations'], ...(rules === 'colours' && { runOnly: OF_COLOURS }) }
  const { violations } = await page.evaluate<{ violations: Violation[] }>(`axe.run(document, ${JSON.stringify(options)})`)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`))
}

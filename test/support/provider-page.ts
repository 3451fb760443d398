import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import type { ParameterSupport } from 'unified-model-gateway/plugin'

/** The page of a provider in docs/providers. */
export function providerPage(provider: string): string {
  return readFileSync(new URL(`../../docs/providers/${provider}.md`, import.meta.url), 'utf8')
}

/** The names in the first column of a page's table that has this heading. */
export function namesIn(page: string, heading: string): string[] {
  const [table] = page.split(`| ${heading} | `)[1]!.split('\n\n')
  return [...table!.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, names]) => names!.replaceAll('`', '').split(', '))
}

/** Whether a page lists every parameter with its support, and none besides. */
export function expectParametersOn(page: string, parameters: Readonly<Record<string, ParameterSupport>>): void {
  const rows = [...page.matchAll(/^\| `([\w.]+)` \| (mapped|applied|dropped|refused) \| (.*) \|$/gm)]
  const listed = Object.fromEntries(rows.map(([, name, support, words]) => [name, [support, words?.replaceAll('`', '')]]))
  const expected = Object.entries(parameters).map(([name, support]) => [name, [support.support, wordsOf(support)]])
  expect(listed).to.deep.equal(Object.fromEntries(expected))
}

function wordsOf(support: ParameterSupport): string {
  if (support.support === 'dropped' || support.support === 'applied') return ''
  return (support.support === 'mapped' ? support.to : (support.why ?? '')).replaceAll('`', '')
}

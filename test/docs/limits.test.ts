import { expect } from 'chai'
import type { TObject, TRecord } from 'typebox'
import rateTagging from '../../plugins/chain/rate-tagging/index.ts'
import { readText } from '../support/sources.ts'

const PAGE = readText('docs/limits.md')
const { classes } = (rateTagging.schema as TObject).properties as { readonly classes: TRecord }
const [Class] = Object.values(classes.patternProperties) as unknown as readonly TObject[]

describe('docs/limits.md', () => {
  it('lists exactly the fields of a rate class', () => {
    const section = /^## Classes\n([\s\S]*?)^## /m.exec(PAGE)![1]!
    const rows = Array.from(section.matchAll(/^\| `(\w+)` \|/gm), ([, name]) => name)
    expect(rows).to.have.members(Object.keys(Class!.properties))
  })

  it('names each unit of a rate', () => {
    const { pattern } = Class!.properties.requests as unknown as { readonly pattern: string }
    const units = /\/\((.*)\)\$$/.exec(pattern)![1]!.split('|')
    const section = /^## Windows\n([\s\S]*?)^## /m.exec(PAGE)![1]!
    for (const unit of units) expect(section).to.match(new RegExp(`/${unit}\`|\`${unit}\``), unit)
  })
})

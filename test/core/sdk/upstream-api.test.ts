import { expect } from 'chai'
import { type Paging, readPages } from 'unified-model-gateway/plugin'

const PAGING: Paging = { entries: 'rows', query: { limit: '2' }, cursor: 'after', next: ({ next }) => next }

/** Reads a list whose pages are these, the last one again and again. */
async function read(...pages: readonly unknown[]) {
  const asked: object[] = []
  const rows = await readPages(async (query) => {
    asked.push(query)
    return pages[Math.min(asked.length, pages.length) - 1]
  }, PAGING)
  return { asked, rows }
}

describe('a list that comes in pages', () => {
  it('is read from the first to the last', async () => {
    const { asked, rows } = await read({ rows: [{ id: 1 }], next: 'a' }, { rows: [{ id: 2 }], next: 'b' }, { rows: [{ id: 3 }] })
    expect(rows).to.deep.equal([{ id: 1 }, { id: 2 }, { id: 3 }])
    expect(asked).to.deep.equal([{ limit: '2' }, { limit: '2', after: 'a' }, { limit: '2', after: 'b' }])
  })

  it('ends where its cursor is none, or the same again', async () => {
    for (const next of [undefined, null, '', 7]) expect((await read({ rows: [], next })).asked).to.have.length(1)
    expect((await read({ rows: [], next: 'same' })).asked).to.have.length(2)
  })

  it('is cut off where it does not end', async () => {
    let count = 0
    await readPages(async () => ({ rows: [], next: `page-${++count}` }), PAGING)
    expect(count).to.equal(30)
  })

  it('has objects only', async () => {
    expect((await read({ rows: [null, 1, [], { id: 1 }] })).rows).to.deep.equal([{ id: 1 }])
    for (const page of [null, [], 'x', {}, { rows: 'x' }]) expect((await read(page)).rows).to.deep.equal([])
  })
})

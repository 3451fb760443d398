import { expect } from 'chai'
import { type Paging, readPages } from 'unified-model-gateway/plugin'

const PAGING: Paging = { entries: 'rows', query: { limit: '2' }, cursor: 'after', next: ({ next }) => next }

/** Reads a list of these pages; the last one repeats. */
async function read(...pages: readonly unknown[]) {
  const queries: object[] = []
  const rows = await readPages(async (query) => {
    queries.push(query)
    return pages[Math.min(queries.length, pages.length) - 1]
  }, PAGING)
  return { queries, rows }
}

describe('readPages', () => {
  it('reads all pages', async () => {
    const { queries, rows } = await read(
      { rows: [{ id: 1 }], next: 'a' },
      { rows: [{ id: 2 }], next: 'b' },
      { rows: [{ id: 3 }] },
    )
    expect(rows).to.deep.equal([{ id: 1 }, { id: 2 }, { id: 3 }])
    expect(queries).to.deep.equal([{ limit: '2' }, { limit: '2', after: 'a' }, { limit: '2', after: 'b' }])
  })

  it('ends at a page without a cursor, or with the same cursor again', async () => {
    for (const next of [undefined, null, '', 7]) expect((await read({ rows: [], next })).queries).to.have.length(1)
    expect((await read({ rows: [], next: 'same' })).queries).to.have.length(2)
  })

  it('ends after 30 pages', async () => {
    let count = 0
    await readPages(async () => ({ rows: [], next: `page-${++count}` }), PAGING)
    expect(count).to.equal(30)
  })

  it('returns objects only', async () => {
    expect((await read({ rows: [null, 1, [], { id: 1 }] })).rows).to.deep.equal([{ id: 1 }])
    expect((await read({})).rows).to.deep.equal([])
  })

  it('rejects for what is no page of a list', async () => {
    for (const page of [null, [], 'x', { rows: 'x' }, { rows: [1] }])
      expect(await read(page).catch((error: Error) => error.message), JSON.stringify(page)).to.match(/^unknown shape: /)
  })
})

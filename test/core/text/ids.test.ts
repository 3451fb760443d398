import { expect } from 'chai'
import { firstRequestId, newRequestId, timeOfRequest } from '../../../core/text/ids.ts'

describe('request ids', () => {
  it('are `req_` and 32 hexadecimal digits, all different', () => {
    const ids = Array.from({ length: 10_000 }, newRequestId)
    for (const id of ids) expect(id).to.match(/^req_[0-9a-f]{32}$/)
    expect(new Set(ids)).to.have.length(ids.length)
  })

  it('contain the time of the request', () => {
    const before = Date.now()
    const time = timeOfRequest(newRequestId())
    expect(time).to.be.within(before, Date.now())
  })

  it('sort by time, in this century and the next', () => {
    const times = [0, 1, 15, 16, Date.UTC(2026), Date.UTC(2026) + 1, Date.UTC(2126)]
    const ids = times.map(firstRequestId)
    expect(ids.toSorted()).to.deep.equal(ids)
    expect(ids.map(timeOfRequest)).to.deep.equal(times)
  })
})

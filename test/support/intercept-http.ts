import nock from 'nock'

// Importing nock patches `http` and `fetch` for the whole process.
nock.restore()

/** Lets nock intercept requests in the tests of a `describe`: `define` sets the replies before each. Other requests pass through. */
export function interceptHttp(define: () => void = () => {}): void {
  before(() => {
    nock.activate()
    define()
  })
  beforeEach(() => {
    nock.cleanAll()
    define()
  })
  after(() => {
    nock.cleanAll()
    nock.restore()
  })
}

import { expect } from 'chai'
import { type Digests, digestKey, secretOf } from '../../../core/config/digests.ts'

/** Digests of references at these paths. */
const digests = (values: Readonly<Record<string, string>>): Digests =>
  new Map(Object.entries(values).map(([path, digest]) => [digestKey(path.split('.')), digest]))

describe('the secret of a namespace', () => {
  for (const place of ['namespaces.one.config.apiKey', 'namespaces.one.credentials.first.apiKey']) {
    it(`changes with the value of ${place}, and only with it`, () => {
      const secret = secretOf('one', digests({ [place]: 'a', 'namespaces.two.config.apiKey': 'b' }))
      expect(secret).to.match(/^[0-9a-f]{64}$/)
      expect(secretOf('one', digests({ [place]: 'a', 'namespaces.two.config.apiKey': 'c' }))).to.equal(secret)
      expect(secretOf('one', digests({ [place]: 'x' }))).to.not.equal(secret)
    })
  }

  it('is empty without references', () => {
    expect(secretOf('one', digests({ 'namespaces.one.timeouts.total': 'a', 'namespaces.ones.config.apiKey': 'b' }))).to.equal('')
  })
})

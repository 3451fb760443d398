import { expect } from 'chai'
import { type Digests, digestKey, NamespaceSecrets } from '../../../core/config/digests.ts'

/** Digests of references at these paths. */
const digests = (values: Readonly<Record<string, string>>): Digests =>
  new Map(Object.entries(values).map(([path, digest]) => [digestKey(path.split('.')), digest]))

describe('the secret of a namespace', () => {
  for (const [place, credential] of [
    ['namespaces.one.config.apiKey', undefined],
    ['namespaces.one.config.apiKey', 'first'],
    ['namespaces.one.credentials.first.apiKey', 'first'],
  ] as const) {
    it(`changes with the value of ${place}, and only with it${credential ? `, for the credential ${credential}` : ''}`, () => {
      const secretWith = (values: Readonly<Record<string, string>>) => new NamespaceSecrets(digests(values)).of('one', credential)
      const secret = secretWith({
        [place]: 'a',
        'namespaces.two.config.apiKey': 'b',
        'namespaces.one.credentials.second.apiKey': 'd',
      })
      expect(secret).to.match(/^[0-9a-f]{64}$/)
      expect(secretWith({ [place]: 'a', 'namespaces.one.credentials.firstly.apiKey': 'c' })).to.equal(secret)
      expect(secretWith({ [place]: 'x' })).to.not.equal(secret)
    })
  }

  it('is empty without references', () => {
    const others = digests({ 'namespaces.one.timeouts.total': 'a', 'namespaces.ones.config.apiKey': 'b' })
    expect(new NamespaceSecrets(others).of('one')).to.equal('')
  })
})

import { expect } from 'chai'
import { type Affinity, hashOf } from '../../../core/routing/affinity.ts'
import { CredentialPool } from '../../../core/routing/credentials.ts'
import { candidate } from './routes.ts'

const ACCOUNT = 'default'
const NAMES = ['a', 'b', 'c', 'd']

function pool(): CredentialPool {
  const { provider, handlers } = candidate('east/m').target
  return new CredentialPool(NAMES.map((name) => ({ name, provider, handlers })))
}

const of = (id: string, isShared = false): Affinity => ({ signal: 'session-id', hash: hashOf(`${ACCOUNT}\0${id}`), isShared })
const SESSIONS = Array.from({ length: 4000 }, (_, index) => of(`session-${index}`))

describe('the credentials of a namespace', () => {
  it('share conversations evenly, each of which keeps to one', () => {
    const some = pool()
    const names = SESSIONS.map((session) => some.next(0, ACCOUNT, session).name)
    expect(SESSIONS.map((session) => some.next(0, ACCOUNT, session).name)).to.deep.equal(names)
    for (const name of NAMES) expect(names.filter((each) => each === name).length).to.be.within(940, 1060)
  })

  it('are given up by their own conversations only while they cool down, for the same other one each time', () => {
    const some = pool()
    const before = SESSIONS.map((session) => some.next(0, ACCOUNT, session).name)
    some.coolDown(some.all[1]!, 0, 1000, ACCOUNT)
    const meanwhile = SESSIONS.map((session) => some.next(500, ACCOUNT, session).name)
    expect(meanwhile).to.not.include('b')
    for (const [index, name] of meanwhile.entries()) if (before[index] !== 'b') expect(name).to.equal(before[index])
    expect(SESSIONS.map((session) => some.next(500, ACCOUNT, session).name)).to.deep.equal(meanwhile)
    expect(SESSIONS.map((session) => some.next(1000, ACCOUNT, session).name)).to.deep.equal(before)
  })

  it('are tried in the order of the conversation, each once', () => {
    const some = pool()
    const tried = [some.next(0, ACCOUNT, SESSIONS[0])]
    for (let next = some.another(0, tried, ACCOUNT, SESSIONS[0]); next; next = some.another(0, tried, ACCOUNT, SESSIONS[0]))
      tried.push(next)
    expect(tried.map(({ name }) => name).toSorted()).to.deep.equal(NAMES)
  })

  it('have no more calls under way than their share of those whose sign many conversations share', () => {
    const some = pool()
    const counts = new Map<string, number>()
    for (let count = 0; count < 80; count++) {
      const credential = some.next(0, ACCOUNT, of('my-product', true))
      some.begin(credential)
      counts.set(credential.name, (counts.get(credential.name) ?? 0) + 1)
    }
    expect(Math.max(...counts.values())).to.be.at.most(25)
    expect(counts.get(some.next(0, ACCOUNT, of('my-product')).name)).to.equal(25)
    const first = some.next(0, ACCOUNT, of('my-product'))
    for (let count = 0; count < 25; count++) some.end(first)
    expect(some.next(0, ACCOUNT, of('my-product', true))).to.equal(first)
  })
})

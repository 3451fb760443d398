import { expect } from 'chai'
import { checkPassword, hashPassword, verifyPassword } from '../../../core/accounts/password.ts'
import { GatewayError } from '../../../core/errors.ts'

describe('a password', () => {
  it('is stored as argon2id, each time with another salt', async () => {
    const [first, second] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
    expect(first).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(first).to.not.equal(second)
    expect(await verifyPassword('correct horse', first)).to.equal(true)
    expect(await verifyPassword('correct horse', second)).to.equal(true)
  })

  it('matches only the exact text', async () => {
    const stored = await hashPassword('Correct horse')
    for (const wrong of ['correct horse', 'Correct horse ', 'Correct hors', ''])
      expect(await verifyPassword(wrong, stored)).to.equal(false)
  })

  it('matches in any Unicode normalization form', async () => {
    const stored = await hashPassword('na\u00efve caf\u00e9 owner')
    expect(await verifyPassword('nai\u0308ve cafe\u0301 owner', stored)).to.equal(true)
  })

  it('does not match if none is stored', async () => {
    expect(await verifyPassword('anything', null)).to.equal(false)
    expect(await verifyPassword('', undefined)).to.equal(false)
  })

  it('stored with other parameters is verified', async () => {
    // A vector of the reference implementation (github.com/P-H-C/phc-winner-argon2, src/test.c).
    const stored = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
    expect(await verifyPassword('password', stored)).to.equal(true)
    expect(await verifyPassword('Password', stored)).to.equal(false)
  })

  /** Why a new password is refused; undefined if it is not. */
  const refusalOf = (password: string, known: readonly string[] = []): Promise<GatewayError | undefined> =>
    checkPassword(password, 'new', known).then(
      () => undefined,
      (error: GatewayError) => error,
    )

  it('has twelve to two hundred characters', async () => {
    const words = 'unrelated words 🐎 of some length, '
    const long = words.repeat(6)
    for (const fine of ['staple🐎corre', [...long].slice(0, 200).join('')])
      expect(await refusalOf(fine), fine).to.equal(undefined)
    for (const wrong of ['staple🐎cor', [...long].slice(0, 201).join('')])
      expect(await refusalOf(wrong))
        .to.be.instanceOf(GatewayError)
        .with.property('param', 'new')
  })

  it('must not contain the e-mail address or the token', async () => {
    const known = ['ada@example.com', 'A-Token-Of-A-Link']
    for (const wrong of ['ADA@example.com!', 'a-token-of-a-link', 'my a-token-of-a-link here'])
      expect((await refusalOf(wrong, known))?.message).to.contain('it must not contain your e-mail address or the link')
    expect(await refusalOf('ada likes horses', known)).to.equal(undefined)
  })

  for (const weak of [
    ' '.repeat(12),
    'aaaaaaaaaaaa',
    'password1234',
    'P@ssw0rd1234',
    'abcabcabcabc',
    '123456789012',
    'qwertyuiop12',
    'letmeinletmein',
    '🐎'.repeat(200),
    'password'.repeat(25),
  ])
    it(`is refused if it is easily guessed: ${weak.slice(0, 20)}`, async () => {
      expect((await refusalOf(weak))?.message).to.contain('it is easily guessed')
    })

  it('is estimated in a moment, whatever it is', async () => {
    await refusalOf('the dictionaries are loaded now')
    const start = performance.now()
    for (const hostile of ['(){}[]|'.repeat(28), 'p4$$w0rd'.repeat(25), '1a'.repeat(100)]) await refusalOf(hostile)
    expect(performance.now() - start).to.be.below(2000)
  })

  it('is verified two at a time; beyond a queue of twenty, attempts are refused', async () => {
    const crowd = Array.from({ length: 30 }, () => verifyPassword('guess', null).catch((error: unknown) => error))
    const refused = (await Promise.all(crowd)).filter((outcome) => outcome instanceof GatewayError)
    expect(refused.map(({ row }) => row)).to.deep.equal(Array(8).fill('service_unavailable'))
    expect(await verifyPassword('guess', null)).to.equal(false)
  })
})

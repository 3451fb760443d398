import { expect } from 'chai'
import OpenAI from 'openai'
import { onEachDatabase } from '../../support/databases.ts'
import type { ApiClient, ApiReply } from './api-client.ts'
import { type Fixture, startFixture, unique } from './fixture.ts'

const outcome = ({ status, body }: ApiReply) => [status, body.code]
const NOT_FOUND = [404, 'not_found']

onEachDatabase('a key', (database) => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture(await database())
  })
  after(() => fixture?.stop())

  type Made = { readonly id: string; readonly secret: string } & Record<string, unknown>

  async function create(client: ApiClient, more: object = {}): Promise<Made> {
    const { status, body } = await client.post('/keys', { name: 'laptop', kind: 'live', ...more })
    expect(status).to.equal(201)
    return body as unknown as Made
  }

  const names = async (client: ApiClient, query = '') => (await client.get(`/keys?${query}`)).body.data!.map(({ name }) => name)

  /** Whether the official SDK is served with it. */
  async function works(secret: string, model = 'acme/smart'): Promise<boolean> {
    const client = new OpenAI({ baseURL: `${fixture.gateway.url}/v1`, apiKey: secret, maxRetries: 0 })
    try {
      await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }] })
      return true
    } catch (error) {
      expect(error).to.be.instanceOf(OpenAI.AuthenticationError)
      return false
    }
  }

  it('of a member works at once, belongs to their account, and names its creator', async () => {
    const name = unique('laptop')
    const made = await create(fixture.member, { name, tags: { team: 'research' }, expires_at: '2999-01-31T00:00:00.000Z' })
    const { secret, id, created_at, ...rest } = made
    expect(secret).to.match(/^sk-live-[0-9A-Za-z]{36}$/)
    expect(Date.parse(created_at as string)).to.be.closeTo(Date.now(), 60_000)
    expect(rest).to.deep.equal({
      name,
      kind: 'live',
      masked: `${secret.slice(0, 12)}…${secret.slice(-4)}`,
      account: { id: fixture.account, name: 'Acme' },
      models: ['*'],
      rate_class: null,
      budgets: [],
      spending: [],
      cost: { usd: '0.00', unpriced: 0 },
      tags: { team: 'research' },
      created_by: { id: fixture.memberId, name: 'Bob' },
      last_used_at: null,
      expires_at: '2999-01-31T00:00:00.000Z',
      revoked_at: null,
      disabled_at: null,
      status: 'active',
      source: 'database',
    })
    expect(await works(secret)).to.equal(true)
    expect((await fixture.member.get(`/keys/${id}`)).body).to.deep.equal({ ...rest, id, created_at })
  })

  it('can call what both its account and itself allow', async () => {
    const narrow = await create(fixture.member, { models: ['acme/*', 'openai/*'] })
    const client = fixture.gateway.openai(narrow.secret)
    expect((await client.models.list()).data.map(({ id }) => id)).to.deep.equal(['acme/smart'])
    await fixture.admin.patch(`/accounts/${fixture.account}`, { models: ['sandbox/*'] })
    expect((await client.models.list()).data).to.deep.equal([])
    await fixture.admin.patch(`/accounts/${fixture.account}`, { models: ['sandbox/*', 'acme/*'] })
    expect((await client.models.list()).data).to.have.length(1)
  })

  it('works until its overlap after a rotation ends, or it is revoked', async () => {
    const old = await create(fixture.member)
    const rotated = (await fixture.member.post(`/keys/${old.id}/rotate`, { overlap_seconds: 3600 })).body as unknown as Made
    expect(rotated).to.include({ replaces: old.id, name: 'laptop', status: 'active' })
    expect((await fixture.member.get(`/keys/${old.id}`)).body).to.include({ replaced_by: rotated.id, status: 'active' })
    expect([await works(old.secret), await works(rotated.secret)]).to.deep.equal([true, true])
    const { body } = await fixture.member.post(`/keys/${old.id}/revoke`)
    expect(body).to.include({ status: 'revoked' })
    expect([await works(old.secret), await works(rotated.secret)]).to.deep.equal([false, true])
    expect(outcome(await fixture.member.post(`/keys/${old.id}/rotate`, { overlap_seconds: 0 }))).to.deep.equal([409, 'conflict'])
    await fixture.member.post(`/keys/${rotated.id}/rotate`, { overlap_seconds: 0 })
    expect(await works(rotated.secret)).to.equal(false)
  })

  it('is found page by page, by part of its name, and by its last four characters', async () => {
    const mark = unique('page')
    for (let i = 0; i < 5; i++) await create(fixture.member, { name: `${mark} ${i}` })
    const seen: unknown[] = []
    let next = ''
    do {
      const { body } = await fixture.member.get(`/keys?q=${encodeURIComponent(mark)}&limit=2${next}`)
      seen.push(...body.data!.map(({ name }) => name))
      next = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
    } while (next !== '')
    expect(seen).to.have.members([4, 3, 2, 1, 0].map((i) => `${mark} ${i}`))
    expect(await names(fixture.member, 'q=%25')).to.deep.equal([])
    const made = await create(fixture.member, { name: unique('last four') })
    expect(await names(fixture.member, `q=${made.secret.slice(-4)}`)).to.include(made.name)
  })

  it('is found by its masked secret, by its id, and by a tag', async () => {
    const made = await create(fixture.member, { name: unique('shown'), tags: { team: unique('team"%') } })
    const { masked } = (await fixture.member.get(`/keys/${made.id}`)).body as { masked?: string }
    for (const q of [masked!, made.id, `team=${(made.tags as { team: string }).team}`])
      expect(await names(fixture.member, `q=${encodeURIComponent(q)}`), q).to.deep.equal([made.name])
  })

  it('is listed in the order asked for, page by page, and counted', async () => {
    const mark = unique('order')
    for (const name of ['b', 'C', 'a']) await create(fixture.member, { name: `${mark} ${name}` })
    const first = await fixture.member.get(`/keys?q=${encodeURIComponent(mark)}&sort=name&limit=2`)
    const { data, next_cursor, total } = first.body as unknown as { data: Made[]; next_cursor: string; total: number }
    const rest = await names(fixture.member, `q=${encodeURIComponent(mark)}&sort=name&cursor=${next_cursor}`)
    expect([...data.map(({ name }) => name), ...rest]).to.deep.equal([`${mark} a`, `${mark} b`, `${mark} C`])
    expect(total).to.equal(3)
  })

  for (const query of ['limit=0', 'limit=201', 'limit=x', 'status=lost', 'cursor=%00', 'sort=color', 'limit=1&limit=2']) {
    it(`is not listed by the invalid query ?${query}`, async () => {
      expect((await fixture.member.get(`/keys?${query}`)).status).to.equal(400)
    })
  }

  it('of routes.yaml is listed with its line, and cannot be changed', async () => {
    const { body } = await fixture.admin.get('/keys?q=nightly')
    expect(body.data).to.deep.equal([
      {
        id: 'routes:nightly',
        name: 'nightly',
        kind: 'live',
        masked: 'sha256:abababab…',
        account: { id: 'default', name: 'default' },
        models: ['acme/*'],
        rate_class: 'batch',
        budgets: [],
        spending: [],
        cost: { usd: '0.00', unpriced: 0 },
        tags: {},
        created_at: null,
        created_by: null,
        last_used_at: null,
        expires_at: '2999-01-31T00:00:00.000Z',
        revoked_at: null,
        disabled_at: null,
        status: 'active',
        source: 'routes.yaml:13',
      },
    ])
    expect((await fixture.admin.get('/keys/routes:nightly')).body).to.deep.equal(body.data![0])
    for (const change of [
      await fixture.admin.patch('/keys/routes:nightly', { name: 'x' }),
      await fixture.admin.post('/keys/routes:nightly/rotate', { overlap_seconds: 0 }),
      await fixture.admin.post('/keys/routes:nightly/revoke'),
    ]) {
      expect(outcome(change)).to.deep.equal([409, 'conflict'])
      expect(change.body.message).to.include('routes.yaml:13')
    }
    expect(await names(fixture.member, 'q=nightly')).to.deep.equal([])
    expect(outcome(await fixture.member.get('/keys/routes:nightly'))).to.deep.equal(NOT_FOUND)
  })

  it('of another account does not exist for a member', async () => {
    const foreign = await create(fixture.admin, { name: unique('foreign') })
    const unknown = await fixture.member.get('/keys/key_none')
    for (const reply of [
      await fixture.member.get(`/keys/${foreign.id}`),
      await fixture.member.patch(`/keys/${foreign.id}`, { name: 'mine' }),
      await fixture.member.post(`/keys/${foreign.id}/rotate`, { overlap_seconds: 0 }),
      await fixture.member.post(`/keys/${foreign.id}/revoke`),
    ])
      expect([reply.status, reply.text]).to.deep.equal([404, unknown.text])
    expect(await names(fixture.member, `q=${encodeURIComponent(foreign.name as string)}`)).to.deep.equal([])
    expect(outcome(await fixture.member.get('/keys?account_id=default'))).to.deep.equal(NOT_FOUND)
    expect((await fixture.admin.get(`/keys/${foreign.id}`)).body).to.include({ name: foreign.name, status: 'active' })
  })

  it('cannot be created by a member for another account, with a rate class, or as an admin key', async () => {
    const refusals: readonly [object, unknown[]][] = [
      [{ account_id: 'default' }, [400, 'invalid_value']],
      [{ account_id: 'acc_none' }, [400, 'invalid_value']],
      [{ rate_class: 'unlimited' }, [403, 'admin_required']],
      [{ kind: 'admin' }, [403, 'admin_required']],
    ]
    for (const [more, wanted] of refusals)
      expect(outcome(await fixture.member.post('/keys', { name: 'x', kind: 'live', ...more }))).to.deep.equal(wanted)
  })

  it('keeps the rate class of an admin, whatever a member sends', async () => {
    const limited = await create(fixture.admin, { account_id: fixture.account, rate_class: 'batch' })
    expect((await fixture.member.patch(`/keys/${limited.id}`, { name: 'renamed', rate_class: 'batch' })).body).to.include({
      name: 'renamed',
    })
    for (const rate_class of [null, 'unlimited'])
      expect(outcome(await fixture.member.patch(`/keys/${limited.id}`, { rate_class }))).to.deep.equal([403, 'admin_required'])
  })

  it('rejects fields that cannot be set', async () => {
    const { id } = await create(fixture.member)
    const fields = {
      id: 'key_x',
      secret: 'x',
      digest: 'x',
      account: 'default',
      created_by: 'x',
      revoked_at: null,
      source: 'x',
      kind: 'test',
    }
    for (const [name, value] of Object.entries(fields)) {
      expect((await fixture.admin.patch(`/keys/${id}`, { [name]: value })).body).to.include({
        code: 'unknown_parameter',
        param: name,
      })
      if (name === 'kind') continue
      const { body } = await fixture.admin.post('/keys', { name: 'x', kind: 'live', [name]: value })
      expect(body).to.include({ code: 'unknown_parameter', param: name })
    }
    const proto = '{"name":"x","kind":"live","__proto__":{"account_id":"default"}}'
    const response = await fetch(`${fixture.gateway.url}/api/v1/keys`, {
      method: 'POST',
      headers: { cookie: fixture.member.cookieHeader, origin: fixture.gateway.url, 'content-type': 'application/json' },
      body: proto,
    })
    expect(response.status).to.equal(400)
  })

  it('of the kind admin is created and seen by admins only, and cannot call models', async () => {
    const made = await create(fixture.admin, { kind: 'admin', account_id: fixture.account, name: unique('manager') })
    expect(made.secret).to.match(/^sk-admin-/)
    const q = `q=${encodeURIComponent(made.name as string)}`
    expect([await names(fixture.admin, q), await names(fixture.member, q)]).to.deep.equal([[made.name], []])
    for (const reply of [
      await fixture.member.get(`/keys/${made.id}`),
      await fixture.member.post(`/keys/${made.id}/rotate`, { overlap_seconds: 0 }),
    ])
      expect(outcome(reply)).to.deep.equal(NOT_FOUND)
    expect(await works(made.secret)).to.equal(false)
    const headers = { authorization: `Bearer ${made.secret}` }
    expect((await fixture.newClient().get('/users', { headers })).status).to.equal(200)
    await fixture.admin.post(`/keys/${made.id}/revoke`)
    expect((await fixture.newClient().get('/users', { headers })).status).to.equal(401)
  })

  it('is refused while it is disabled, with the reason, and served again when an admin enables it', async () => {
    const { id, secret } = await create(fixture.member, { name: unique('paused') })
    expect(await works(secret)).to.equal(true)
    const { body: disabled } = await fixture.member.patch(`/keys/${id}`, { disabled: true })
    expect(disabled).to.include({ status: 'disabled' })
    expect(disabled.disabled_at).to.be.a('string')
    const reply = await fixture.gateway.fetch('/v1/models', { key: secret })
    expect([reply.status, reply.headers.get('x-should-retry')]).to.deep.equal([401, 'false'])
    expect(await reply.json()).to.have.nested.include({
      'error.code': 'api_key_disabled',
      'error.message': 'Your API key is disabled. Ask the operator to enable it, or use another key.',
    })
    expect(outcome(await fixture.member.patch(`/keys/${id}`, { disabled: false }))).to.deep.equal([403, 'admin_required'])
    expect((await fixture.admin.patch(`/keys/${id}`, { disabled: false })).body).to.include({
      status: 'active',
      disabled_at: null,
    })
    expect(await works(secret)).to.equal(true)
    const { body: trail } = await fixture.admin.get('/audit?limit=2&action=key.edit')
    expect(trail.data!.map(({ changes }) => changes)).to.deep.equal([{ disabled: [true, null] }, { disabled: [null, true] }])
  })

  it('for programs is refused while it is disabled, with the reason', async () => {
    const { id, secret } = await create(fixture.admin, { name: unique('program'), kind: 'admin' })
    await fixture.admin.patch(`/keys/${id}`, { disabled: true })
    const reply = await fixture.newClient().get('/users', { headers: { authorization: `Bearer ${secret}` } })
    expect(outcome(reply)).to.deep.equal([401, 'api_key_disabled'])
  })

  it('may have a name that is HTML: it is JSON text', async () => {
    const name = `<img src=x onerror=alert(1)>"'&`
    const { id } = await create(fixture.member, { name, tags: { team: '</script><script>' } })
    const { headers, body } = await fixture.member.get(`/keys/${id}`)
    expect(headers.get('content-type')).to.match(/^application\/json/)
    expect(body).to.deep.include({ name, tags: { team: '</script><script>' } })
  })

  it('has its changes in the audit trail, with their actors', async () => {
    const { id } = await create(fixture.member, { name: 'traced' })
    await fixture.admin.patch(`/keys/${id}`, { name: 'renamed', rate_class: 'batch' })
    await fixture.program.post(`/keys/${id}/revoke`)
    const { body } = await fixture.admin.get('/audit?limit=3&action=key.')
    expect(
      body.data!.map(({ action, actor, object, changes }) => [action, (actor as { name: string }).name, object, changes]),
    ).to.deep.equal([
      ['key.revoke', 'terraform', { type: 'key', id, name: 'renamed' }, {}],
      ['key.edit', 'Ada', { type: 'key', id, name: 'renamed' }, { name: ['traced', 'renamed'], rate_class: [null, 'batch'] }],
      [
        'key.create',
        'Bob',
        { type: 'key', id, name: 'traced' },
        {
          kind: [null, 'live'],
          account: [null, fixture.account],
          name: [null, 'traced'],
          models: [null, ['*']],
          budgets: [null, []],
          tags: [null, {}],
        },
      ],
    ])
  })
})

import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { reloadAfter, replaceFile, table, tableInUse, untilInUse, validReloadAfter } from './reloading.ts'

const FIRST = table('first')

describe('An edited routes.yaml', () => {
  let gateway: TestGateway
  const at = (name: string): string => join(gateway.folder, name)
  const write = (text: string) => writeFile(at('routes.yaml'), text)
  const replace = (text: string) => replaceFile(at('routes.yaml'), text)
  const outcome = async () => ({
    table: await tableInUse(gateway),
    successful: await gateway.metric('umg_config_last_reload_successful'),
  })

  beforeEach(async () => {
    gateway = await startTestGateway({ routes: FIRST })
  })

  afterEach(() => gateway?.stop())

  describe('is used at once if it is', () => {
    for (const [how, edit] of [
      ['written in place', () => write(table('last'))],
      [
        'written in chunks',
        async () => {
          const text = table('last')
          for (const length of [0, 20, 60, text.length]) await write(text.slice(0, length))
        },
      ],
      ['replaced by another file', () => replace(table('last'))],
      [
        'removed and written again',
        async () => {
          await rm(at('routes.yaml'))
          await write(table('last'))
        },
      ],
      [
        'edited several times',
        async () => {
          for (const name of ['second', 'third', 'fourth', 'last']) await write(table(name))
        },
      ],
    ] as const) {
      it(how, async () => {
        const { trigger } = await validReloadAfter(gateway, edit)
        expect(trigger).to.equal('file')
        // On a slow machine, a table in between may be loaded first.
        await untilInUse(gateway, 'last')
        expect(await outcome()).to.deep.equal({ table: 'last', successful: 1 })
      })
    }

    it('changed in the labels of rate-tagging, as umg validate says', async () => {
      const labelled = (labels: string) =>
        table('labelled').replace(
          'namespaces:',
          `  - plugin: rate-tagging
    config: { classes: { all: {} }, default: all, tags: { team: "{key}", app: "{kind}" }, metrics: [${labels}] }
namespaces:`,
        )
      for (const labels of ['team', 'app', 'team, app']) {
        const { ok, diagnostics } = await validReloadAfter(gateway, () => replace(labelled(labels)))
        expect({ ok, diagnostics }).to.deep.equal({ ok: true, diagnostics: '' })
      }
    })

    it('mounted by Kubernetes, which replaces a symbolic link', async () => {
      await mkdir(at('..first'))
      await writeFile(at('..first/routes.yaml'), FIRST)
      await symlink('..first', at('..data'))
      await symlink('..data/routes.yaml', at('link'))
      await rename(at('link'), at('routes.yaml'))
      let last = '..first'
      for (const name of ['second', 'third']) {
        const { ok } = await reloadAfter(gateway, async () => {
          await mkdir(at(`..${name}`))
          await writeFile(at(`..${name}/routes.yaml`), table(name))
          await symlink(`..${name}`, at('..data_tmp'))
          await rename(at('..data_tmp'), at('..data'))
          await rm(at(last), { recursive: true })
          last = `..${name}`
        })
        expect(ok).to.equal(true)
        expect(await tableInUse(gateway)).to.equal(name)
      }
    })
  })

  it('changes the metrics of its digest and of the time of the reload', async () => {
    const readAt = () => gateway.metric('umg_config_last_reload_success_timestamp_seconds')
    const [before, since] = [await gateway.metrics(), await readAt()]
    await reloadAfter(gateway, () => replace(table('second')))
    const digests = (text: string) => [...text.matchAll(/^umg_config_info\{sha256="(\w{64})"\} 1$/gm)].map(([, digest]) => digest)
    const after = await gateway.metrics()
    expect([...digests(before), ...digests(after)]).to.have.length(2)
    expect(digests(after)).to.not.deep.equal(digests(before))
    expect(await readAt()).to.be.greaterThan(since)
  })

  it('is logged with its differences', async () => {
    const { difference } = await reloadAfter(gateway, () => replace(table('second')))
    expect(difference).to.deep.equal(['~ link header-stamping: config.response.x-table: first → second'])
  })

  it('has no differences if only comments and the order of keys have changed', async () => {
    const { ok, difference } = await reloadAfter(gateway, () =>
      replace(`# mine\n${FIRST.replace('version: 1\n', '')}version: 1\n`),
    )
    expect({ ok, difference }).to.deep.equal({ ok: true, difference: [] })
  })

  describe('is not used while it', () => {
    for (const [how, edit, message] of [
      ['is not YAML', () => replace('version: 1\nnamespaces: {{\n'), /routes\.yaml:2:\d+: not valid YAML/],
      ['has an unknown field', () => replace(table('second', 'namespases: {}\n')), /:8:1: unknown field "namespases"/],
      ['is cut off', () => replace(table('second').slice(0, 90)), /routes\.yaml:\d+:\d+: /],
      ['is empty', () => replace(''), /routes\.yaml:1:1: /],
      ['does not exist', () => rm(at('routes.yaml')), /routes\.yaml:1:1: the file does not exist/],
      ['needs a variable that is not set', () => replace(table(`"\${env:NOBODY_SETS_THIS}"`)), /NOBODY_SETS_THIS is not set/],
      ['names a plugin that does not exist', () => replace(FIRST.replace('auth', './mine.ts')), /mine\.ts does not exist/],
      [
        'has a config that its plugin refuses',
        () => replace(table('second', '  bad: { provider: openai-compatible }\n')),
        /:8:3: namespaces\.bad\.config names no upstream/,
      ],
    ] as const) {
      it(how, async () => {
        const { ok, diagnostics } = await reloadAfter(gateway, edit)
        expect(ok).to.equal(false)
        expect(diagnostics).to.match(message)
        expect(await outcome()).to.deep.equal({ table: 'first', successful: 0 })

        const fixed = await reloadAfter(gateway, () => replace(table('fixed')))
        expect(fixed.ok).to.equal(true)
        expect(await outcome()).to.deep.equal({ table: 'fixed', successful: 1 })
        for (const result of ['success', 'failure'])
          expect(await gateway.metric('umg_config_reloads_total', { result })).to.equal(1)
      })
    }
  })
})

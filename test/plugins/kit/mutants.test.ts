import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { install, TEMPLATES, TOOLS } from './author.ts'

/** A provider that is right, but for one thing; and the case of its suite that must see it. */
interface Mutant {
  readonly name: string
  readonly file: string
  readonly change: readonly [from: string, to: string]
  readonly seenBy: string
}

const MUTANTS: readonly Mutant[] = [
  {
    name: 'forgets-a-parameter',
    file: 'request.ts',
    change: ['...(body.temperature != null && { creativity: body.temperature }),', ''],
    seenBy: 'whose mapped ones change what is sent',
  },
  {
    name: 'sends-what-it-drops',
    file: 'request.ts',
    change: ['live: body.stream === true,', 'live: body.stream === true, ...{ seed: body.seed },'],
    seenBy: 'whose dropped ones change nothing, and are named in the reply',
  },
  {
    name: 'has-a-gap-in-its-table',
    file: 'request.ts',
    change: ["stop: refused('Parrot takes no stop sequences.'),", ''],
    seenBy: 'that knows every parameter of OpenAI',
  },
  {
    name: 'finishes-early',
    file: 'reply.ts',
    change: ['yield chunk.content(part.says)', "yield* [chunk.content(part.says), chunk.finish('stop')]"],
    seenBy: 'cut at every byte, as an error and never as a whole reply (text)',
  },
  {
    name: 'splits-by-the-network',
    file: 'reply.ts',
    change: [
      'completion: (body) => toCompletion(body as Talk | TalkError), event',
      'completion: (body) => toCompletion(body as Talk | TalkError), event, decoder: () => ({ push: (bytes) => String(bytes).split("\\n").filter((line) => line.startsWith("data: ")).map((line) => ({ type: "", data: line.slice(6) })), end: () => [] })',
    ],
    seenBy: 'split at every byte (text)',
  },
  {
    name: 'has-its-key-in-the-address',
    file: 'index.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a piece of the template's source
    change: ['path: `${path}/v1/talk`', 'path: `${path}/v1/talk?key=${apiKey.reveal()}`'],
    seenBy: 'sends its credential in headers: no URL and no body has it',
  },
  {
    name: 'drops-the-headers-of-links',
    file: 'index.ts',
    change: ['headers: { ...call.headers, authorization }', "headers: { 'content-type': 'application/json', authorization }"],
    seenBy: 'sends its upstream the headers of chain plugins',
  },
  {
    name: 'takes-a-cut-for-an-end',
    file: 'reply.ts',
    change: ["words: 'length'", "words: 'stop'"],
    seenBy: 'a reply that was ended for its length',
  },
  {
    name: 'mixes-calls',
    file: 'reply.ts',
    change: ['const index = calls++', 'const index = 0'],
    seenBy: 'parallel tool calls, streamed',
  },
  {
    name: 'loses-results',
    file: 'request.ts',
    change: ["{ who: 'tool', call: id, says: textOf(message, path) }", "{ who: 'user', says: '' }"],
    seenBy: "goes through the SDK's loop of tool calls",
  },
  {
    name: 'does-not-see',
    file: 'request.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a piece of the template's source
    change: ["throw unsupportedParameter(`${param}[${index}]`, 'Parrot reads text only.')", "return ''"],
    seenBy: 'a refusal of an image that its upstream could not see',
  },
  {
    name: 'takes-all-400s-for-one',
    file: 'refusal.ts',
    change: ["too_long: { status: 400, code: 'context_length_exceeded', param: 'messages' },", ''],
    seenBy: 'a prompt that is too long',
  },
]

describe('the suite of describeProvider', () => {
  let folder: string
  let failed: readonly string[]

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-mutants-'))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await install(folder)
    for (const mutant of MUTANTS) await write(mutant)
    failed = await failures()
  }).timeout(120_000)

  after(() => rm(folder, { recursive: true, force: true }))

  for (const { name, seenBy } of MUTANTS) {
    it(`sees a provider that ${name.replaceAll('-', ' ')}`, () => {
      expect(failed.filter((title) => title.startsWith(`provider ${name} `) && title.includes(seenBy))).not.to.deep.equal([])
      expect(failed.filter((title) => title.includes(' hook '))).to.deep.equal([])
    })
  }

  async function write({ name, file, change: [from, to] }: Mutant): Promise<void> {
    const home = join(folder, name)
    await cp(join(TEMPLATES, 'provider'), home, { recursive: true })
    const source = await readFile(join(home, 'src', file), 'utf8')
    expect(source, name).to.contain(from)
    await writeFile(join(home, 'src', file), source.replace(from, to))
    const entry = await readFile(join(home, 'src/index.ts'), 'utf8')
    await writeFile(join(home, 'src/index.ts'), entry.replace('__name__', name))
  }

  /** Runs of each mutant's suite the case that must fail. Returns the full titles of those that do. */
  async function failures(): Promise<string[]> {
    const wanted = MUTANTS.map(({ name, seenBy }) => `provider ${name} .*${seenBy.replaceAll(/[()]/g, '\\$&')}`).join('|')
    const args = ['--reporter', 'json', '--grep', wanted, '*/test/*.test.ts']
    const options = { cwd: folder, env: TOOLS, maxBuffer: 1 << 26 }
    // It fails, as it should.
    const { stdout } = await promisify(execFile)('mocha', args, options).catch((error) => error)
    return JSON.parse(stdout).failures.map(({ fullTitle }: { readonly fullTitle: string }) => fullTitle)
  }
})

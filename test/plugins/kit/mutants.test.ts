import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { install, ROOT, run, TEMPLATES } from './author.ts'

/** A provider with one error, and the case of the suite that must fail. */
interface Mutant {
  readonly name: string
  /** `acme` uploads pictures before it asks. Absent: the template's. */
  readonly of?: 'acme'
  readonly file: string
  readonly change: readonly [from: string, to: string]
  readonly failingCase: string
}

const MUTANTS: readonly Mutant[] = [
  {
    name: 'ignores-a-mapped-parameter',
    file: 'request.ts',
    change: ['...(body.temperature != null && { creativity: body.temperature }),', ''],
    failingCase: 'whose mapped parameters change the upstream request',
  },
  {
    name: 'sends-a-dropped-parameter',
    file: 'request.ts',
    change: ['live: body.stream === true,', 'live: body.stream === true, ...{ seed: body.seed },'],
    failingCase: 'whose dropped parameters change nothing and are named in the reply',
  },
  {
    name: 'lacks-a-parameter-in-its-table',
    file: 'request.ts',
    change: ["stop: refused('Parrot takes no stop sequences.'),", ''],
    failingCase: 'that lists every parameter of OpenAI',
  },
  {
    name: 'finishes-early',
    file: 'reply.ts',
    change: ['yield chunk.content(part.says)', "yield* [chunk.content(part.says), chunk.finish('stop')]"],
    failingCase: 'cut at every byte, as an error and never as a whole reply (text)',
  },
  {
    name: 'takes-pieces-for-events',
    file: 'reply.ts',
    change: [
      'completion: (body) => toCompletion(body as Talk | TalkError), event',
      'completion: (body) => toCompletion(body as Talk | TalkError), event, decoder: () => ({ push: (bytes) => String(bytes).split("\\n").filter((line) => line.startsWith("data: ")).map((line) => ({ type: "", data: line.slice(6) })), end: () => [] })',
    ],
    failingCase: 'split at every byte (text)',
  },
  {
    name: 'sends-its-key-in-the-url',
    file: 'index.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a piece of the template's source
    change: ['path: `${path}/v1/talk`', 'path: `${path}/v1/talk?key=${apiKey.reveal()}`'],
    failingCase: 'sends its credential in headers only, not in a URL or a body',
  },
  {
    name: 'drops-the-headers-of-links',
    file: 'index.ts',
    change: ['headers: { ...call.headers, authorization }', "headers: { 'content-type': 'application/json', authorization }"],
    failingCase: 'sends the upstream the headers of chain plugins',
  },
  {
    name: 'takes-the-maximum-length-for-an-end',
    file: 'reply.ts',
    change: ["words: 'length'", "words: 'stop'"],
    failingCase: 'a reply that reached its maximum length',
  },
  {
    name: 'mixes-tool-calls',
    file: 'reply.ts',
    change: ['yield chunk.toolArguments(index,', 'yield chunk.toolArguments(0,'],
    failingCase: 'parallel tool calls, streamed',
  },
  {
    name: 'loses-tool-results',
    file: 'request.ts',
    change: ["{ who: 'tool', call: id, says: textOf(message, path) }", "{ who: 'user', says: '' }"],
    failingCase: "completes the SDK's loop of tool calls",
  },
  {
    name: 'ignores-images',
    file: 'request.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a piece of the template's source
    change: ["throw unsupportedParameter(`${param}[${index}]`, 'Parrot reads text only.')", "return ''"],
    failingCase: 'a 400 for an image that the upstream cannot read',
  },
  {
    name: 'drops-the-system-prompt',
    file: 'request.ts',
    change: ["system: (message, path) => turns.push({ who: 'director', says: textOf(message, path) }),", 'system: () => {},'],
    failingCase: 'with its instructions, in its order',
  },
  {
    name: 'drops-the-id-of-a-result',
    file: 'request.ts',
    change: ["who: 'tool', call: id,", "who: 'tool', call: '',"],
    failingCase: 'with its tools, their calls and the results, in its order',
  },
  {
    name: 'drops-the-calls-of-a-conversation',
    file: 'request.ts',
    change: ['...(calls.length > 0 && { calls })', ''],
    failingCase: 'with its tools, their calls and the results, in its order',
  },
  {
    name: 'empties-the-schema-of-a-tool',
    file: 'request.ts',
    change: ['input: parameters', 'input: {}'],
    failingCase: 'with its tools, their calls and the results, in its order',
  },
  {
    name: 'multiplies-the-temperature',
    file: 'request.ts',
    change: ['creativity: body.temperature', 'creativity: 4 * body.temperature'],
    failingCase: 'the chat requests of its file',
  },
  {
    name: 'sends-another-path',
    file: 'index.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a piece of the template's source
    change: ['path: `${path}/v1/talk`', 'path: `${path}/v2/talk`'],
    failingCase: 'the chat requests of its file',
  },
  {
    name: 'gives-every-400-one-code',
    file: 'refusal.ts',
    change: ["too_long: { status: 400, code: 'context_length_exceeded', param: 'messages' },", ''],
    failingCase: 'a prompt that is too long',
  },
  {
    name: 'takes-a-further-reason-for-another',
    file: 'reply.ts',
    change: ["hush: 'stop'", "hush: 'length'"],
    failingCase: 'the finish of hush',
  },
  {
    name: 'uploads-with-another-type',
    of: 'acme',
    file: 'acme.ts',
    change: ["'content-type': 'image/png'", "'content-type': 'image/jpeg'"],
    failingCase: 'the chat requests of its file',
  },
  {
    name: 'uploads-without-its-credential',
    of: 'acme',
    file: 'acme.ts',
    change: ["{ 'x-acme-token': token.reveal(), 'content-type'", "{ 'content-type'"],
    failingCase: 'the chat requests of its file',
  },
  {
    name: 'uploads-other-bytes',
    of: 'acme',
    file: 'acme.ts',
    change: ["Buffer.from(picture, 'base64')", "Buffer.from(picture, 'hex')"],
    failingCase: 'the answer to an image, which the upstream received',
  },
  {
    name: 'takes-milliseconds-for-seconds',
    of: 'acme',
    file: 'acme.ts',
    change: ['(Number(reset) - Date.now()) / 1000', 'Number(reset) - Date.now()'],
    failingCase: 'too many requests',
  },
]

const STRANGERS = join(ROOT, 'test/e2e/plugins')

describe('The conformance suite of describeProvider', () => {
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

  for (const { name, failingCase } of MUTANTS) {
    it(`finds a provider that ${name.replaceAll('-', ' ')}`, () => {
      expect(failed.filter((title) => title.startsWith(`provider ${name} `) && title.includes(failingCase))).not.to.deep.equal([])
      expect(failed.filter((title) => title.includes(' hook '))).to.deep.equal([])
    })
  }

  async function write({ name, of, file, change: [from, to] }: Mutant): Promise<void> {
    const home = join(folder, name)
    const change = async (path: string, from: string, to: string): Promise<void> => {
      const source = await readFile(join(home, path), 'utf8')
      expect(source, name).to.contain(from)
      await writeFile(join(home, path), source.replace(from, to))
    }
    if (of === undefined) {
      await cp(join(TEMPLATES, 'provider'), home, { recursive: true })
      await change(join('src', file), from, to)
      await change('src/index.ts', '__name__', name)
    } else {
      await cp(join(STRANGERS, 'strangers'), join(home, 'test/strangers'), { recursive: true })
      await cp(join(STRANGERS, 'conformance.test.ts'), join(home, 'test/index.test.ts'))
      await change(join('test/strangers', file), from, to)
      await change('test/index.test.ts', 'of a stranger', name)
    }
  }

  /** Runs, for each mutant, the case that must fail. Resolves to the full titles of the failed cases. */
  async function failures(): Promise<string[]> {
    const wanted = MUTANTS.map(({ name, failingCase }) => `provider ${name} .*${failingCase.replaceAll(/[()]/g, '\\$&')}`).join(
      '|',
    )
    const args = ['--reporter', 'json', '--grep', wanted, '*/test/*.test.ts']
    // Mocha exits with the number of failures.
    const stdout = await run('mocha', args, { cwd: folder }).catch((error) => error.stdout)
    return JSON.parse(stdout).failures.map(({ fullTitle }: { readonly fullTitle: string }) => fullTitle)
  }
})

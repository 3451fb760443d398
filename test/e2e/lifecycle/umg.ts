import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { command } from '../../support/command.ts'

/** The environment of commands: other variables of this machine must not affect tests. */
const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  // Several processes take longer to start; test/e2e/processes starts them.
  UMG_WORKERS: '1',
}

/** The exit code and the output of a process. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A process of the command `umg`. */
export class Umg {
  readonly #child: ChildProcess
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''

  constructor(args: readonly string[], { cwd, env, node = process.execPath, umg = command(), script = 'exec "$@"' }: RunOptions) {
    this.#child = spawn('sh', ['-c', script, 'sh', node, umg, ...args], { cwd, env: { ...ENVIRONMENT, ...env } })
    this.#child.stdout!.setEncoding('utf8').on('data', (text) => (this.stdout += text))
    this.#child.stderr!.setEncoding('utf8').on('data', (text) => (this.stderr += text))
    this.ended = once(this.#child, 'close').then(([code]) => ({ code, stdout: this.stdout, stderr: this.stderr }))
  }

  /** Waits until the output matches. Throws the output if the process ends first. */
  async prints(pattern: RegExp, stream: 'stdout' | 'stderr' = 'stdout'): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this[stream])
      if (found !== null) return found
      const over = await Promise.race([once(this.#child[stream]!, 'data').then(() => undefined), this.ended])
      if (over !== undefined && !pattern.test(this[stream])) throw new Error(`umg ended with ${over.code}: ${over.stderr}`)
    }
  }

  /** Waits for more output. Throws if the process ends first. */
  async printsMore(): Promise<void> {
    const over = await Promise.race([once(this.#child.stdout!, 'data').then(() => undefined), this.ended])
    if (over !== undefined) throw new Error(`umg ended with ${over.code}: ${over.stderr}`)
  }

  /** The id of its process. */
  get pid(): number {
    return this.#child.pid!
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }
}

interface RunOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Default: the Node that runs the tests. */
  readonly node?: string
  /** The path of the command. Default: that of this run. */
  readonly umg?: string
  /** What a shell does with the command, which is its "$@". */
  readonly script?: string
}

/** A folder with a routes.yaml, in which commands run. `remove` ends running commands. */
export class Home {
  readonly path: string
  readonly #running: Umg[] = []

  private constructor(path: string) {
    this.path = path
  }

  /** `files`: their texts by name. */
  static async create(files: Readonly<Record<string, string>>): Promise<Home> {
    const home = new Home(await mkdtemp(join(tmpdir(), 'umg-home-')))
    for (const [name, text] of Object.entries(files)) await home.write(name, text)
    return home
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(join(this.path, name), text)
  }

  read(name: string): Promise<string> {
    return readFile(join(this.path, name), 'utf8')
  }

  run(args: readonly string[], options: Omit<RunOptions, 'cwd'> = {}): Umg {
    const umg = new Umg(args, { cwd: this.path, ...options })
    this.#running.push(umg)
    return umg
  }

  /** Starts a gateway on a free port. Resolves when it listens. */
  async start(...flags: string[]): Promise<{ readonly umg: Umg; readonly url: string }> {
    const umg = this.run(['start', '--port', '0', ...flags])
    const [, url] = await umg.prints(/^listening on (\S+)$/m)
    return { umg, url: url! }
  }

  async remove(): Promise<void> {
    for (const umg of this.#running) umg.signal('SIGKILL')
    await Promise.all(this.#running.map(({ ended }) => ended))
    await rm(this.path, { recursive: true, force: true })
  }
}

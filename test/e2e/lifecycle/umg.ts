import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const UMG = fileURLToPath(new URL('../../../core/umg.mjs', import.meta.url))

/** Of the environment only what starts a program: what the machine sets must not decide a test. */
const BARE = { PATH: process.env.PATH, HOME: process.env.HOME }

/** How a process ended, and what it said. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A process of the command line, in a folder of its own that goes with it. */
export class Umg {
  readonly #child: ChildProcess
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''

  constructor(args: readonly string[], { cwd, env, node = process.execPath, script = 'exec "$@"' }: RunOptions) {
    this.#child = spawn('sh', ['-c', script, 'sh', node, UMG, ...args], { cwd, env: { ...BARE, ...env } })
    this.#child.stdout!.setEncoding('utf8').on('data', (text) => (this.stdout += text))
    this.#child.stderr!.setEncoding('utf8').on('data', (text) => (this.stderr += text))
    this.ended = once(this.#child, 'close').then(([code]) => ({ code, stdout: this.stdout, stderr: this.stderr }))
  }

  /** Waits until what it prints fits. Throws what the process said if it ends before. */
  async says(pattern: RegExp, stream: 'stdout' | 'stderr' = 'stdout'): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this[stream])
      if (found !== null) return found
      const over = await Promise.race([once(this.#child[stream]!, 'data').then(() => undefined), this.ended])
      if (over !== undefined && !pattern.test(this[stream])) throw new Error(`umg ended with ${over.code}: ${over.stderr}`)
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }
}

interface RunOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Another Node than the one that runs the tests. */
  readonly node?: string
  /** What a shell does with the command, which is its "$@". */
  readonly script?: string
}

/** A folder with a routing table, in which commands run; `remove` ends those that still do. */
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

  /** Starts a gateway on a free port; resolves once it listens. */
  async start(...flags: string[]): Promise<{ readonly umg: Umg; readonly url: string }> {
    const umg = this.run(['start', '--port', '0', ...flags])
    const [, url] = await umg.says(/^listening on (\S+)$/m)
    return { umg, url: url! }
  }

  async remove(): Promise<void> {
    for (const umg of this.#running) umg.signal('SIGKILL')
    await Promise.all(this.#running.map(({ ended }) => ended))
    await rm(this.path, { recursive: true, force: true })
  }
}

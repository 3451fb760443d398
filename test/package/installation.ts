import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The result of a command. */
export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The package, built and packed. */
export interface PackedPackage {
  /** The folder that holds all of it. */
  readonly folder: string
  readonly tarball: string
  /** The paths in the tarball. */
  readonly files: readonly string[]
  remove(): Promise<void>
}

/** Builds and packs the package, in a folder of its own. */
export async function packPackage(): Promise<PackedPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'umg-package-'))
  const built = join(folder, 'built')
  await promisify(execFile)(process.execPath, [join(ROOT, 'deploy/package/build.ts'), built])
  // What runs from the folder leaves a compile cache there.
  await promisify(execFile)(process.execPath, [join(built, 'core/umg.mjs'), '--version'])
  const args = ['pack', built, '--json', '--pack-destination', folder]
  const { stdout } = await promisify(execFile)('npm', args, { env: { ...environment(folder) }, maxBuffer: 1 << 24 })
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }]
  return {
    folder,
    tarball: join(folder, packed.filename),
    files: packed.files.map(({ path }) => path),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** A machine without a registry, on which a Node is the only one on the PATH, and a folder of it. */
export class Machine {
  readonly folder: string
  readonly #env: NodeJS.ProcessEnv
  readonly #running: ChildProcessWithoutNullStreams[] = []

  private constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.folder = folder
    this.#env = env
  }

  static async create(node: string): Promise<Machine> {
    const home = await mkdtemp(join(tmpdir(), 'umg-machine-'))
    await mkdir(join(home, 'bin'))
    await symlink(node, join(home, 'bin/node'))
    const folder = join(home, 'gateway')
    await mkdir(folder)
    return new Machine(folder, environment(home))
  }

  /** Runs a command to its end. */
  async run(program: string, args: readonly string[], { cwd = '.', env = {} }: RunOptions = {}): Promise<Ended> {
    const options = { cwd: join(this.folder, cwd), env: { ...this.#env, ...env } }
    return promisify(execFile)(program, args, options).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    )
  }

  /** Runs a command, whose failure fails the test. Resolves to its output. */
  async must(program: string, args: readonly string[], options?: RunOptions): Promise<string> {
    const { code, stdout, stderr } = await this.run(program, args, options)
    if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`)
    return stdout
  }

  /** Starts a gateway by a command. Resolves when it listens. */
  async start(program: string, args: readonly string[], { cwd = '.', env = {} }: RunOptions = {}): Promise<StartedGateway> {
    // In a group of its own, as a shell starts a command: a signal reaches what npm has started too.
    const options = { cwd: join(this.folder, cwd), env: { ...this.#env, ...env }, detached: true } as const
    const child = spawn(program, [...args, '--port', '0', '--drain-delay', '0'], options)
    this.#running.push(child)
    const gateway = new StartedGateway(child)
    await gateway.prints(/^listening on \S+$/m)
    return gateway
  }

  async remove(): Promise<void> {
    for (const { pid, exitCode, signalCode } of this.#running) {
      if (exitCode === null && signalCode === null) process.kill(-pid!, 'SIGKILL')
    }
    await rm(join(this.folder, '..'), { recursive: true, force: true })
  }
}

interface RunOptions {
  /** Relative to the machine's folder. */
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/** A gateway that a command has started. */
export class StartedGateway {
  readonly pid: number
  readonly ended: Promise<Ended>
  /** What it has printed so far. */
  stdout = ''
  stderr = ''
  readonly #child: ChildProcessWithoutNullStreams

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    this.pid = child.pid!
    child.stdout.setEncoding('utf8').on('data', (text) => (this.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (this.stderr += text))
    this.ended = once(child, 'close').then(([code]) => ({ code, stdout: this.stdout, stderr: this.stderr }))
  }

  get url(): string {
    return /^listening on (\S+)$/m.exec(this.stdout)![1]!
  }

  /** Waits until its output matches. Throws what it printed if it ends first. */
  async prints(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.stdout)
      if (found !== null) return found
      const over = await Promise.race([once(this.#child.stdout, 'data').then(() => undefined), this.ended])
      if (over !== undefined) throw new Error(`ended with ${over.code}: ${over.stdout}${over.stderr}`)
    }
  }

  /** Ends it as Ctrl-C in a terminal does. */
  async interrupt(): Promise<void> {
    process.kill(-this.pid, 'SIGINT')
    await this.ended
  }
}

/** The environment of a machine: of this one only the programs, without those of npm packages, and without npm's settings. */
function environment(home: string): NodeJS.ProcessEnv {
  const programs = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  return {
    PATH: [join(home, 'bin'), ...programs].join(delimiter),
    HOME: home,
    // Several processes take longer to start.
    UMG_WORKERS: '1',
    npm_config_cache: join(home, '.npm'),
    npm_config_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A script in a Python of its own that answers each line of its standard input, which is JSON, with one. */
export class PythonProcess {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>

  /** `python`: the program. `env`: what the script's environment has besides this one's. */
  constructor(python: string, script: string, env: Readonly<Record<string, string>>) {
    this.#child = spawn(python, [script], {
      env: { ...process.env, ...env, NO_PROXY: '127.0.0.1' },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#lines = createInterface(this.#child.stdout!)[Symbol.asyncIterator]()
  }

  /** One task at a time. */
  async do(task: unknown): Promise<unknown> {
    this.#child.stdin!.write(`${JSON.stringify(task)}\n`)
    const { value, done } = await this.#lines.next()
    if (done) throw new Error('Python ended early; what it wrote to stderr says why')
    return JSON.parse(value)
  }

  async close(): Promise<void> {
    this.#child.stdin!.end()
    if (this.#child.exitCode === null) await once(this.#child, 'exit')
  }
}

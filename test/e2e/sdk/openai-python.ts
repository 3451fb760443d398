import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { OpenAI } from 'openai'

/** What openai-python made of one task. */
export interface PythonAnswer {
  readonly completion?: OpenAI.ChatCompletion
  readonly response?: OpenAI.Responses.Response
  readonly requestId?: string
  /** Of a stream, up to its end or to its error. */
  readonly chunks: readonly OpenAI.ChatCompletionChunk[]
  readonly models?: readonly OpenAI.Model[]
  readonly error?: {
    readonly class: string
    readonly message: string
    readonly code: string | null
    readonly status: number | null
    readonly requestId: string | null
  }
}

/** Of chat completions, of responses, and of models. */
type Task = 'create' | 'stream' | 'accumulate' | 'respond' | 'follow' | 'listen' | 'models' | 'retrieve'

/** One openai-python, in a process of its own. */
export class OpenAIPython {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>

  constructor(python: string, { baseURL, apiKey }: { readonly baseURL: string; readonly apiKey: string }) {
    this.#child = spawn(python, [join(import.meta.dirname, 'openai_client.py')], {
      env: { ...process.env, OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey, NO_PROXY: '127.0.0.1' },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#lines = createInterface(this.#child.stdout!)[Symbol.asyncIterator]()
  }

  /** One task at a time. */
  async do(task: Task, argument: unknown = null): Promise<PythonAnswer> {
    this.#child.stdin!.write(`${JSON.stringify([task, argument])}\n`)
    const { value, done } = await this.#lines.next()
    if (done) throw new Error('openai-python ended early; what it wrote to stderr says why')
    return JSON.parse(value)
  }

  async close(): Promise<void> {
    this.#child.stdin!.end()
    if (this.#child.exitCode === null) await once(this.#child, 'exit')
  }
}

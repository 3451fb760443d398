import { join } from 'node:path'
import type { OpenAI } from 'openai'
import { PythonProcess } from '../../support/python-process.ts'

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
type Task = 'create' | 'stream' | 'accumulate' | 'respond' | 'listen' | 'models' | 'retrieve'

/** One openai-python, in a process of its own. */
export class OpenAIPython {
  readonly #process: PythonProcess

  constructor(python: string, { baseURL, apiKey }: { readonly baseURL: string; readonly apiKey: string }) {
    const script = join(import.meta.dirname, 'openai_client.py')
    this.#process = new PythonProcess(python, script, { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey })
  }

  /** One task at a time. */
  do(task: Task, argument: unknown = null): Promise<PythonAnswer> {
    return this.#process.do([task, argument]) as Promise<PythonAnswer>
  }

  close(): Promise<void> {
    return this.#process.close()
  }
}

import { join } from 'node:path'
import { PythonProcess } from '../../support/python-process.ts'
import { find } from '../../support/requirements.ts'
import type { Client, Gateway, Tasks } from './client.ts'
import type { Protocol } from './vendors.ts'

const SCRIPT = join(import.meta.dirname, 'python_clients.py')

/** The SDKs of Python, in one process for all of them. */
export function startPython({ url, key }: Pick<Gateway, 'url' | 'key'>): PythonProcess {
  return new PythonProcess(find('python')!, SCRIPT, {
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: key,
  })
}

/** A task of `python_clients.py`. */
const task =
  (client: 'openai' | 'anthropic', name: keyof Tasks) =>
  async ({ python }: Gateway, model: string) => {
    const { done, error } = (await python!.do([client, name, model])) as { readonly done?: unknown; readonly error?: string }
    if (error !== undefined) throw new Error(error)
    return done
  }

const client = (name: 'openai' | 'anthropic', protocol: Protocol, tasks: readonly (keyof Tasks)[]): Client => ({
  name: `${name} (Python)`,
  protocol,
  needs: 'python',
  tasks: Object.fromEntries(tasks.map((one) => [one, task(name, one)])) as unknown as Client['tasks'],
})

const BOTH = ['ask', 'stream', 'loop', 'streamedLoop', 'parse', 'streamedParse', 'think', 'streamedThink'] as const

/** openai-python. */
export const openaiPython = client('openai', 'responses', BOTH)

/** anthropic-python. */
export const anthropicPython = client('anthropic', 'messages', [...BOTH, 'count'])

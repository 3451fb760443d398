import { join } from 'node:path'
import { PythonProcess } from '../../support/python-process.ts'
import { find } from '../../support/requirements.ts'
import type { Client, EveryTask, Gateway, Version } from './client.ts'
import type { Protocol } from './vendors.ts'

const SCRIPT = join(import.meta.dirname, 'python_clients.py')

/** The majors of the SDKs that a Python has, and the version of Anthropic's API that its SDK speaks. */
const PYTHONS = {
  python: { openai: 3, anthropic: 2, version: '2026-10-21' },
  earlierPython: { openai: 2, anthropic: 1, version: '2023-06-01' },
} as const satisfies Record<string, { readonly openai: number; readonly anthropic: number; readonly version: Version }>

/** A Python that has SDKs, as what some tests need. */
export type PythonName = keyof typeof PYTHONS

/** The Pythons that are here, each in one process for all its clients. */
export function startPythons({ url, key }: Pick<Gateway, 'url' | 'key'>): Map<PythonName, PythonProcess> {
  const env = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key }
  const pythons = new Map<PythonName, PythonProcess>()
  for (const name of Object.keys(PYTHONS) as PythonName[]) {
    const program = find(name)
    if (program !== undefined) pythons.set(name, new PythonProcess(program, SCRIPT, env))
  }
  return pythons
}

/** Does a task of `python_clients.py`. */
async function run({ pythons }: Gateway, python: PythonName, task: readonly string[]): Promise<unknown> {
  const { done, error } = (await pythons.get(python)!.do(task)) as { readonly done?: unknown; readonly error?: string }
  if (error !== undefined) throw new Error(error)
  return done
}

/** The version of its SDK. */
export const versionOf = async (gateway: Gateway, { python, protocol }: Client): Promise<string> =>
  String(await run(gateway, python!, ['versions', protocol === 'messages' ? 'anthropic' : 'openai', '']))

function client(python: PythonName, protocol: Protocol, tasks: readonly (keyof EveryTask)[]): Client {
  const { openai, anthropic, version } = PYTHONS[python]
  const doing = (name: keyof EveryTask) => (gateway: Gateway, model: string) => run(gateway, python, [protocol, name, model])
  return {
    name: protocol === 'messages' ? `anthropic-python ${anthropic}` : `openai-python ${openai}`,
    protocol,
    ...(protocol === 'messages' && { version }),
    python,
    ...(python !== 'python' && { isEarlier: true }),
    tasks: Object.fromEntries(tasks.map((one) => [one, doing(one)])) as unknown as Client['tasks'],
  }
}

const ALL = ['ask', 'stream', 'loop', 'streamedLoop', 'parse', 'streamedParse'] as const
const THINKS = ['think', 'streamedThink'] as const

/** openai-python and anthropic-python. */
export const PYTHON_SDKS: readonly Client[] = (Object.keys(PYTHONS) as PythonName[]).flatMap((python) => [
  client(python, 'responses', [...ALL, ...THINKS]),
  client(python, 'chat', ALL),
  client(python, 'messages', [...ALL, ...THINKS, 'count']),
])

import type { CommandIo } from '../../../core/cli/io.ts'

/** What a command did. */
export interface Run {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command in this process, with these variables. */
export async function run(command: (io: CommandIo) => Promise<number>, env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const written = { stdout: '', stderr: '' }
  const collect = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      written[name] += text
    },
  })
  const code = await command({ env, stdout: collect('stdout'), stderr: collect('stderr') })
  return { code, ...written }
}

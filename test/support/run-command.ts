import type { CommandIo } from '../../core/cli/output.ts'

/** The exit code and output of a command. */
export interface CommandRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command in this process, with these variables, and collects its output. */
export async function runCommand(command: (io: CommandIo) => Promise<number>, env: NodeJS.ProcessEnv = {}): Promise<CommandRun> {
  const written = { stdout: '', stderr: '' }
  const collect = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      written[name] += text
    },
  })
  const code = await command({ env, stdout: collect('stdout'), stderr: collect('stderr') })
  return { code, ...written }
}

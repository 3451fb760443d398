import type { CommandIo } from '../../core/cli/io.ts'

/** The result of a command that ran in this process. */
export interface CommandRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command, and collects its output. */
export async function runCommand(command: (io: CommandIo) => Promise<number>): Promise<CommandRun> {
  const written = { stdout: '', stderr: '' }
  const collect = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      written[name] += text
    },
  })
  const code = await command({ env: {}, stdout: collect('stdout'), stderr: collect('stderr') })
  return { code, ...written }
}

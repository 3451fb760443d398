import type { Diagnostic } from '../text/diagnostic.ts'
import { askAsAdmin } from './ask-gateway.ts'
import { printFindings } from './findings.ts'
import type { CommandIo } from './io.ts'

/** What `POST /-/reload` gives with 200 and with 422. */
type Reloaded = { readonly difference: readonly string[] } | { readonly diagnostics: readonly Diagnostic[] }

/**
 * `umg reload`: has a running gateway read its routing table again, and says what is otherwise than before, or what is wrong with the
 * table. Resolves to the exit code. Throws AskError.
 */
export async function reload({ url }: { readonly url: string }, io: CommandIo): Promise<0 | 1> {
  const { body } = await askAsAdmin(url, { method: 'POST', path: '/-/reload' }, io.env)
  const reloaded = body as Reloaded
  if ('difference' in reloaded) {
    writeDifference(reloaded.difference, io)
    return 0
  }
  const { diagnostics } = reloaded
  const file = diagnostics[0]?.file ?? 'the routing table'
  printFindings({ file, errors: diagnostics, notices: [], summary: '' }, 'pretty', io)
  io.stderr.write('The gateway goes on with the table it had.\n')
  return 1
}

/** Prints the lines of a difference. */
export function writeDifference(difference: readonly string[], { stdout }: Pick<CommandIo, 'stdout'>): void {
  stdout.write(difference.length === 0 ? 'nothing has changed\n' : `${difference.join('\n')}\n`)
}

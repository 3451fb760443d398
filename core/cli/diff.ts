import { diffTexts } from '../config/diff.ts'
import { ConfigError } from '../text/diagnostic.ts'
import { askAsAdmin } from './ask-gateway.ts'
import type { CommandIo } from './io.ts'
import { writeDifference } from './reload.ts'
import { tryOut } from './try-out.ts'
import { printConfigError } from './validate.ts'

/**
 * `umg diff`: what would change if a running gateway took this file for its table. Secrets are compared by the references that lead to
 * them. Resolves to the exit code, as diff(1) has it: 0 where nothing would change, 1 where something would, 2 where the file is not
 * valid. Throws AskError.
 */
export async function diff(file: string, { url }: { readonly url: string }, io: CommandIo): Promise<0 | 1 | 2> {
  let text: string
  try {
    text = await tryOut(file, io.env, ({ config }) => config.text)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    printConfigError(error, file, io)
    return 2
  }
  const { body } = await askAsAdmin(url, { method: 'GET', path: '/api/v1/config' }, io.env)
  const running = body as { readonly text: string }
  const changes = diffTexts(running.text, text)
  writeDifference(changes, io)
  return changes.length === 0 ? 0 : 1
}

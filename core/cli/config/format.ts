import { readFile, writeFile } from 'node:fs/promises'
import { checkSyntax } from '../../config/checks/syntax.ts'
import { ConfigFile } from '../../config/file/config-file.ts'
import { formatYaml, UnformattableText } from '../../config/file/format.ts'
import { toDiagnostics } from '../../config/report.ts'
import { ConfigError } from '../../text/diagnostic.ts'
import type { CommandIo } from '../output.ts'
import { printConfigError } from '../validation-report.ts'

/** The options of `umg fmt`. */
export interface FormatOptions {
  /** Whether the file stays as it is. */
  readonly check?: boolean
}

/**
 * `umg fmt`: formats routes.yaml, also one that `umg validate` refuses. Resolves to the exit code: 0 if the file is formatted, 1 if
 * `--check` finds that it is not, 2 if it cannot be read or formatted.
 */
export async function format(file: string, { check = false }: FormatOptions, io: CommandIo): Promise<0 | 1 | 2> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => error)
  if (typeof text !== 'string') {
    io.stderr.write(`${file} cannot be read (${text.code})\n`)
    return 2
  }
  const source = new ConfigFile(file, text)
  const { problems } = checkSyntax(source)
  if (problems.length > 0) {
    printConfigError(new ConfigError(toDiagnostics(source, problems)), file, io)
    return 2
  }
  try {
    const formatted = formatYaml(text)
    if (formatted === text) io.stdout.write(`${file} is formatted\n`)
    else if (check) io.stdout.write(`${file} is not formatted: umg fmt ${file} does it\n`)
    else {
      await writeFile(file, formatted)
      io.stdout.write(`${file} was formatted\n`)
    }
    return formatted !== text && check ? 1 : 0
  } catch (error) {
    if (!(error instanceof UnformattableText)) throw error
    io.stderr.write(`${file} stays as it is: ${error.message}\n`)
    return 2
  }
}

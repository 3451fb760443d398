import { ConfigError, UnreadableTable } from '../config/diagnostic.ts'
import { inFrames } from '../config/text/report.ts'
import type { BuiltTable } from '../load-table.ts'
import { count, type Findings, type Format, printFindings } from './findings.ts'
import type { CommandIo } from './io.ts'
import { askUpstreams } from './online.ts'
import { tryOut } from './try-out.ts'

/** What `umg validate` takes. */
export interface ValidateOptions {
  readonly format: Format
  /** Whether the upstreams are asked too. */
  readonly online?: boolean
}

/**
 * `umg validate`: says that a routes.yaml is right, with what else its author should know, or all that is wrong with it. Returns
 * the exit code: 0 where it is right, 1 where it is not, 2 where there is nothing to check.
 */
export async function validate(file: string, { format, online }: ValidateOptions, io: CommandIo): Promise<0 | 1 | 2> {
  try {
    const found = await tryOut(file, io.env, (table) =>
      online ? ask(table) : { errors: [], notices: table.notices, summary: summary(table) },
    )
    return printFindings({ file, ...found }, format, io)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const code = printFindings(toFindings(error, file), format, io)
    return error instanceof UnreadableTable ? 2 : code
  }
}

/** Prints all that is wrong with a routes.yaml, for people. Returns the exit code, 1. */
export function printConfigError(error: ConfigError, file: string, io: CommandIo): number {
  return printFindings(toFindings(error, file), 'pretty', io)
}

const toFindings = ({ diagnostics }: ConfigError, file: string): Findings => ({
  file,
  errors: diagnostics,
  notices: [],
  summary: '',
})

async function ask(table: BuiltTable): Promise<Omit<Findings, 'file'>> {
  const { asked, errors, notices } = await askUpstreams(table)
  return {
    errors: inFrames(errors, table.text),
    notices: [...table.notices, ...notices],
    summary: `${summary(table)}; ${count(asked, 'upstream')} asked`,
  }
}

function summary({ config: { namespaces, curated, chain } }: BuiltTable): string {
  const models = [...curated.values()].reduce((sum, { routes }) => sum + routes.size, 0)
  return [
    count(namespaces.size + curated.size, 'namespace'),
    ...(models === 0 ? [] : [count(models, 'curated model')]),
    count(chain.length, 'link'),
  ].join(', ')
}

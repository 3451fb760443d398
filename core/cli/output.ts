import { once } from 'node:events'
import { styleText } from 'node:util'

/** A stream that a command writes to, such as `process.stdout`. */
export interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** The environment of a command and its streams: stdout for results, stderr for messages. */
export interface CommandIo {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: Output
  readonly stderr: Output
}

/** The option `--json`, which every command that prints a result has. */
export interface JsonOption {
  /** Whether the result is printed as JSON. */
  readonly json?: boolean
}

/** How a list is printed as a table. */
export interface TableFormat<Row> {
  /** The text of a row's cell by heading, in the order of the columns. */
  readonly columns: Readonly<Record<string, (row: Row) => string>>
  /** The message on stderr if there are no rows. */
  readonly empty: string
}

/** Prints rows as a table, the headings first. */
export function writeTable<Row>(rows: readonly Row[], { columns, empty }: TableFormat<Row>, io: CommandIo): void {
  if (rows.length === 0) io.stderr.write(`${empty}\n`)
  else writeCells([Object.keys(columns), ...rows.map((row) => Object.values(columns).map((cell) => cell(row)))], io)
}

/** Prints lines of cells in aligned columns. Control characters are replaced: a cell may contain third-party text. */
export function writeCells(lines: readonly (readonly string[])[], { stdout }: CommandIo): void {
  const plain = lines.map((cells) => cells.map((cell) => cell.replace(CONTROL_CHARACTERS, ' ')))
  const widths = plain[0]!.map((_, column) => Math.max(...plain.map((cells) => cells[column]!.length)))
  for (const cells of plain) {
    const line = cells.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')
    stdout.write(`${line.trimEnd()}\n`)
  }
}

const CONTROL_CHARACTERS = /\p{Cc}/gu

/** Prints a value as one line of JSON. */
export function writeJson(value: unknown, { stdout }: CommandIo): void {
  stdout.write(`${JSON.stringify(value)}\n`)
}

/** Prints chunks of text as fast as stdout is read. */
export async function writeChunks(chunks: Iterable<string> | AsyncIterable<string>, { stdout }: CommandIo): Promise<void> {
  for await (const chunk of chunks) if (stdout.write(chunk) === false) await once(stdout as NodeJS.WriteStream, 'drain')
}

/** A time in UTC, to the second: `2027-01-31T18:00:00Z`. */
export function formatTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`
}

/** Makes text bold on a terminal with colours (https://no-color.org). */
export function bold({ isTTY }: Output, { NO_COLOR }: NodeJS.ProcessEnv): (text: string) => string {
  return isTTY === true && !NO_COLOR ? (text) => styleText('bold', text, { validateStream: false }) : (text) => text
}

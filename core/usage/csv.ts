/** What a line of CSV is made of. Nothing is an empty cell. */
export type Cell = string | number | boolean | null | undefined

/** What spreadsheets take for the beginning of a formula (https://owasp.org/www-community/attacks/CSV_Injection). */
const FORMULA = /^[=+\-@\t\r\n]/

/** A text with one of these stands in quotes. */
const QUOTED = ['"', ',', '\r', '\n']

/** A line of CSV (RFC 4180). A text that a spreadsheet would run is preceded by an apostrophe, which makes it a text there. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: Cell): string {
  if (typeof cell !== 'string') return String(cell ?? '')
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return QUOTED.some((sign) => text.includes(sign)) ? `"${text.replaceAll('"', '""')}"` : text
}

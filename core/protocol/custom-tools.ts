/** Custom tools, whose input is plain text, as functions with one argument: for upstreams that know functions only. */
import { parseRecord, textOf } from '../sdk/json.ts'

/** The parameters of such a function. */
export const CUSTOM_PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string', description: 'All of the input, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
}

/** The arguments of the function, of the input of a custom tool. */
export const argumentsOfInput = (input: unknown): string => JSON.stringify({ input: textOf(input) })

/** The input of a custom tool, from the arguments of its function. Text that is no such argument is taken as it is. */
export function inputOfArguments(text: string): string {
  const { input } = parseRecord(text) ?? {}
  return typeof input === 'string' ? input : text
}

/** What the function does: that of the tool, and the grammar of its input, if it has one, in words, which no upstream enforces. */
export function customDescription(description: unknown, grammar: Readonly<Record<string, unknown>> | undefined): string {
  const rule = grammar && `The input must match this ${textOf(grammar.syntax)} grammar:\n${textOf(grammar.definition)}`
  return [textOf(description), rule].filter(Boolean).join('\n\n')
}

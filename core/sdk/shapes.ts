/**
 * Readers of members that an upstream wrote: null counts as absent, and a value of another type is an Error, so that another target answers
 * instead of a reply in which something is missing (docs/decisions/shapes-of-replies.md).
 */
import { randomUUID } from 'node:crypto'
import { isRecord } from './json.ts'

/** A text; '' if it is absent. `what`: the member, for the log. Throws an Error for anything else. */
export function expectText(value: unknown, what: string): string {
  if (value == null) return ''
  if (typeof value !== 'string') throw unknownShape(what)
  return value
}

/** An object; undefined if it is absent. Throws an Error for anything else. */
export function expectObject(value: unknown, what: string): Readonly<Record<string, unknown>> | undefined {
  if (value == null) return undefined
  if (!isRecord(value)) throw unknownShape(what)
  return value
}

/** A list of objects, without its nulls; empty if it is absent. Throws an Error for anything else. */
export function expectObjects(value: unknown, what: string): readonly Readonly<Record<string, unknown>>[] {
  if (value == null) return []
  if (!Array.isArray(value)) throw unknownShape(what)
  return value.filter((one) => one !== null).map((one) => expectObject(one, `an element of ${what}`)!)
}

/** The name of a tool. Throws an Error if there is none: nobody could run it. */
export function expectName(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw unknownShape('the name of a tool')
  return value
}

/** The id of a tool call, which some servers write as a number; a new one if it is absent. Throws an Error for anything else. */
export function expectCallId(value: unknown): string {
  if (typeof value === 'number') return String(value)
  return expectText(value, 'the id of a tool call') || `call_${randomUUID()}`
}

/** The arguments of a tool call, an object, as JSON; `{}` if they are absent. Throws an Error for anything else. */
export function expectArguments(value: unknown): string {
  return JSON.stringify(expectObject(value, 'the arguments of a tool call') ?? {})
}

/** The Error for a shape that has no single meaning. */
export const unknownShape = (what: string): Error => new Error(`unknown shape: ${what}`)

import { useState } from 'react'
import { ApiError } from '../api/http.ts'

/** The fields of a form, with their errors. */
export interface Fields<Values> {
  readonly values: Values
  readonly set: <Name extends keyof Values>(name: Name, value: Values[Name]) => void
  /** The props of a text field of Mantine. */
  readonly text: (name: TextNames<Values>) => {
    readonly name: string
    readonly value: string
    readonly error: string | undefined
    readonly onChange: (event: { readonly currentTarget: { readonly value: string } }) => void
  }
}

type TextNames<Values> = { [Name in keyof Values]: Values[Name] extends string ? Name : never }[keyof Values] & string

/** The state of a form. An error that names a field is shown at the field. */
export function useFields<Values extends object>(initial: Values, refusal?: Error | null): Fields<Values> {
  const [values, setValues] = useState(initial)
  const set = <Name extends keyof Values>(name: Name, value: Values[Name]) =>
    setValues((before) => ({ ...before, [name]: value }))
  return {
    values,
    set,
    text: (name) => ({
      name,
      value: values[name] as string,
      error: atField(refusal, name),
      onChange: ({ currentTarget }) => set(name, currentTarget.value as Values[typeof name]),
    }),
  }
}

/** The message of an error about a field: `models` and `models[0]` are the field `models`. */
export function atField(refusal: Error | null | undefined, name: string): string | undefined {
  const param = refusal instanceof ApiError ? refusal.param : null
  return param !== null && param.split(/[.[]/, 1)[0] === name ? refusal?.message : undefined
}

/** An error that none of the fields shows. */
export function besidesFields(refusal: Error | null, names: readonly string[]): Error | null {
  return names.some((name) => atField(refusal, name) !== undefined) ? null : refusal
}

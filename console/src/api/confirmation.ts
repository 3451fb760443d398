import { useSyncExternalStore } from 'react'

/** The change that waits until its user has entered the password again. */
let asked: PromiseWithResolvers<boolean> | undefined
const listeners = new Set<() => void>()

function set(next: typeof asked): void {
  asked = next
  for (const listener of listeners) listener()
}

/** Asks the user for the password. Resolves to whether it was entered; changes that wait at the same time share the answer. */
export function askConfirmation(): Promise<boolean> {
  if (asked === undefined) set(Promise.withResolvers())
  return asked!.promise
}

/** Answers: the user has entered the password, or does not want to. */
export function answerConfirmation(isConfirmed: boolean): void {
  asked?.resolve(isConfirmed)
  set(undefined)
}

/** Whether a change waits for the password. */
export const useConfirmationAsked = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => asked !== undefined,
  )

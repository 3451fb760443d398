import { move, transferableSymbol, valueSymbol } from 'piscina'

/** The result of a task whose buffers Piscina moves to the other thread instead of copying them. */
export const moved = (result: unknown, buffers: readonly ArrayBuffer[]): unknown =>
  move({ [valueSymbol]: result, [transferableSymbol]: buffers } as never)

import { exactly } from '../../ui/numbers.ts'

/** "1 key", "1,508 keys" */
export const keysInWords = (count: number): string => (count === 1 ? '1 key' : `${exactly(count)} keys`)

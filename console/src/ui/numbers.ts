const whole = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** "1,234,567" */
export const exactly = (value: number): string => whole.format(value)

/** "1.2M"; small numbers in full. */
export const roughly = (value: number): string => (Math.abs(value) < 10_000 ? whole.format(value) : compact.format(value))

/** "0.4 %", "33 %"; of zero: "0 %". */
export function percent(part: number, all: number): string {
  const value = all === 0 ? 0 : (100 * part) / all
  return `${value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} %`
}

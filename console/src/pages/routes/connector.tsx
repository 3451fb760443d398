import styles from './connector.module.css'
import type { LaneEnd } from './lanes.ts'

/** In pixels. */
export const END_HEIGHT = 52
const WIDTH = 72
const THINNEST = 1.5
const WIDEST = 6

/** Lines from a name to its targets: their width is the share; fallbacks are dashed. */
export function Connector({ ends }: { readonly ends: readonly LaneEnd[] }) {
  const height = ends.length * END_HEIGHT
  return (
    <svg className={styles.lines} width={WIDTH} height={height} viewBox={`0 0 ${WIDTH} ${height}`} aria-hidden="true">
      {ends.map(({ name, kind, share = 0 }, index) => {
        const y = (index + 0.5) * END_HEIGHT
        return (
          <path
            key={`${kind} ${name}`}
            className={styles[kind]}
            strokeWidth={THINNEST + (WIDEST - THINNEST) * share}
            d={`M0 ${height / 2} C ${WIDTH / 2} ${height / 2}, ${WIDTH / 2} ${y}, ${WIDTH} ${y}`}
          />
        )
      })}
    </svg>
  )
}

import { useEffect, useRef } from 'react'
import { YamlBlock } from './yaml-block.tsx'
import styles from './yaml-view.module.css'

/** A YAML file. Lines count from 1. */
export interface YamlViewProps {
  readonly text: string
  /** The line to scroll to. */
  readonly marked: number | undefined
}

/** Lines of a block: only the blocks near the window are coloured, so that a file of megabytes is shown at once. */
const BLOCK = 200

/** The file, read-only, with line numbers. */
export function YamlView({ text, marked }: YamlViewProps) {
  const view = useRef<HTMLElement>(null)
  useEffect(() => view.current?.querySelector('[data-marked]')?.scrollIntoView({ block: 'center' }), [])
  const lines = text.replace(/\n$/, '').split('\n')
  return (
    <section
      ref={view}
      className={styles.view}
      aria-label="routes.yaml"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
    >
      <div className={styles.lines}>
        {Array.from({ length: Math.ceil(lines.length / BLOCK) }, (_, index) => (
          <YamlBlock key={index} lines={lines.slice(index * BLOCK, (index + 1) * BLOCK)} before={index * BLOCK} marked={marked} />
        ))}
      </div>
    </section>
  )
}

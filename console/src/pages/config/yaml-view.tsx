import { useEffect, useRef } from 'react'
import { piecesOf } from './yaml-pieces.ts'
import styles from './yaml-view.module.css'

/** A YAML file. Lines count from 1. */
export interface YamlViewProps {
  readonly text: string
  /** The line to scroll to. */
  readonly marked: number | undefined
}

/** The file, read-only, with line numbers. */
export function YamlView({ text, marked }: YamlViewProps) {
  const target = useRef<HTMLLIElement>(null)
  useEffect(() => target.current?.scrollIntoView({ block: 'center' }), [])
  const lines = text.replace(/\n$/, '').split('\n')
  return (
    <section
      className={styles.view}
      aria-label="routes.yaml"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
    >
      <ol className={styles.lines}>
        {lines.map((line, index) => {
          const number = index + 1
          return (
            <li
              key={number}
              ref={number === marked ? target : null}
              className={`${styles.line} ${number === marked ? styles.marked : ''}`}
            >
              <span className={styles.number} aria-hidden="true">
                {number}
              </span>
              <code className={styles.code}>
                <Line text={line} />
              </code>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

function Line({ text }: { readonly text: string }) {
  if (text === '') return '\n'
  return piecesOf(text).map(({ kind, text: piece }, index) => (
    <span key={index} className={styles[kind]}>
      {piece}
    </span>
  ))
}

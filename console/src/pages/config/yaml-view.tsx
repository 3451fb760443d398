import { useEffect, useRef } from 'react'
import type { Diagnostic } from '../../api/operations.ts'
import { piecesOf } from './yaml-pieces.ts'
import styles from './yaml-view.module.css'

/** A YAML file and its diagnostics. Lines count from 1. */
export interface YamlViewProps {
  readonly text: string
  readonly diagnostics: readonly Diagnostic[]
  /** The line to scroll to. */
  readonly marked: number | undefined
}

/** The file, read-only, with line numbers and each diagnostic below its line. */
export function YamlView({ text, diagnostics, marked }: YamlViewProps) {
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
          const wrong = diagnostics.filter((diagnostic) => diagnostic.line === number)
          return (
            <li key={number} ref={number === marked ? target : null} className={classOf(number === marked, wrong.length > 0)}>
              <span className={styles.number} aria-hidden="true">
                {number}
              </span>
              <code className={styles.code}>
                <Line text={line} />
              </code>
              {wrong.map(({ column, message }) => (
                <span key={`${column} ${message}`} className={styles.diagnostic}>
                  {message}
                </span>
              ))}
            </li>
          )
        })}
      </ol>
    </section>
  )
}

function classOf(marked: boolean, wrong: boolean): string {
  return [styles.line, marked && styles.marked, wrong && styles.wrong].filter(Boolean).join(' ')
}

function Line({ text }: { readonly text: string }) {
  if (text === '') return '\n'
  return piecesOf(text).map(({ kind, text: piece }, index) => (
    <span key={index} className={styles[kind]}>
      {piece}
    </span>
  ))
}

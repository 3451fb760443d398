import { useIntersection } from '@mantine/hooks'
import { piecesOf } from './yaml-pieces.ts'
import styles from './yaml-view.module.css'

/** Some lines of a file. */
export interface YamlBlockProps {
  readonly lines: readonly string[]
  /** How many lines are before them. */
  readonly before: number
  readonly marked: number | undefined
}

/** How far from the window a block is coloured. */
const NEAR = { rootMargin: '1000px' }

/** Lines of YAML: coloured and numbered near the window; elsewhere their plain text, which has the same height and can be searched. */
export function YamlBlock({ lines, before, marked }: YamlBlockProps) {
  const { ref, entry } = useIntersection<HTMLDivElement>(NEAR)
  const hasMark = marked !== undefined && marked > before && marked <= before + lines.length
  return (
    <div ref={ref}>
      {entry?.isIntersecting || hasMark ? (
        <ol className={styles.block}>
          {lines.map((line, index) => (
            <NumberedLine key={index} text={line} number={before + index + 1} marked={marked} />
          ))}
        </ol>
      ) : (
        <pre className={styles.distant}>{lines.join('\n')}</pre>
      )}
    </div>
  )
}

interface NumberedLineProps {
  readonly text: string
  readonly number: number
  readonly marked: number | undefined
}

function NumberedLine({ text, number, marked }: NumberedLineProps) {
  const isMarked = number === marked
  return (
    <li className={`${styles.line} ${isMarked ? styles.marked : ''}`} data-marked={isMarked || undefined}>
      <span className={styles.number} aria-hidden="true">
        {number}
      </span>
      <code className={styles.code}>
        {text === ''
          ? '\n'
          : piecesOf(text).map(({ kind, text: piece }, index) => (
              <span key={index} className={styles[kind]}>
                {piece}
              </span>
            ))}
      </code>
    </li>
  )
}

import styles from './code-block.module.css'
import { CopyButton } from './copy-button.tsx'

/** A piece of code. */
export interface CodeBlockProps {
  readonly text: string
  /** Its accessible name: "curl command". */
  readonly what: string
  /** In pixels; a longer text scrolls. */
  readonly maxHeight?: number
  /** Wraps long lines. */
  readonly wrap?: boolean
}

/** Code with a button to copy it. It can be scrolled by keyboard. */
export function CodeBlock({ text, what, maxHeight, wrap = false }: CodeBlockProps) {
  return (
    <div className={styles.block}>
      <section
        className={styles.scroll}
        style={{ maxHeight }}
        aria-label={what}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        <pre className={`${styles.text} ${wrap ? styles.wrap : ''}`}>{text}</pre>
      </section>
      <span className={styles.copy}>
        <CopyButton text={text} what={what} />
      </span>
    </div>
  )
}

import { TagsInput } from '@mantine/core'
import { useState } from 'react'

/** The tags of a key: names and values. */
export interface TagsFieldProps {
  readonly value: Readonly<Record<string, string>>
  readonly onChange: (tags: Record<string, string>) => void
  readonly error?: string | undefined
}

const PAIR = /^([^=\s]+)=(.+)$/

/** A field for tags, each written as `name=value`. */
export function TagsField({ value, onChange, error }: TagsFieldProps) {
  const [wrong, setWrong] = useState<string>()
  function change(pairs: readonly string[]): void {
    const bad = pairs.find((pair) => !PAIR.test(pair))
    setWrong(bad === undefined ? undefined : `"${bad}" is not a tag: write name=value, such as team=search.`)
    onChange(Object.fromEntries(pairs.flatMap((pair) => (PAIR.test(pair) ? [pair.split(/=(.*)/s, 2) as [string, string]] : []))))
  }
  return (
    <TagsInput
      label="Tags"
      description="Labels to group usage by"
      placeholder={Object.keys(value).length === 0 ? 'team=search' : undefined}
      value={Object.entries(value).map(([name, text]) => `${name}=${text}`)}
      onChange={change}
      error={wrong ?? error}
    />
  )
}

import { Text, type TextProps } from '@mantine/core'

/** A name that people chose, and how much of it is shown. */
export interface NameProps extends TextProps {
  readonly children: string
  /** In characters. */
  readonly most?: number
}

/**
 * A name that people chose, such as a key's or a model's: cut where its column ends, whole in its tooltip. Without a limit one name without
 * a space would push all other columns off the screen.
 */
export function Name({ children: name, most = 22, ...text }: NameProps) {
  return (
    <Text size="sm" truncate title={name} maw={`${most}ch`} {...text}>
      {name}
    </Text>
  )
}

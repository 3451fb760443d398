import { PasswordInput, type PasswordInputProps } from '@mantine/core'

/** Characters that the gateway asks for at least. */
export const SHORTEST_PASSWORD = 12

/** A password to choose. */
export function NewPassword(props: PasswordInputProps) {
  return (
    <PasswordInput
      label="Password"
      description={`At least ${SHORTEST_PASSWORD} characters; a few words are easiest to remember.`}
      autoComplete="new-password"
      minLength={SHORTEST_PASSWORD}
      required
      {...props}
    />
  )
}

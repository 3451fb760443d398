import { PasswordInput, type PasswordInputProps } from '@mantine/core'

/** The gateway's minimum, in characters. */
export const MIN_PASSWORD_LENGTH = 12

/** A field for a new password. */
export function NewPassword(props: PasswordInputProps) {
  return (
    <PasswordInput
      label="Password"
      description={`At least ${MIN_PASSWORD_LENGTH} characters; a few unrelated words are a good choice.`}
      autoComplete="new-password"
      minLength={MIN_PASSWORD_LENGTH}
      required
      {...props}
    />
  )
}

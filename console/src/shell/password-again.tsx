import { Button, PasswordInput, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { type Session, useSignInMethods } from '../api/session.ts'
import { Failure } from '../ui/failure.tsx'
import { besidesFields, useFields } from '../ui/use-fields.ts'

/** What the password is asked for. */
export interface PasswordAgainProps {
  readonly session: Session
  /** Says why. */
  readonly children: ReactNode
  readonly submit: string
  /** Added to the path of the OpenID provider. */
  readonly query?: string
  readonly error: Error | null
  readonly isPending: boolean
  onSubmit(password: string): void
}

/**
 * A form for a user who is known, in a dialog above the page: the password, if the user has one, or the OpenID provider in a new tab, so
 * that the page stays as it is.
 */
export function PasswordAgain({ session, children, submit, query = '', error, isPending, onSubmit }: PasswordAgainProps) {
  const { has_password } = session.user
  const email = session.user.email ?? ''
  const { data: methods } = useSignInMethods()
  const oidc = methods?.oidc ?? null
  const { values, text } = useFields({ password: '' }, error)
  const refusal = besidesFields(error, ['password'])
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(values.password)
      }}
    >
      <Stack>
        {children}
        {refusal !== null && <Failure error={refusal} />}
        {oidc !== null && (
          <Button
            component="a"
            href={oidc.path + query}
            target="_blank"
            variant={has_password ? 'default' : 'filled'}
            data-autofocus={!has_password || undefined}
            fullWidth
          >
            Continue with {oidc.name}, in a new tab
          </Button>
        )}
        {!has_password && methods !== undefined && (
          <Text size="sm" c="dimmed">
            {oidc === null
              ? 'You have no password, and this gateway has no other way to sign in any more: ask an admin for an invitation to your address, by which you choose a password.'
              : 'Then come back to this tab. What you have typed is still here.'}
          </Text>
        )}
        {has_password && (
          <>
            <input type="hidden" autoComplete="username" value={email} readOnly />
            <PasswordInput label="Password" autoComplete="current-password" required data-autofocus {...text('password')} />
            <Button type="submit" fullWidth loading={isPending}>
              {submit}
            </Button>
          </>
        )}
      </Stack>
    </form>
  )
}

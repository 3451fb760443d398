import { Button, PasswordInput, Stack } from '@mantine/core'
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

/** A form for a user who is known, in a dialog above the page: the password, or the OpenID provider in a new tab. */
export function PasswordAgain({ session, children, submit, query = '', error, isPending, onSubmit }: PasswordAgainProps) {
  const email = session.user.email ?? ''
  const methods = useSignInMethods()
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
        {methods.data?.oidc != null && (
          <Button component="a" href={methods.data.oidc.path + query} target="_blank" variant="default" fullWidth>
            Continue with {methods.data.oidc.name}, in a new tab
          </Button>
        )}
        {methods.data?.password !== false && (
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

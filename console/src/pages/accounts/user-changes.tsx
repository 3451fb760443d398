import { Checkbox, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type User, useEditUser, useEndSessions } from '../../api/accounts.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { notify } from '../../ui/notices.ts'

/** What an admin can do to another user. */
export type UserChange = 'make-admin' | 'make-member' | 'sign-out' | 'disable' | 'enable'

/** The words of a change. */
interface ChangeWords {
  readonly item: string
  readonly danger: boolean
  readonly title: (name: string) => string
  readonly action: string
  readonly effect: ReactNode
  /** What has happened. */
  readonly done: (name: string) => string
}

/** The changes, in the words of their menu items, questions and messages. */
export const USER_CHANGES: Readonly<Record<UserChange, ChangeWords>> = {
  'make-admin': {
    item: 'Make an admin…',
    danger: true,
    title: (name) => `Make ${name} an admin`,
    action: 'Make an admin',
    effect:
      'Admins see and change everything on this gateway: the keys, calls and limits of all accounts, users, and who else is an admin. The user is signed out, and is an admin from the next sign-in on.',
    done: (name) => `${name} is an admin now.`,
  },
  'make-member': {
    item: 'Make a member…',
    danger: true,
    title: (name) => `Make ${name} a member`,
    action: 'Make a member',
    effect:
      'Members see and manage the keys and calls of their own account only. The user is signed out. Keys that the user created stay valid, admin keys too.',
    done: (name) => `${name} is a member now.`,
  },
  'sign-out': {
    item: 'Sign out everywhere…',
    danger: false,
    title: (name) => `Sign ${name} out everywhere`,
    action: 'Sign out',
    effect:
      'All sessions of this user end, and what is open in them and not saved is lost. The user can sign in again. API keys keep working.',
    done: (name) => `${name} is signed out everywhere.`,
  },
  disable: {
    item: 'Disable…',
    danger: true,
    title: (name) => `Disable ${name}`,
    action: 'Disable',
    effect: 'The user is signed out at once and cannot sign in. Keys that the user created keep working until you revoke them.',
    done: (name) => `${name} is disabled.`,
  },
  enable: {
    item: 'Enable…',
    danger: false,
    title: (name) => `Enable ${name}`,
    action: 'Enable',
    effect: 'The user can sign in again, with the same role and password as before.',
    done: (name) => `${name} is enabled.`,
  },
}

/** The change, the user, and the handler of closing. */
export interface UserChangeDialogProps {
  readonly change: UserChange
  readonly user: User
  readonly onClose: () => void
}

/** Asks before a change to a user, makes it, and says so, with an undo where there is one. */
export function UserChangeDialog({ change, user, onClose }: UserChangeDialogProps) {
  const edit = useEditUser()
  const endSessions = useEndSessions()
  const { id, name, email, account, role, disabled, active_keys } = user
  const [revokesKeys, setRevokesKeys] = useState(false)
  const { title, action, danger, effect, done } = USER_CHANGES[change]
  const { isPending, error } = change === 'sign-out' ? endSessions : edit

  /** The dialog is closed by then. */
  function undo(): void {
    const before = disabled ? 'disabled' : role === 'admin' ? 'an admin' : 'a member'
    edit.mutateAsync({ id, role, disabled }).then(
      () => notify({ text: `Undone: ${name} is ${before}.` }),
      (error: Error) => notify({ text: `This was not undone: ${error.message}` }),
    )
  }

  function submit(): void {
    if (change === 'sign-out') endSessions.mutate({ id }, { onSuccess: () => close(false) })
    else
      edit.mutate(
        { id, ...settingsOf(change), ...(revokesKeys && { revoke_keys: true }) },
        { onSuccess: () => close(!revokesKeys) },
      )
  }

  function close(canUndo: boolean): void {
    notify({ text: revokesKeys ? `${name} is disabled, and the keys are revoked.` : done(name), ...(canUndo && { undo }) })
    onClose()
  }

  return (
    <ConfirmDialog
      title={title(name)}
      action={action}
      danger={danger}
      pending={isPending}
      refusal={error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Stack gap="xs">
        <div>
          <b>{email}</b> of account <b>{account.name}</b>
        </div>
        <div>{effect}</div>
        {change === 'disable' && active_keys > 0 && (
          <Checkbox
            label={
              active_keys === 1
                ? 'Also revoke the active key that the user created'
                : `Also revoke the ${active_keys} active keys that the user created`
            }
            description="Programs that use them fail at once. This cannot be undone."
            checked={revokesKeys}
            onChange={({ currentTarget }) => setRevokesKeys(currentTarget.checked)}
          />
        )}
      </Stack>
    </ConfirmDialog>
  )
}

function settingsOf(change: Exclude<UserChange, 'sign-out'>): { readonly role?: User['role']; readonly disabled?: boolean } {
  if (change === 'disable' || change === 'enable') return { disabled: change === 'disable' }
  return { role: change === 'make-admin' ? 'admin' : 'member' }
}

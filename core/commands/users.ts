import { COMMAND_LINE } from '../accounts/audit.ts'
import { invite } from '../accounts/invitations.ts'
import { invitationLink } from '../accounts/links.ts'
import type { User } from '../accounts/user.ts'
import { editUser, endUserSessions, listUsers, type UserSettings } from '../accounts/users.ts'
import { everyPage } from '../store/page.ts'
import { iso, type StoreIo, type StoreOptions, withStore, writeJson, writeTable } from './with-store.ts'

/** What `umg users invite` takes. */
export interface InviteOptions extends StoreOptions {
  readonly email: string
  readonly role: User['role']
  readonly account: string
  /** Where people reach the console. */
  readonly consoleUrl: string
}

type WithId = StoreOptions & { readonly id: string }

/** `umg users list`, the newest last. Resolves to the exit code. */
export async function listUsersCommand(options: StoreOptions, io: StoreIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const users = (await everyPage((page) => listUsers(store, page))).reverse()
    if (options.json) writeJson(io, users.map(view))
    else if (users.length === 0)
      io.stderr.write('There are no users yet. Invite one with `umg users invite EMAIL --role admin`.\n')
    else writeTable(io, [HEADINGS, ...users.map(cells)])
  })
}

/** `umg users invite EMAIL`: the link, this once, alone on stdout. Resolves to the exit code. */
export async function inviteCommand(
  { email, role, account, consoleUrl, ...options }: InviteOptions,
  io: StoreIo,
): Promise<number> {
  return withStore(options, io, async (store) => {
    const { invitation, token } = await invite(store, { email, role, account }, COMMAND_LINE)
    const link = invitationLink(consoleUrl.replace(/\/$/, ''), token)
    const { id, expiresAt } = invitation
    if (options.json) writeJson(io, { id, email: invitation.email, role, account, expiresAt: iso(expiresAt), link })
    else {
      io.stderr.write(
        `Send this link to ${invitation.email}. It works once, until ${iso(expiresAt)}, and is never shown again.\n`,
      )
      io.stdout.write(`${link}\n`)
    }
  })
}

/** `umg users edit|disable|enable ID`. Resolves to the exit code. */
export async function editUserCommand(options: WithId & Partial<UserSettings>, io: StoreIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const { id, name, role, disabled } = options
    const user = await editUser(store, { id, name, role, disabled }, COMMAND_LINE)
    if (options.json) writeJson(io, view(user))
    else io.stderr.write(`${user.name} (${user.email}) is ${disabledWord(user)}, with the role ${user.role}.\n`)
  })
}

/** `umg users end-sessions ID`. Resolves to the exit code. */
export async function endSessionsCommand({ id, ...options }: WithId, io: StoreIo): Promise<number> {
  return withStore(options, io, async (store) => {
    await endUserSessions(store, id, COMMAND_LINE)
    if (options.json) writeJson(io, { id })
    else io.stderr.write(`Signed ${id} out everywhere.\n`)
  })
}

/** A user as `--json` prints it. */
const view = ({ id, email, name, role, account, createdAt, lastSignInAt, disabledAt }: User) => ({
  id,
  email,
  name,
  role,
  account: account.id,
  createdAt: iso(createdAt),
  lastSignInAt: lastSignInAt === undefined ? null : iso(lastSignInAt),
  disabled: disabledAt !== undefined,
})

const HEADINGS = ['ID', 'EMAIL', 'NAME', 'ROLE', 'ACCOUNT', 'LAST SIGN-IN', 'STATUS']

const cells = ({ id, email, name, role, account, lastSignInAt, disabledAt }: User): string[] => [
  id,
  email,
  name,
  role,
  account.name,
  lastSignInAt === undefined ? 'never' : iso(lastSignInAt),
  disabledWord({ disabledAt }),
]

const disabledWord = ({ disabledAt }: Pick<User, 'disabledAt'>): string => (disabledAt === undefined ? 'active' : 'disabled')

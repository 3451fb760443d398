import { COMMAND_LINE } from '../accounts/audit.ts'
import type { User } from '../accounts/user.ts'
import { editUser, endUserSessions, listUsers, type UserSettings } from '../accounts/users.ts'
import { everyPage } from '../store/page.ts'
import { iso, type StoreIo, type StoreOptions, withStore, writeJson, writeTable } from './store.ts'

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

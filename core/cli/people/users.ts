import { COMMAND_LINE } from '../../accounts/audit.ts'
import type { User } from '../../accounts/user.ts'
import { editUser, endUserSessions, listUsers, type UserSettings } from '../../accounts/users.ts'
import { countKeysOf, revokeKeysOf } from '../../keys/keys-of-user.ts'
import { everyPage } from '../../store/page.ts'
import { type CommandIo, formatTime, type TableFormat, writeJson, writeTable } from '../output.ts'
import { type ObjectOptions, type StoreOptions, withStore } from '../store.ts'
import { count } from '../validation-report.ts'

/** `umg users list`, the newest last. Resolves to the exit code. */
export async function listUsersCommand(options: StoreOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const users = (await everyPage((page) => listUsers(store, page))).reverse()
    if (options.json) writeJson(users.map(toJson), io)
    else writeTable(users, TABLE, io)
  })
}

/** `umg users disable ID`. Says how many keys of the user go on working, or revokes them. Resolves to the exit code. */
export async function disableUserCommand(
  { revokeKeys, id, ...options }: ObjectOptions & { readonly revokeKeys?: boolean },
  io: CommandIo,
): Promise<number> {
  return withStore(options, io, async (store) => {
    const user = await editUser(store, { id, disabled: true }, COMMAND_LINE)
    const revoked = revokeKeys ? await revokeKeysOf(store, id, COMMAND_LINE) : 0
    const active = (await countKeysOf(store, [id])).get(id) ?? 0
    if (options.json) return writeJson({ ...toJson(user), activeKeys: active, revokedKeys: revoked }, io)
    io.stderr.write(`${user.name} (${user.email}) is disabled.\n`)
    if (revokeKeys) io.stderr.write(`${count(revoked, 'key')} revoked.\n`)
    if (active > 0)
      io.stderr.write(
        `${count(active, 'key')} of theirs still in use: umg users disable ${id} --revoke-keys revokes what they made.\n`,
      )
  })
}

/** `umg users edit ID`, `umg users enable ID`. Resolves to the exit code. */
export async function editUserCommand(options: ObjectOptions & Partial<UserSettings>, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const { id, name, role, disabled } = options
    const user = await editUser(store, { id, name, role, disabled }, COMMAND_LINE)
    if (options.json) writeJson(toJson(user), io)
    else io.stderr.write(`${user.name} (${user.email}) is ${statusOf(user)}, with the role ${user.role}.\n`)
  })
}

/** `umg users end-sessions ID`. Resolves to the exit code. */
export async function endSessionsCommand({ id, ...options }: ObjectOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    await endUserSessions(store, id, COMMAND_LINE)
    if (options.json) writeJson({ id }, io)
    else io.stderr.write(`Signed ${id} out everywhere.\n`)
  })
}

/** A user as `--json` prints it. */
const toJson = ({ id, email, name, role, account, createdAt, lastSignInAt, disabledAt }: User) => ({
  id,
  email,
  name,
  role,
  account: account.id,
  createdAt: formatTime(createdAt),
  lastSignInAt: lastSignInAt === undefined ? null : formatTime(lastSignInAt),
  disabled: disabledAt !== undefined,
})

const statusOf = ({ disabledAt }: User): 'active' | 'disabled' => (disabledAt === undefined ? 'active' : 'disabled')

const TABLE: TableFormat<User> = {
  columns: {
    ID: ({ id }) => id,
    EMAIL: ({ email }) => email,
    NAME: ({ name }) => name,
    ROLE: ({ role }) => role,
    ACCOUNT: ({ account }) => account.name,
    'LAST SIGN-IN': ({ lastSignInAt }) => (lastSignInAt === undefined ? 'never' : formatTime(lastSignInAt)),
    STATUS: statusOf,
  },
  empty: 'There are no users yet. Invite one with `umg users invite EMAIL --role admin`.',
}

import { COMMAND_LINE } from '../../accounts/audit.ts'
import { type Invitation, invite, listInvitations, withdrawInvitation } from '../../accounts/invitations.ts'
import { invitationLink } from '../../accounts/tokens.ts'
import type { User } from '../../accounts/user.ts'
import type { Store } from '../../store/database.ts'
import { everyPage } from '../../store/page.ts'
import { type CommandIo, formatTime, type TableFormat, writeJson, writeTable } from '../output.ts'
import { type ObjectOptions, type StoreOptions, withStore } from '../store.ts'

/** The options of `umg users invite`. */
export interface InviteOptions extends StoreOptions {
  readonly email: string
  readonly role: User['role']
  readonly account: string
  readonly consoleUrl: string
}

/** `umg users invite EMAIL`: prints only the link on stdout. Resolves to the exit code. */
export async function inviteCommand(
  { email, role, account, consoleUrl, ...options }: InviteOptions,
  io: CommandIo,
): Promise<number> {
  return withStore(options, io, async (store) => {
    const { invitation, token } = await invite(store, { email, role, account }, COMMAND_LINE)
    const link = invitationLink(consoleUrl.replace(/\/$/, ''), token)
    if (options.json) return writeJson({ ...toJson(invitation), link }, io)
    const expiry = formatTime(invitation.expiresAt)
    io.stderr.write(`Send this link to ${invitation.email}. It works once, until ${expiry}, and is never shown again.\n`)
    io.stdout.write(`${link}\n`)
  })
}

/** `umg users invitations`: the open invitations, the newest last. Resolves to the exit code. */
export async function listInvitationsCommand(options: StoreOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const invitations = (await everyPage((page) => listInvitations(store, page))).reverse()
    if (options.json) writeJson(invitations.map(toJson), io)
    else writeTable(invitations, TABLE, io)
  })
}

/** `umg users withdraw ID`. Resolves to the exit code. */
export async function withdrawCommand({ id, ...options }: ObjectOptions, io: CommandIo): Promise<number> {
  const withdraw = async (store: Store): Promise<void> => {
    const email = await withdrawInvitation(store, id, COMMAND_LINE)
    if (options.json) writeJson({ id, email }, io)
    else io.stderr.write(`Withdrew the invitation ${id} (${email}). Its link no longer works.\n`)
  }
  return withStore(options, io, withdraw, 'invitations')
}

/** An invitation as `--json` prints it. */
const toJson = ({ id, email, role, account, createdAt, createdBy, expiresAt }: Invitation) => ({
  id,
  email,
  role,
  account: account.id,
  createdAt: formatTime(createdAt),
  createdBy: createdBy.id,
  expiresAt: formatTime(expiresAt),
})

const TABLE: TableFormat<Invitation> = {
  columns: {
    ID: ({ id }) => id,
    EMAIL: ({ email }) => email,
    ROLE: ({ role }) => role,
    ACCOUNT: ({ account }) => account.name,
    INVITED: ({ createdAt }) => formatTime(createdAt),
    BY: ({ createdBy }) => createdBy.name,
    EXPIRES: ({ expiresAt }) => formatTime(expiresAt),
  },
  empty: 'There are no open invitations. Create one with `umg users invite EMAIL`.',
}

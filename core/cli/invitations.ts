import { COMMAND_LINE } from '../accounts/audit.ts'
import { type Invitation, invite, listInvitations, withdrawInvitation } from '../accounts/invitations.ts'
import { invitationLink } from '../accounts/tokens.ts'
import type { User } from '../accounts/user.ts'
import { everyPage } from '../store/page.ts'
import { iso, type StoreIo, type StoreOptions, withStore, writeJson, writeTable } from './store.ts'

/** What `umg users invite` takes. */
export interface InviteOptions extends StoreOptions {
  readonly email: string
  readonly role: User['role']
  readonly account: string
  /** Where people reach the console. */
  readonly consoleUrl: string
}

/** `umg users invite EMAIL`: the link, this once, alone on stdout. Resolves to the exit code. */
export async function inviteCommand(
  { email, role, account, consoleUrl, ...options }: InviteOptions,
  io: StoreIo,
): Promise<number> {
  return withStore(options, io, async (store) => {
    const { invitation, token } = await invite(store, { email, role, account }, COMMAND_LINE)
    const link = invitationLink(consoleUrl.replace(/\/$/, ''), token)
    if (options.json) writeJson(io, { ...view(invitation), link })
    else {
      io.stderr.write(
        `Send this link to ${invitation.email}. It works once, until ${iso(invitation.expiresAt)}, and is never shown again.\n`,
      )
      io.stdout.write(`${link}\n`)
    }
  })
}

/** `umg users invitations`: those that are open, the newest last. Resolves to the exit code. */
export async function listInvitationsCommand(options: StoreOptions, io: StoreIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const invitations = (await everyPage((page) => listInvitations(store, page))).reverse()
    if (options.json) writeJson(io, invitations.map(view))
    else if (invitations.length === 0) io.stderr.write('No invitation is open. Make one with `umg users invite EMAIL`.\n')
    else writeTable(io, [HEADINGS, ...invitations.map(cells)])
  })
}

/** `umg users withdraw ID`. Resolves to the exit code. */
export async function withdrawCommand({ id, ...options }: StoreOptions & { readonly id: string }, io: StoreIo): Promise<number> {
  return withStore({ ...options, lister: 'invitations' }, io, async (store) => {
    const email = await withdrawInvitation(store, id, COMMAND_LINE)
    if (options.json) writeJson(io, { id, email })
    else io.stderr.write(`Withdrew the invitation ${id} (${email}): its link opens nothing from now on.\n`)
  })
}

/** An invitation as `--json` prints it. */
const view = ({ id, email, role, account, createdAt, createdBy, expiresAt }: Invitation) => ({
  id,
  email,
  role,
  account: account.id,
  createdAt: iso(createdAt),
  createdBy: createdBy.id,
  expiresAt: iso(expiresAt),
})

const HEADINGS = ['ID', 'EMAIL', 'ROLE', 'ACCOUNT', 'INVITED', 'BY', 'EXPIRES']

const cells = ({ id, email, role, account, createdAt, createdBy, expiresAt }: Invitation): string[] => [
  id,
  email,
  role,
  account.name,
  iso(createdAt),
  createdBy.name,
  iso(expiresAt),
]

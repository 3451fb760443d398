import { Type } from 'typebox'
import {
  acceptInvitation,
  findInvitationByToken,
  type Invitation,
  invite,
  listInvitations,
  withdrawInvitation,
} from '../accounts/invitations.ts'
import { invitationLink } from '../accounts/tokens.ts'
import { email, named, newPassword, page, pageQuery, role, time, token, toTime } from './fields.ts'
import { type Operation, operation } from './operation.ts'
import { openSession, sessionSchema } from './session.ts'

const fields = {
  id: Type.String(),
  email: Type.String(),
  role,
  account: named,
  created_at: time('When it was created.'),
  created_by: named,
  expires_at: time('When its link expires.'),
}

const invitationSchema = Type.Object(fields, { title: 'Invitation' })

const createdInvitationSchema = Type.Object(
  { ...fields, link: Type.String({ description: 'The link for the invited person: only in this reply. It works once.' }) },
  { title: 'CreatedInvitation' },
)

const invitedPersonSchema = Type.Object({ email: Type.String(), role, account: named }, { title: 'InvitedPerson' })

const invitationView = ({ id, email, role, account, createdAt, createdBy, expiresAt }: Invitation) => ({
  id,
  email,
  role,
  account,
  created_at: toTime(createdAt),
  created_by: createdBy,
  expires_at: toTime(expiresAt),
})

/** Invitations, by which people become users. */
export const invitationOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/invitations',
    access: 'admin',
    summary: 'List the open invitations, newest first',
    query: Type.Object({
      ...pageQuery,
      q: Type.Optional(Type.String({ maxLength: 100, description: "Part of the e-mail address or the account's name." })),
    }),
    reply: page(invitationSchema),
    async handle({ query }, { store }) {
      const { data, next_cursor } = await listInvitations(store, query)
      return { data: data.map(invitationView), next_cursor }
    },
  }),
  operation({
    method: 'POST',
    path: '/invitations',
    access: 'admin',
    confirmed: true,
    summary: 'Invite a person; only this reply has the link',
    body: Type.Object({ email, role, account_id: Type.String() }),
    reply: createdInvitationSchema,
    status: 201,
    async handle({ caller, body }, { store, urls }) {
      const { invitation, token } = await invite(store, { email: body.email, role: body.role, account: body.account_id }, caller)
      return { ...invitationView(invitation), link: invitationLink(urls().people, token) }
    },
  }),
  operation({
    method: 'DELETE',
    path: '/invitations/{id}',
    access: 'admin',
    summary: 'Withdraw an invitation',
    async handle({ caller, params: { id } }, { store }) {
      await withdrawInvitation(store, id, caller)
      return undefined
    },
  }),
  operation({
    method: 'POST',
    path: '/invitations/look',
    access: 'public',
    summary: 'Get the invitation of a link',
    body: Type.Object({ token }),
    reply: invitedPersonSchema,
    async handle({ body }, { store }) {
      const { email, role, account } = await findInvitationByToken(store, body.token)
      return { email, role, account }
    },
  }),
  operation({
    method: 'POST',
    path: '/invitations/accept',
    access: 'public',
    summary: 'Accept an invitation: become a user, and sign in',
    body: Type.Object({ token, name: Type.String(), password: newPassword }),
    reply: sessionSchema,
    status: 201,
    handle: async (context, services) =>
      openSession(await acceptInvitation(services.store, { ...context.body, address: context.address }), context, services),
  }),
]

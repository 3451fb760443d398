import { Type } from 'typebox'
import { acceptInvitation, lookAtInvitation } from '../../accounts/accept-invitation.ts'
import type { Invitation } from '../../accounts/invitation.ts'
import { invite, listInvitations, withdrawInvitation } from '../../accounts/invitations.ts'
import { invitationLink } from '../../accounts/links.ts'
import { email, named, page, pageQuery, password, role, time, token, toTime } from './fields.ts'
import { type Route, route } from './route.ts'
import { session, welcome } from './session.ts'

const invitationSchema = Type.Object({
  id: Type.String(),
  email: Type.String(),
  role,
  account: named,
  created_at: time('When it was made.'),
  created_by: named,
  expires_at: time('Until when its link works.'),
})

const newInvitationSchema = Type.Object({
  ...invitationSchema.properties,
  link: Type.String({ description: 'For the invited person. In this reply and nowhere else, ever again; it works once.' }),
})

const show = ({ id, email, role, account, createdAt, createdBy, expiresAt }: Invitation) => ({
  id,
  email,
  role,
  account,
  created_at: toTime(createdAt),
  created_by: createdBy,
  expires_at: toTime(expiresAt),
})

/** How people join. */
export const invitationRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/invitations',
    role: 'admin',
    summary: 'List the invitations that are open, the newest first',
    query: Type.Object(pageQuery),
    reply: page(invitationSchema),
    async handle({ query }, { store }) {
      const { data, next_cursor } = await listInvitations(store, query)
      return { data: data.map(show), next_cursor }
    },
  }),
  route({
    method: 'POST',
    path: '/invitations',
    role: 'admin',
    summary: 'Invite somebody: the link is in this reply only',
    body: Type.Object({ email, role, account_id: Type.String() }),
    reply: newInvitationSchema,
    status: 201,
    async handle({ caller, body }, { store, urls }) {
      const made = await invite(store, { email: body.email, role: body.role, account: body.account_id }, caller)
      return { ...show(made.invitation), link: invitationLink(urls().people, made.token) }
    },
  }),
  route({
    method: 'DELETE',
    path: '/invitations/{id}',
    role: 'admin',
    summary: 'Withdraw an invitation',
    async handle({ caller, params: { id } }, { store }) {
      await withdrawInvitation(store, id, caller)
      return undefined
    },
  }),
  route({
    method: 'POST',
    path: '/invitations/look',
    role: 'nobody',
    summary: 'Whom an invitation is for, and to what',
    body: Type.Object({ token }),
    reply: Type.Object({ email: Type.String(), role, account: named }),
    async handle({ body }, { store }) {
      const { email, role, account } = await lookAtInvitation(store, body.token)
      return { email, role, account }
    },
  }),
  route({
    method: 'POST',
    path: '/invitations/accept',
    role: 'nobody',
    summary: 'Accept an invitation: become a user, and sign in',
    body: Type.Object({ token, name: Type.String(), password: password('At least 12 characters.') }),
    reply: session,
    status: 201,
    handle: async (asked, parts) =>
      welcome(await acceptInvitation(parts.store, { ...asked.body, address: asked.address }), asked, parts),
  }),
]

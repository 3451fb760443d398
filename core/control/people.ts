import { Type } from 'typebox'
import {
  acceptInvitation,
  type Invitation,
  invite,
  listInvitations,
  lookAtInvitation,
  withdrawInvitation,
} from '../accounts/invitations.ts'
import { invitationLink } from '../accounts/links.ts'
import { editUser, endUserSessions, listUsers, type User } from '../accounts/users.ts'
import { email, named, page, pageQuery, password, role, time, timeOrNull, token, toTime, toTimeOrNull } from './fields.ts'
import { type Route, route } from './operation.ts'
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

const showInvitation = ({ id, email, role, account, createdAt, createdBy, expiresAt }: Invitation) => ({
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
      return { data: data.map(showInvitation), next_cursor }
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
      return { ...showInvitation(made.invitation), link: invitationLink(urls().people, made.token) }
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
    handle: async (asked, services) =>
      welcome(await acceptInvitation(services.store, { ...asked.body, address: asked.address }), asked, services),
  }),
]

const userSchema = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role,
  account: named,
  created_at: time('When they joined.'),
  last_sign_in_at: timeOrNull('Null: never.'),
  disabled: Type.Boolean({ description: 'A disabled user cannot sign in.' }),
})

const showUser = ({ id, email, name, role, account, createdAt, lastSignInAt, disabledAt }: User) => ({
  id,
  email,
  name,
  role,
  account,
  created_at: toTime(createdAt),
  last_sign_in_at: toTimeOrNull(lastSignInAt),
  disabled: disabledAt !== undefined,
})

/** People who sign in. */
export const userRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/users',
    role: 'admin',
    summary: 'List users, the newest first',
    query: Type.Object(pageQuery),
    reply: page(userSchema),
    async handle({ query }, { store }) {
      const { data, next_cursor } = await listUsers(store, query)
      return { data: data.map(showUser), next_cursor }
    },
  }),
  route({
    method: 'PATCH',
    path: '/users/{id}',
    role: 'admin',
    summary: 'Change a user; with another role, or disabled, they are signed out',
    body: Type.Partial(Type.Object({ name: Type.String(), role, disabled: Type.Boolean() })),
    reply: userSchema,
    handle: async ({ caller, params: { id }, body }, { store }) => showUser(await editUser(store, { id, ...body }, caller)),
  }),
  route({
    method: 'POST',
    path: '/users/{id}/end-sessions',
    role: 'admin',
    summary: 'Sign a user out everywhere',
    async handle({ caller, params: { id } }, { store }) {
      await endUserSessions(store, id, caller)
      return undefined
    },
  }),
]

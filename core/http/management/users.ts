import { Type } from 'typebox'
import type { User } from '../../accounts/user.ts'
import { editUser, endUserSessions, listUsers } from '../../accounts/users.ts'
import { named, page, pageQuery, role, time, timeOrNull, toTime, toTimeOrNull } from './fields.ts'
import { type Route, route } from './route.ts'

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

const show = ({ id, email, name, role, account, createdAt, lastSignInAt, disabledAt }: User) => ({
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
      return { data: data.map(show), next_cursor }
    },
  }),
  route({
    method: 'PATCH',
    path: '/users/{id}',
    role: 'admin',
    summary: 'Change a user; with another role, or disabled, they are signed out',
    body: Type.Partial(Type.Object({ name: Type.String(), role, disabled: Type.Boolean() })),
    reply: userSchema,
    handle: async ({ caller, params: { id }, body }, { store }) => show(await editUser(store, { id, ...body }, caller)),
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

import { Type } from 'typebox'
import type { User } from '../accounts/user.ts'
import { editUser, endUserSessions, listUsers } from '../accounts/users.ts'
import { named, page, pageQuery, role, time, timeOrNull, toTime, toTimeOrNull } from './fields.ts'
import { type Operation, operation } from './operation.ts'

const userSchema = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    role,
    account: named,
    created_at: time('When they joined.'),
    last_sign_in_at: timeOrNull('Null: never.'),
    disabled: Type.Boolean({ description: 'A disabled user cannot sign in.' }),
  },
  { title: 'User' },
)

const userView = ({ id, email, name, role, account, createdAt, lastSignInAt, disabledAt }: User) => ({
  id,
  email,
  name,
  role,
  account,
  created_at: toTime(createdAt),
  last_sign_in_at: toTimeOrNull(lastSignInAt),
  disabled: disabledAt !== undefined,
})

/** Users, who sign in to the console. */
export const userOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/users',
    access: 'admin',
    summary: 'List users, newest first',
    query: Type.Object(pageQuery),
    reply: page(userSchema),
    async handle({ query }, { store }) {
      const { data, next_cursor } = await listUsers(store, query)
      return { data: data.map(userView), next_cursor }
    },
  }),
  operation({
    method: 'PATCH',
    path: '/users/{id}',
    access: 'admin',
    summary: 'Change a user; another role, or disabling, signs them out',
    body: Type.Partial(Type.Object({ name: Type.String(), role, disabled: Type.Boolean() })),
    reply: userSchema,
    handle: async ({ caller, params: { id }, body }, { store }) => userView(await editUser(store, { id, ...body }, caller)),
  }),
  operation({
    method: 'POST',
    path: '/users/{id}/end-sessions',
    access: 'admin',
    summary: 'Sign a user out everywhere',
    async handle({ caller, params: { id } }, { store }) {
      await endUserSessions(store, id, caller)
      return undefined
    },
  }),
]

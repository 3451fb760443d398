import { Type } from 'typebox'
import type { User } from '../accounts/user.ts'
import { editUser, endUserSessions, listUsers } from '../accounts/users.ts'
import { GatewayError } from '../errors.ts'
import { countKeysOf, revokeKeysOf } from '../keys/keys-of-user.ts'
import type { Store } from '../store/database.ts'
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
    active_keys: Type.Integer({ description: 'Keys in use that the user has made. They go on working if the user is disabled.' }),
  },
  { title: 'User' },
)

const userView = ({ id, email, name, role, account, createdAt, lastSignInAt, disabledAt }: User, keys: Counts) => ({
  id,
  email,
  name,
  role,
  account,
  created_at: toTime(createdAt),
  last_sign_in_at: toTimeOrNull(lastSignInAt),
  disabled: disabledAt !== undefined,
  active_keys: keys.get(id) ?? 0,
})

/** Keys in use by the user who made them. */
type Counts = ReadonlyMap<string, number>

async function changed(store: Store, user: User) {
  return userView(user, await countKeysOf(store, [user.id]))
}

/** Users, who sign in to the console. */
export const userOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/users',
    access: 'admin',
    summary: 'List users, newest first',
    query: Type.Object({
      ...pageQuery,
      q: Type.Optional(
        Type.String({ maxLength: 100, description: "Part of the name, the e-mail address or the account's name, or the id." }),
      ),
    }),
    reply: page(userSchema),
    async handle({ query }, { store }) {
      const { data, next_cursor } = await listUsers(store, query)
      const keys = await countKeysOf(
        store,
        data.map(({ id }) => id),
      )
      return { data: data.map((user) => userView(user, keys)), next_cursor }
    },
  }),
  operation({
    method: 'PATCH',
    path: '/users/{id}',
    access: 'admin',
    confirmed: true,
    summary: 'Change a user; another role, or disabling, signs them out',
    body: Type.Partial(
      Type.Object({
        name: Type.String(),
        role,
        disabled: Type.Boolean(),
        revoke_keys: Type.Boolean({ description: 'With `disabled`: also revoke the keys that the user has made.' }),
      }),
    ),
    reply: userSchema,
    async handle({ caller, params: { id }, body: { revoke_keys, ...settings } }, { store }) {
      if (revoke_keys && !settings.disabled)
        throw new GatewayError('invalid_value', { param: 'revoke_keys', values: { detail: 'it goes with disabled: true' } })
      const user = await editUser(store, { id, ...settings }, caller)
      if (revoke_keys) await revokeKeysOf(store, id, caller)
      return changed(store, user)
    },
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

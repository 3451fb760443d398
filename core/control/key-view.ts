import { basename } from 'node:path'
import { Type } from 'typebox'
import type { DeclaredKey } from '../config/config.ts'
import { type ApiKey, statusOf } from '../keys/api-key.ts'
import { globs, named, namedOrNull, tags, timeOrNull, toTime, toTimeOrNull } from './fields.ts'

/** A key as the API shows it: never its secret. */
export const keySchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  kind: Type.Enum(['live', 'test', 'admin'], { description: 'An admin key opens this API, and no model.' }),
  masked: Type.String({ description: 'Enough of the secret to know it by.', examples: ['sk-live-7Fq2…9aXk'] }),
  account: named,
  models: globs('Globs of model ids that narrow what the account may call.'),
  rate_class: Type.Union([Type.String(), Type.Null()], { description: "Null: the account's, or else the default one." }),
  tags,
  created_at: timeOrNull('Null for a key of routes.yaml.'),
  created_by: namedOrNull,
  last_used_at: timeOrNull('About a minute late. Null: never, or a key of routes.yaml.'),
  expires_at: timeOrNull('Null: never.'),
  revoked_at: timeOrNull('Null: it is not revoked.'),
  status: Type.Enum(['active', 'expired', 'revoked']),
  replaced_by: Type.Optional(Type.String({ description: 'The key that took over from it.' })),
  replaces: Type.Optional(Type.String({ description: 'The key that it took over from.' })),
  source: Type.String({
    description: '`database`, or where routes.yaml declares it: such a key is changed there.',
    examples: ['routes.yaml:71'],
  }),
})

/** A new key, with its secret. */
export const newKeySchema = Type.Object({
  ...keySchema.properties,
  secret: Type.String({ description: 'In this reply and nowhere else, ever again.' }),
})

/** A key of the store, as the API shows it. */
export const showKey = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  kind: key.kind,
  masked: key.shown,
  account: key.account,
  models: key.models,
  rate_class: key.rateClass ?? null,
  tags: key.tags,
  created_at: toTime(key.createdAt),
  created_by: key.createdBy ?? null,
  last_used_at: toTimeOrNull(key.lastUsedAt),
  expires_at: toTimeOrNull(key.expiresAt),
  revoked_at: toTimeOrNull(key.revokedAt),
  status: statusOf(key),
  ...(key.replacedBy !== undefined && { replaced_by: key.replacedBy }),
  ...(key.replaces !== undefined && { replaces: key.replaces }),
  source: 'database',
})

/** A key of routes.yaml, as the API shows it. Of its secret only the digest is known. */
export const showDeclaredKey = (key: DeclaredKey, account: { readonly id: string; readonly name: string }) => ({
  id: `routes:${key.name}`,
  name: key.name,
  kind: key.kind,
  masked: `sha256:${key.digest.slice(0, 8)}…`,
  account,
  models: key.models,
  rate_class: key.rateClass ?? null,
  tags: {},
  created_at: null,
  created_by: null,
  last_used_at: null,
  expires_at: toTimeOrNull(key.expires),
  revoked_at: null,
  status: statusOf({ expiresAt: key.expires }),
  source: `${basename(key.at.file)}:${key.at.line}`,
})

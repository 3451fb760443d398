import { Type } from 'typebox'
import type { DeclaredKey } from '../config/config.ts'
import { type ApiKey, statusOf } from '../keys/api-key.ts'
import { source, sourceOf } from './declared.ts'
import { globs, named, nullable, oneOf, rateClass, tags, timeOrNull, toTime, toTimeOrNull } from './fields.ts'

/** The kind of a key. */
export const keyKind = oneOf(['live', 'test', 'admin'], 'An admin key can call this API, and no model.')

/** The status of a key. */
export const keyStatus = oneOf(['active', 'expired', 'revoked'])

const fields = {
  id: Type.String(),
  name: Type.String(),
  kind: keyKind,
  masked: Type.String({ description: "The secret's first and last characters.", examples: ['sk-live-7Fq2…9aXk'] }),
  account: named,
  models: globs("Globs of model ids that narrow the account's."),
  rate_class: rateClass("Null: the account's, else the default one."),
  tags,
  created_at: timeOrNull('Null for a key of routes.yaml.'),
  created_by: nullable(named, 'Null for a key of routes.yaml.'),
  last_used_at: timeOrNull('Up to a minute late. Null: never, or a key of routes.yaml.'),
  expires_at: timeOrNull('Null: never.'),
  revoked_at: timeOrNull('Null: not revoked.'),
  status: keyStatus,
  replaced_by: Type.Optional(Type.String({ description: 'The id of the key that it was rotated to.' })),
  replaces: Type.Optional(Type.String({ description: 'The id of the key that it was rotated from.' })),
  source,
}

/** A key without its secret. */
export const keySchema = Type.Object(fields, { title: 'ApiKey' })

/** A new key, with its secret. */
export const createdKeySchema = Type.Object(
  { ...fields, secret: Type.String({ description: 'Only in this reply.' }) },
  { title: 'CreatedApiKey' },
)

/** A key of the store, as the API shows it. */
export const keyView = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  kind: key.kind,
  masked: key.masked,
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
  source: sourceOf(undefined),
})

/** A key of routes.yaml, as the API shows it. Only the digest of its secret is known. */
export const declaredKeyView = (key: DeclaredKey, account: { readonly id: string; readonly name: string }) => ({
  id: `routes:${key.name}`,
  name: key.name,
  kind: key.kind,
  masked: `sha256:${key.digest.slice(0, 8)}…`,
  account,
  models: key.models,
  rate_class: key.rateClass ?? null,
  tags: key.tags,
  created_at: null,
  created_by: null,
  last_used_at: null,
  expires_at: toTimeOrNull(key.expires),
  revoked_at: null,
  status: statusOf({ expiresAt: key.expires }),
  source: sourceOf(key.at),
})

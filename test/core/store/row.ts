import type { KeysTable } from '../../../core/store/schema.ts'

/** A key as it may be stored. */
export const KEY: KeysTable = {
  id: 'key_1',
  account_id: 'default',
  name: 'one',
  kind: 'live',
  digest: 'd1',
  prefix_shown: 'sk-live-0000',
  last_four: '0000',
  models: '["*"]',
  rate_class: null,
  tags: '{}',
  created_at: 1,
  created_by: null,
  created_by_name: null,
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
  replaces: null,
  replaced_by: null,
}

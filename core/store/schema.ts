/**
 * The tables after the newest migration. Columns are text, integer or bigint, which every dialect has. Times are milliseconds since
 * 1970, lists and maps are JSON texts.
 */
export interface Schema {
  readonly accounts: AccountsTable
  readonly keys: KeysTable
  readonly users: UsersTable
  readonly sessions: SessionsTable
  readonly invitations: InvitationsTable
  readonly setup_links: SetupLinksTable
  readonly sign_in_tries: SignInTriesTable
  readonly audit: AuditTable
  readonly audit_head: AuditHeadTable
  readonly calls: CallsTable
  readonly usage: UsageTable
  readonly quota_counters: QuotaCountersTable
  readonly budget_alerts: BudgetAlertsTable
  readonly webhook_messages: WebhookMessagesTable
  readonly kept_values: KeptValuesTable
  /** SQLite only. */
  readonly key_changes: KeyChangesTable
}

/** Accounts, which own keys. */
export interface AccountsTable {
  readonly id: string
  readonly name: string
  /** JSON array of globs of model ids. */
  readonly models: string
  readonly rate_class: string | null
  /** The most keys that it may have. */
  readonly max_keys: number
  /** The longest life of its keys, in days; null: any. */
  readonly max_key_days: number | null
  /** JSON array of texts: `500 USD/month`. */
  readonly budgets: string
  readonly created_at: number
  /** The line of routes.yaml that declared it last, `routes.yaml:71`; null if none does. */
  readonly declared_at: string | null
}

/** API keys: the digest of each, never the secret. */
export interface KeysTable {
  /** `key_…` */
  readonly id: string
  readonly account_id: string
  readonly name: string
  /** An `admin` key gives access to the management API, and to no model. */
  readonly kind: 'live' | 'test' | 'admin'
  /** Hex SHA-256 of the secret. Unique. */
  readonly digest: string
  /** The secret's first characters, for display. */
  readonly prefix_shown: string
  readonly last_four: string
  /** JSON array of globs that narrow the account's. */
  readonly models: string
  readonly rate_class: string | null
  /** JSON object of texts. */
  readonly tags: string
  /** JSON array of texts: `500 USD/month`. */
  readonly budgets: string
  readonly created_at: number
  /** `usr_…`, `key_…` or a program; null for keys from before migration 0002. */
  readonly created_by: string | null
  /** The creator's name at that time. */
  readonly created_by_name: string | null
  readonly expires_at: number | null
  readonly revoked_at: number | null
  /** Null: it is not disabled. */
  readonly disabled_at: number | null
  /** Up to a minute old. */
  readonly last_used_at: number | null
  /** Rotation: the previous key, and the next one. */
  readonly replaces: string | null
  readonly replaced_by: string | null
}

/** People who sign in. */
export interface UsersTable {
  /** `usr_…` */
  readonly id: string
  readonly account_id: string
  /** In lower case. Unique. */
  readonly email: string
  readonly name: string
  readonly role: 'admin' | 'member'
  /** A PHC string; null for a user of OpenID sign-in. */
  readonly password: string | null
  /** Issuer and subject at the OpenID provider; null before the first OpenID sign-in. Unique. */
  readonly identity: string | null
  readonly created_at: number
  readonly disabled_at: number | null
  readonly last_sign_in_at: number | null
}

/** Sessions of signed-in users: the digest of each, never the token. */
export interface SessionsTable {
  /** Hex SHA-256 of the cookie's token. */
  readonly digest: string
  readonly user_id: string
  readonly created_at: number
  /** Up to a minute old. */
  readonly seen_at: number
  /** When the user last proved who they are, by the password or at the OpenID provider; null: at the beginning. */
  readonly confirmed_at: number | null
}

/** Open invitations. A used or withdrawn one has no row; the audit trail records it. */
export interface InvitationsTable {
  /** `inv_…` */
  readonly id: string
  /** Hex SHA-256 of the link's token. Unique. */
  readonly digest: string
  /** In lower case. */
  readonly email: string
  readonly role: 'admin' | 'member'
  readonly account_id: string
  readonly created_at: number
  readonly created_by: string
  readonly created_by_name: string
  readonly expires_at: number
}

/** Setup links. Each creates the first admin. */
export interface SetupLinksTable {
  /** Hex SHA-256 of the link's token. */
  readonly digest: string
  readonly expires_at: number
}

/** Sign-in throttle: failed attempts by email and by address. */
export interface SignInTriesTable {
  /** `email …` or `address …` */
  readonly subject: string
  readonly tries: number
  /** Time of the first of these attempts. */
  readonly since: number
}

/** The audit trail: which actor did what. The database refuses to change or remove a row. */
export interface AuditTable {
  /** `aud_…` */
  readonly id: string
  readonly at: number
  readonly actor_id: string | null
  readonly actor_name: string | null
  readonly action: string
  readonly object_type: string
  readonly object_id: string | null
  readonly object_name: string
  readonly address: string | null
  /** JSON: each changed field with its old and new value. */
  readonly changes: string
  /** The place in the chain: from 1, unique. Null, with the hashes, in rows that gateways from before migration 0013 have written. */
  readonly position: number | null
  /** The hash of the entry before. */
  readonly previous: string | null
  /** See `hashOfEntry` in migration 0013. */
  readonly hash: string | null
}

/** One row: the end of the chain of the audit trail. */
export interface AuditHeadTable {
  readonly position: number
  readonly hash: string
}

/** Ended calls: account, key, model, attempts, outcome, times and tokens. Nothing of the request's or the reply's content. */
export interface CallsTable {
  /** `req_…`: begins with the time, so that ids sort in the order of the requests. */
  readonly id: string
  /** Time of the request. */
  readonly at: number
  readonly account_id: string | null
  /** `key_…`, or `routes:…` for a key of routes.yaml; null without a valid key. */
  readonly key_id: string | null
  readonly endpoint: string
  /** The requested model, aliases resolved; null if the call ended before it was known. */
  readonly model: string | null
  /** The alias that the client wrote; null if it wrote the model's id, and in rows from before migration 0011. */
  readonly alias: string | null
  /** 0 or 1. */
  readonly stream: number
  /** The HTTP status sent; 499 if the client closed the connection first. */
  readonly status: number
  readonly outcome: string
  /** The cause of a failed call: `caller`, `policy`, `upstream` or `gateway`. */
  readonly fault: string | null
  /** The name of the error, and the `code` in the client's reply. */
  readonly error: string | null
  readonly error_code: string | null
  /** JSON array of the attempts: namespace, model, provider, result, start, ms, status. In rows of older versions they have no start. */
  readonly attempts: string
  /** JSON array of the links that ran: name, ms, and whether it answered. Empty in rows from before migration 0004. */
  readonly links: string
  /** 1 if the last attempt gave the reply. */
  readonly served: number
  /** Microseconds: of the whole call, to the first byte of content, and in the gateway itself. */
  readonly total_us: number
  readonly first_byte_us: number | null
  readonly overhead_us: number
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cached_tokens: number | null
  readonly reasoning_tokens: number | null
  /** 1 if the tokens are an estimate. */
  readonly estimated: number
  /** Billionths of the currency; null without tokens, without a known price, and in rows from before migration 0006. */
  readonly cost: number | null
  /** What tokens from a cache of the upstream would have cost more without it; null as the cost, and in rows from before migration 0019. */
  readonly saved: number | null
  /** `USD` */
  readonly currency: string | null
  /** The name of the price: its source and version. */
  readonly price: string | null
  /** JSON object of texts. */
  readonly tags: string
  /** 32 hexadecimal digits; null if calls are not traced, and in rows from before migration 0011. */
  readonly trace_id: string | null
}

/** Totals of calls by hour and by day, so that charts and bills need not read each call. */
export interface UsageTable {
  readonly span: 'hour' | 'day'
  /** Begin of the hour or day, in UTC. */
  readonly at: number
  /** `model`, `key`, `tag:` and the tag's name, or `all`. */
  readonly dimension: string
  /** The account of the calls; empty: all accounts, or none. */
  readonly scope: string
  /** The model, key or tag value; empty for calls without one. */
  readonly name: string
  readonly requests: number
  readonly errors: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  readonly reasoning_tokens: number
  /** Billionths of a US dollar. */
  readonly cost: number
  /** What caches of upstreams have saved, in the same unit. 0 in rows from before migration 0019. */
  readonly saved: number
  /** The requests whose cost is known; of the others it is not in `cost`. 0 in rows from before migration 0006. */
  readonly priced: number
}

/** One row, whose count rises with each change of what keys and accounts may do. */
export interface KeyChangesTable {
  readonly count: number
}

/** Counters of limits and budgets. */
export interface QuotaCountersTable {
  readonly id: string
  /** A `CounterState` as JSON; empty while it is made. */
  readonly state: string
  /** When the row may be removed. */
  readonly expires_at: number
}

/** The thresholds that budgets have reached: the process that adds a row reports it. */
export interface BudgetAlertsTable {
  /** The id of the budget's counter. */
  readonly counter: string
  readonly window_end: number
  /** The amount of the budget in billionths of a US dollar: after a change of it, its thresholds are others. */
  readonly amount: number
  /** Per cent. */
  readonly threshold: number
}

/** Messages that webhooks have not accepted yet. */
export interface WebhookMessagesTable {
  /** `msg_…` */
  readonly id: string
  /** Hex SHA-256 of the URL, which may hold a secret. */
  readonly endpoint: string
  readonly created_at: number
  /** JSON. */
  readonly body: string
  readonly tries: number
  /** When it is sent, or sent again. A gateway that is about to send it moves this time on. */
  readonly due_at: number
}

/** Values that the gateway keeps for a while: sealed texts, and no content of calls that the database could read. */
export interface KeptValuesTable {
  /** What they are, such as `call-states`. */
  readonly space: string
  readonly account: string
  readonly key: string
  readonly value: string
  /** Bytes of the row. */
  readonly size: number
  readonly expires_at: number
}

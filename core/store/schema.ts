/**
 * The tables as they stand after the newest migration. Only text, integer and bigint columns: what every dialect has. Times are
 * milliseconds since 1970, lists and maps are JSON texts.
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
  readonly calls: CallsTable
  readonly usage: UsageTable
}

/** Who owns keys. */
export interface AccountsTable {
  readonly id: string
  readonly name: string
  /** JSON array of globs of model ids. */
  readonly models: string
  readonly rate_class: string | null
  readonly created_at: number
}

/** API keys: of each its digest, never the key itself. */
export interface KeysTable {
  /** `key_…` */
  readonly id: string
  readonly account_id: string
  readonly name: string
  /** An `admin` key opens the management API, and no model. */
  readonly kind: 'live' | 'test' | 'admin'
  /** Hex SHA-256 of the secret, which itself is stored nowhere. Unique. */
  readonly digest: string
  /** The secret's first characters, for display. */
  readonly prefix_shown: string
  readonly last_four: string
  /** JSON array of globs that narrow the account's. */
  readonly models: string
  readonly rate_class: string | null
  /** JSON object of texts. */
  readonly tags: string
  readonly created_at: number
  /** `usr_…`, `key_…` or a program; null for keys from before anyone was asked. */
  readonly created_by: string | null
  /** The creator's name as it was then. */
  readonly created_by_name: string | null
  readonly expires_at: number | null
  readonly revoked_at: number | null
  /** About a minute late. */
  readonly last_used_at: number | null
  /** The key that this one took over from, and the one that took over from it. */
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
  /** As a PHC string; null for who signs in elsewhere. */
  readonly password: string | null
  /** Issuer and subject at the OpenID provider; null until used there. Unique. */
  readonly identity: string | null
  readonly created_at: number
  readonly disabled_at: number | null
  readonly last_sign_in_at: number | null
}

/** Who is signed in: of each session its digest, never the token. */
export interface SessionsTable {
  /** Hex SHA-256 of the cookie's token. */
  readonly digest: string
  readonly user_id: string
  readonly created_at: number
  /** About a minute late. */
  readonly seen_at: number
}

/** Invitations that are open. One that was used or withdrawn is gone: the audit trail tells of it. */
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

/** Links that make the first admin. */
export interface SetupLinksTable {
  /** Hex SHA-256 of the link's token. */
  readonly digest: string
  readonly expires_at: number
}

/** How often somebody tried to sign in, as whom and from where. */
export interface SignInTriesTable {
  /** `email …` or `address …` */
  readonly subject: string
  readonly tries: number
  /** When the first of them was. */
  readonly since: number
}

/** What was done by whom. The database refuses to change or remove a row. */
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
  /** JSON: per field its value before and after. */
  readonly changes: string
}

/** Calls that have ended: who asked for which model, who served it and how that went. Nothing of what was asked and answered. */
export interface CallsTable {
  /** `req_…`: it begins with the time, so that ids stand in the order in which calls came. */
  readonly id: string
  /** When it came. */
  readonly at: number
  readonly account_id: string | null
  /** `key_…`, or `routes:…` for a key of routes.yaml; null for who had none that is valid. */
  readonly key_id: string | null
  readonly endpoint: string
  /** The model asked for, aliases resolved; null where the call ended before that was known. */
  readonly model: string | null
  /** 0 or 1. */
  readonly stream: number
  /** The HTTP status sent; 499 where the client left first. */
  readonly status: number
  readonly outcome: string
  /** Whose doing it was that the call did not succeed: `caller`, `policy`, `upstream` or `gateway`. */
  readonly fault: string | null
  /** The name of the error, and the `code` that the client read. */
  readonly error: string | null
  readonly error_code: string | null
  /** JSON array of the tries: namespace, model, provider, result, ms. */
  readonly attempts: string
  /** JSON array of the links that had their turn: name, ms. Empty in rows from before they were kept. */
  readonly links: string
  /** 1 where the last of them gave the reply. */
  readonly served: number
  /** Microseconds: of the whole call, to the first byte of content, and in the gateway itself. */
  readonly total_us: number
  readonly first_byte_us: number | null
  readonly overhead_us: number
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cached_tokens: number | null
  readonly reasoning_tokens: number | null
  /** 1 where the tokens are an estimate. */
  readonly estimated: number
  /** JSON object of texts. */
  readonly tags: string
}

/** Calls added up by hour and by day: what charts and bills are made of, so that they need not look at each call. */
export interface UsageTable {
  readonly span: 'hour' | 'day'
  /** When the hour or the day begins, in UTC. */
  readonly at: number
  /** What the calls have in common: `model`, `key`, `tag:` and its name; `all`: nothing. */
  readonly dimension: string
  /** The account whose calls they are; empty: of all accounts, or of none. */
  readonly scope: string
  /** Which model, key or tag; empty where the calls have none. */
  readonly name: string
  readonly requests: number
  readonly errors: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  readonly reasoning_tokens: number
}

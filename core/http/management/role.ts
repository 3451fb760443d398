/** Who may call a route. `nobody`: anyone, signed in or not. `member`: anyone signed in, and admin keys. */
export type Role = 'nobody' | 'member' | 'admin'

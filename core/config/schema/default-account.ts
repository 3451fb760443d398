/** The account of the keys that name none; it always exists in the database. */
export const DEFAULT_ACCOUNT = 'default'

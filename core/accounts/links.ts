/**
 * Where the console takes a token from. It stands behind the `#`: what stands there a browser keeps to itself, so that no log on the
 * way and no `Referer` has it. `origin`: where people reach the console.
 */
export const setupLink = (origin: string, token: string): string => `${origin}/console/setup#${token}`

/** The link of an invitation: as that of the setup. */
export const invitationLink = (origin: string, token: string): string => `${origin}/console/invitation#${token}`

/**
 * Where the console takes a token from. It stands behind the `#`: what stands there a browser keeps to itself, so that no log on the
 * way and no `Referer` has it. `console`: the origin that people reach the console at.
 */
export const setupLink = (console: string, token: string): string => `${console}/console/setup#${token}`

/** The link of an invitation: as that of the setup. */
export const invitationLink = (console: string, token: string): string => `${console}/console/invitation#${token}`

/** Where people may also sign in. */
export interface OpenIdProvider {
  /** What the button says. */
  readonly name: string
}

/** A note on an address that is allowed but unusual: on an intranet a domain may have no dot. */
export const emailNote = (email: string): string | undefined =>
  /^\S+@[^\s.]+$/.test(email)
    ? `Is "${email.slice(email.indexOf('@') + 1)}" the whole domain? Most end in .com or the like.`
    : undefined

/** Characters of what clients, upstreams and plugins name: a model's own name may be as long as a body. */
const LONGEST_NAME = 200

/** A name as each database takes it: PostgreSQL's texts hold no NUL, and none of its keys may be too long. */
export function storable(name: string): string {
  return name.slice(0, LONGEST_NAME).replaceAll('\0', '')
}

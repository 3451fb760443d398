/** What a roster can hold: it keeps its neighbours itself. */
export interface Linked {
  previous: this | undefined
  next: this | undefined
}

/**
 * Who is here now: a list in which coming and going cost nothing but four references. A `Set` with as many comings and goings as
 * there are calls leaves outgrown tables behind, and V8's young-generation collector keeps all that they point to: half of a
 * gateway's time went into copying dead calls.
 */
export class LinkedList<Member extends Linked> {
  #last: Member | undefined

  add(member: Member): void {
    member.previous = this.#last
    if (this.#last !== undefined) this.#last.next = member
    this.#last = member
  }

  /** Once for each member added. */
  remove(member: Member): void {
    const { previous, next } = member
    if (previous !== undefined) previous.next = next
    if (next !== undefined) next.previous = previous
    else this.#last = previous
    member.previous = undefined
    member.next = undefined
  }

  /** Members may leave while they are visited. */
  *[Symbol.iterator](): Generator<Member> {
    for (let member = this.#last; member !== undefined; ) {
      const next = member.previous
      yield member
      member = next
    }
  }
}

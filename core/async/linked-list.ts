/** A member of a `LinkedList`: it holds the references to its neighbours. */
export interface Linked {
  previous: this | undefined
  next: this | undefined
}

/**
 * An intrusive doubly linked list: adding and removing write four references and allocate nothing. A `Set` that every call enters and
 * leaves abandons outgrown tables, and V8's young-generation collector keeps all that they reference
 * (docs/decisions/hot-path.md).
 */
export class LinkedList<Member extends Linked> {
  #first: Member | undefined
  #last: Member | undefined

  /** The oldest. */
  get first(): Member | undefined {
    return this.#first
  }

  add(member: Member): void {
    member.previous = this.#last
    if (this.#last !== undefined) this.#last.next = member
    else this.#first = member
    this.#last = member
  }

  /** Without effect on what is not in the list. */
  remove(member: Member): void {
    const { previous, next } = member
    if (previous === undefined && this.#first !== member) return
    if (previous !== undefined) previous.next = next
    else this.#first = next
    if (next !== undefined) next.previous = previous
    else this.#last = previous
    member.previous = undefined
    member.next = undefined
  }

  /** The newest first. A member may be removed during the iteration. */
  *[Symbol.iterator](): Generator<Member> {
    for (let member = this.#last; member !== undefined; ) {
      const next = member.previous
      yield member
      member = next
    }
  }
}

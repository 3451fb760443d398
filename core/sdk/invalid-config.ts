/** What is wrong with one field of a plugin's `config`. */
export interface FieldProblem {
  /** The path of the field in the config: `['headers', 'x-team']`. Empty: the config as a whole. */
  readonly path: readonly (string | number)[]
  /** What to write instead. Continues a sentence that begins with the field's name: `is set twice; remove one of the two`. */
  readonly message: string
}

/**
 * Thrown by `create` if it cannot use a config that its schema allows. Each problem is reported at the line of its field, together with
 * all other errors of routes.yaml. Messages must not repeat secrets.
 */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig'
  readonly problems: readonly FieldProblem[]

  constructor(...problems: readonly FieldProblem[]) {
    super(problems.map(({ path, message }) => `${path.join('.')} ${message}`.trimStart()).join('\n'))
    this.problems = problems
  }
}

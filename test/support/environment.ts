/** Variables of the environment. Undefined: the variable is deleted. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Sets environment variables, and returns what restores them. */
export function changeEnvironment(variables: Environment): () => void {
  const previous = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]))
  const set = (values: Environment): void => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  set(variables)
  return () => set(previous)
}

/** Sets environment variables in the tests of a `describe`, and restores them after it. */
export function setEnvironment(variables: Environment): void {
  let restore: () => void
  before(() => {
    restore = changeEnvironment(variables)
  })
  after(() => restore())
}

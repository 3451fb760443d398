/** Sets environment variables in the tests of a `describe`, and restores them after it. Undefined: the variable is deleted. */
export function setEnvironment(variables: Readonly<Record<string, string | undefined>>): void {
  const set = (values: typeof variables): void => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  let previous: typeof variables = {}
  before(() => {
    previous = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]))
    set(variables)
  })
  after(() => set(previous))
}

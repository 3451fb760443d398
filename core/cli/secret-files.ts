import { readFileSync } from 'node:fs'

const SUFFIX = '_FILE'

/** A variable that names a file cannot be used. The message says what to do. */
export class SecretFileError extends Error {
  override readonly name = 'SecretFileError'
}

/**
 * The variables that files hold: of each `UMG_NAME_FILE`, `UMG_NAME` with the text of that file, without white space at its end. Throws a
 * SecretFileError.
 */
export function readSecretFiles(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const files = Object.entries(env).filter(([name, path]) => name.startsWith('UMG_') && name.endsWith(SUFFIX) && path)
  return Object.fromEntries(
    files.map(([file, path]) => {
      const name = file.slice(0, -SUFFIX.length)
      if (env[name] !== undefined) throw new SecretFileError(`${name} and ${file} are both set: remove one of them.`)
      return [name, readText(file, path!)]
    }),
  )
}

function readText(variable: string, path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trimEnd()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new SecretFileError(`${variable}: ${path} cannot be read (${code}): name a file that this user may read.`)
  }
  if (text === '') throw new SecretFileError(`${variable}: ${path} is empty: write the value into it, or remove the variable.`)
  return text
}

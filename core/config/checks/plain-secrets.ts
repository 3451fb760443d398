import type { ConfigFile, Problem } from '../file/config-file.ts'
import { API_KEY } from '../file/mask.ts'
import { formatPath, type Path, pathOfPointer } from '../file/path.ts'
import type { RawConfig } from '../file/raw-config.ts'
import type { SecretField } from '../schema/validate.ts'

const PLAIN_KEY =
  'API key in plain text: ' +
  `put an upstream's key into the environment (\${env:NAME}) or a file (\${file:/path}), ` +
  "declare a client's key by its hash, and revoke this key if others have seen the file"

/** Finds API keys in plain text anywhere in the file, comments included. */
export function findPlainKeys({ text }: ConfigFile): readonly Problem[] {
  return [...text.matchAll(API_KEY)].map(({ 0: key, index }) => ({ span: [index, index + key.length], message: PLAIN_KEY }))
}

/** Finds the fields that a plugin's schema declares secret and whose value is in the file itself. `base`: the path of the config. */
export function findPlainSecrets(secrets: readonly SecretField[], raw: RawConfig, base: Path): readonly Problem[] {
  return secrets.flatMap(({ pointer }) => {
    const path = [...base, ...pathOfPointer(pointer)]
    const hide = raw.literals(path)
    return hide.length === 0
      ? []
      : [{ span: raw.file.valueSpan(path), message: `${formatPath(path)} ${advice(path, raw)}`, hide }]
  })
}

function advice(path: Path, raw: RawConfig): string {
  const [, variable] = /^\$([A-Z_][A-Z0-9_]*)$/.exec(raw.file.scalar(path)?.source ?? '') ?? []
  if (variable !== undefined) return `is not a reference to a variable; write "\${env:${variable}}"`
  return raw.substitution(path)?.references.length
    ? `is a secret, and its default is in plain text; write "\${env:NAME}" without a default`
    : `is a secret and must not be in this file: write "\${env:NAME}" or "\${file:/path}"`
}

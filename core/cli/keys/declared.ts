import { text } from 'node:stream/consumers'
import { createSecret, kindOf } from '../../keys/format.ts'
import { digestOf } from '../../text/ids.ts'
import { type CommandIo, writeJson } from '../output.ts'

/** `umg keys generate`: makes a key for `keys:` of routes.yaml. Prints only its secret on stdout, so that it can be redirected. Resolves to the exit code. */
export function generateKeyCommand({ test, json }: { readonly test?: boolean; readonly json?: boolean }, io: CommandIo): number {
  const kind = test === true ? 'test' : 'live'
  const secret = createSecret(kind)
  const hash = hashOf(secret)
  if (json === true) {
    writeJson({ kind, secret, hash }, io)
    return 0
  }
  io.stderr.write(
    `Save the secret now: it is not stored. For keys: of routes.yaml:\n\n  - name: …\n    hash: ${hash}\n    kind: ${kind}\n    models: ["*"]\n\n`,
  )
  io.stdout.write(`${secret}\n`)
  return 0
}

/**
 * `umg keys hash`: prints the hash of the secret on `stdin`, for `keys:` of routes.yaml. Takes no arguments. Resolves
 * to the exit code: 1 if stdin is not a key.
 */
export async function hashKeyCommand(
  { json, args = [] }: { readonly json?: boolean; readonly args?: readonly string[] },
  stdin: NodeJS.ReadableStream,
  io: CommandIo,
): Promise<number> {
  if (args.length > 0) {
    // The message does not repeat the argument, as the parser's would: it may be the secret.
    io.stderr.write(
      'The secret is read from stdin: other users of the machine can read arguments, and shells keep them. umg keys hash < nightly.key\n',
    )
    return 1
  }
  const secret = (await text(stdin)).trim()
  const kind = kindOf(secret)
  if (kind !== 'live' && kind !== 'test') {
    // The message does not repeat the text: it may be the secret of something else.
    const reason =
      secret === ''
        ? 'There is no text on stdin'
        : kind === 'admin'
          ? 'The text on stdin is an admin key, which cannot be declared in routes.yaml'
          : 'The text on stdin is not a key of this gateway, which would refuse it'
    io.stderr.write(`${reason}. Make a key with umg keys generate.\n`)
    return 1
  }
  const hash = hashOf(secret)
  if (json === true) writeJson({ kind, hash }, io)
  else io.stdout.write(`${hash}\n`)
  return 0
}

const hashOf = (secret: string): string => `sha256:${digestOf(secret)}`

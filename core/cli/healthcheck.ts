import { reach } from './ask-gateway.ts'
import type { CommandIo } from './io.ts'

/** A gateway that takes longer to say that it is ready is not, in milliseconds. */
const PATIENCE_MS = 5_000

/** `umg healthcheck`: says in one line whether a gateway takes calls. Resolves to the exit code. Throws AskError. */
export async function healthcheck({ url }: { readonly url: string }, { stdout }: CommandIo): Promise<0 | 1> {
  const reply = await reach(new URL('/readyz', url), {}, PATIENCE_MS)
  stdout.write(`${url} is ${(await reply.text()).split('\n', 1)[0]}\n`)
  return reply.ok ? 0 : 1
}

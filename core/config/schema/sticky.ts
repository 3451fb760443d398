import { Type } from 'typebox'
import { defaulted } from './fields.ts'

/** By what calls keep to one place of several: docs/routes.md#sticky. */
export type Sticky = 'session' | 'prompt' | 'key' | 'user' | 'none'

const VALUES: Sticky[] = ['session', 'prompt', 'key', 'user', 'none']

/** The schema of a field `sticky`. `place`: what the calls keep to. `otherwise`: how it is chosen for a call without a sign. */
export const stickyTo = (place: string, otherwise: string) =>
  defaulted(
    Type.Enum(VALUES, {
      default: 'session',
      description:
        `Which calls keep to one ${place}, so that the upstream finds their prompts in its cache: those of the same conversation (\`session\`), ` +
        'of the same conversation or with the same first messages (`prompt`), of the same API key (`key`), or with the same `user` field (`user`). ' +
        `For all others, and with \`none\`, ${otherwise}.`,
    }),
  )

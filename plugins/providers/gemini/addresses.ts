import { Type } from 'unified-model-gateway/plugin'

/**
 * The option `addresses` of a config: Google reads buckets with the rights of the gateway's credential, which are not the caller's. The
 * field `addresses` of a namespace says the same for any provider.
 */
export const addressesOption = Type.Optional(
  Type.Array(Type.String({ pattern: '^(https?|gs)://' }), {
    description: 'Addresses of files that Google may read for clients, by globs, in addition to those of public web servers.',
    examples: [['gs://our-pictures/*']],
  }),
)

/** The Files API: it has files that only the gateway's own key can read. */
export const OWN_HOSTS = ['generativelanguage.googleapis.com'] as const

import { defineChain, Type } from 'unified-model-gateway/plugin'

/** A link that sends the version of its routes.yaml to the upstream, and counts the links created and closed. */
export default defineChain({
  apiVersion: 1,
  name: 'versioned',
  schema: Type.Object({ version: Type.Integer() }, { additionalProperties: false }),
  create({ version }, host) {
    const count = host.metrics.counter('soak_links_total', 'Links made and closed.', ['what'])
    count.add(1, 'made')
    return {
      async handle(ctx, next) {
        ctx.state.upstreamHeaders['x-version'] = String(version)
        await next()
      },
      close: () => count.add(1, 'closed'),
    }
  },
})

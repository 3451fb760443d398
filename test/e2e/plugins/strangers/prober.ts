import { writeFileSync } from 'node:fs'
import { defineChain, Type } from 'unified-model-gateway/plugin'

/** The names that an object has, its own and those it inherits, but for what every object inherits. */
export function reachable(object: object): string[] {
  const names = new Set<string>()
  for (let at: object | null = object; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Reflect.ownKeys(at)) names.add(String(name))
  return [...names].sort()
}

/** Writes down which names of core it can reach, and what it can change of them. */
export default defineChain({
  apiVersion: 1,
  name: 'prober',
  schema: Type.Object({ file: Type.String() }),
  create({ file }, host) {
    const counter = host.metrics.counter('prober_total', 'Probes.')
    const histogram = host.metrics.histogram('prober_seconds', 'Probes.', [], [1])
    return {
      async handle(ctx, next) {
        const { state } = ctx
        const call = await state.call()
        const changes = {
          'ctx.state': Reflect.set(ctx, 'state', {}),
          'ctx.state.call': Reflect.set(Object.getPrototypeOf(state), 'call', () => undefined),
          'call.splice': Reflect.set(Object.getPrototypeOf(call), 'splice', () => undefined),
          'host.keys': Reflect.set(host, 'keys', {}),
        }
        const reservation = await host.limits.reserve([{ subject: 'prober', limits: {} }], 0)
        await next()
        ;(state.attempts as unknown[]).splice(0)
        const names = Object.entries({
          'ctx.state': state,
          'ctx.state.reply': state.reply,
          'a call': call,
          host,
          'host.log': host.log,
          'host.metrics': host.metrics,
          'a counter': counter,
          'a histogram': histogram,
          'host.keys': host.keys,
          'host.limits': host.limits,
          'a reservation': reservation,
        }).map(([name, object]) => [name, reachable(object)])
        const constructors = [state, call].map((object) => object.constructor === Object)
        writeFileSync(
          file,
          JSON.stringify({ names: Object.fromEntries(names), changes, constructors, attempts: state.attempts.length }),
        )
      },
    }
  },
})

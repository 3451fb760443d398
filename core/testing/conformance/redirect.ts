import type { EndpointHandler, Host, Provider, ProviderPlugin } from '../../sdk/api.ts'
import type { ReceivedRequest } from '../upstream/scripted-upstream.ts'

/** A request of a provider, as the upstream received it. */
export interface SentRequest extends ReceivedRequest {
  /** The origin that the provider sent it to, if that is not the upstream's: `https://api.example.com`. */
  readonly origin?: string
}

/** A header that says where a redirected request was to go. */
const ORIGIN = 'x-origin-of-request'

type Request = Provider['request']

/** The plugin, whose providers send all requests to the upstream at this origin: no test reaches the address of a vendor. */
export function redirect(plugin: ProviderPlugin, upstream: string): ProviderPlugin {
  const getJson =
    (host: Host): Host['getJson'] =>
    (url, { headers, signal }) => {
      const { origin, pathname, search } = new URL(url)
      return origin === upstream
        ? host.getJson(url, { headers, signal })
        : host.getJson(upstream + pathname + search, { headers: { ...headers, [ORIGIN]: origin }, signal })
    }
  return {
    ...plugin,
    create: async (config, host) => redirected(await plugin.create(config, { ...host, getJson: getJson(host) }), upstream),
  }
}

function redirected(provider: Provider, upstream: string): Provider {
  const toUpstream =
    (request: Request): Request =>
    async (call, attempt) => {
      const made = await request(call, attempt)
      if (!('origin' in made) || made.origin === upstream) return made
      return { ...made, origin: upstream, headers: { ...made.headers, [ORIGIN]: made.origin } }
    }
  const own: Partial<Provider> = {
    request: toUpstream((call, attempt) => provider.request(call, attempt)),
    ...(provider.chatBy && {
      chatBy(call, model, refused) {
        const way = provider.chatBy!(call, model, refused)
        return way && overlaid(way, { request: toUpstream((call, attempt) => way.request(call, attempt)) })
      },
    }),
    ...(provider.endpoints && {
      endpoints: Object.fromEntries(
        Object.entries(provider.endpoints).map(([name, handler]) => [
          name,
          overlaid(handler, { request: toUpstream((call, attempt) => handler.request(call, attempt)) }),
        ]),
      ),
    }),
  }
  return overlaid(provider, own)
}

/** The object with some members replaced. Its methods keep their `this`, which may have private members. */
function overlaid<Target extends Pick<Provider, 'request'> | EndpointHandler>(target: Target, own: Partial<Target>): Target {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof Target]
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** The request as its provider sent it. */
export function undoRedirect(received: ReceivedRequest): SentRequest {
  const { [ORIGIN]: origin, ...headers } = received.headers
  return origin === undefined ? received : { ...received, origin, headers: { ...headers, host: new URL(origin).host } }
}

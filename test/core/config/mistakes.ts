// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of routes.yaml

/** A mistake in a routes.yaml, and what its author should be told. */
export interface Mistake {
  readonly mistake: string
  /** What stands there without the mistake. */
  readonly right: string
  readonly wrong: string
  /** A part of the message. */
  readonly says: string
  /** The part of `wrong` at whose line the message stands. Default: its first line. */
  readonly at?: string
  /** Changes what other mistakes are about, so that it is not made together with them. */
  readonly alone?: true
}

/** Mistakes of syntax. */
const SYNTAX: readonly Mistake[] = [
  {
    mistake: 'a forgotten quote round a reference in { }',
    right: 'apiKey: "${env:OPENAI_API_KEY}", headers',
    wrong: 'apiKey: ${env:OPENAI_API_KEY}, headers',
    says: 'inside { } and [ ], a reference needs quotes',
    alone: true,
  },
  {
    mistake: 'a forgotten quote round the last reference in { }',
    right: 'apiKey: "${env:ANTHROPIC_API_KEY}" }',
    wrong: 'apiKey: ${env:ANTHROPIC_API_KEY} }',
    says: 'inside { } and [ ], a reference needs quotes',
    alone: true,
  },
  {
    mistake: 'a forgotten quote round a reference with a default in [ ]',
    right: 'models: [qwen3-32b]',
    wrong: 'models: [${env:LOCAL_MODEL:-qwen3-32b}]',
    says: 'inside { } and [ ], a reference needs quotes',
    alone: true,
  },
  {
    mistake: 'a namespace that stands twice',
    right: '  local:\n    provider: openai-compatible\n',
    wrong: '  local:\n    models: [qwen3-32b]\n  local:\n    provider: openai-compatible\n',
    at: 'local:\n    provider',
    says: 'duplicate key',
    alone: true,
  },
  {
    mistake: 'a section that stands twice',
    right: '  claude:\n    provider: anthropic\n',
    wrong: 'namespaces:\n  claude:\n    provider: anthropic\n',
    says: 'duplicate key',
    alone: true,
  },
  {
    mistake: 'a config that stands twice',
    right: '    config: { baseUrl: "http://127.0.0.1:9/v1" }\n',
    wrong: '    config: { baseUrl: "http://127.0.0.1:9/v1" }\n    config: { headers: { x-a: b } }\n',
    at: 'config: { headers',
    says: 'duplicate key',
    alone: true,
  },
  { mistake: 'a tab', right: '  gpt-4o: acme/smart', wrong: '\tgpt-4o: acme/smart', says: 'not valid YAML', alone: true },
  {
    mistake: 'a bracket that is not closed',
    right: 'models: [gpt-5.5, "o4-*"]',
    wrong: 'models: [gpt-5.5, "o4-*"',
    says: 'not valid YAML',
    alone: true,
  },
]

/** Misspelt fields. */
const FIELDS: readonly Mistake[] = [
  { mistake: 'targts', right: '        targets:\n', wrong: '        targts:\n', says: 'did you mean "targets"?', alone: true },
  { mistake: 'falbacks', right: 'fallbacks: [', wrong: 'falbacks: [', says: 'did you mean "fallbacks"?', alone: true },
  { mistake: 'aliasses', right: 'aliases:\n', wrong: 'aliasses:\n', says: 'did you mean "aliases"?', alone: true },
  { mistake: 'acounts', right: 'accounts:\n', wrong: 'acounts:\n', says: 'did you mean "accounts"?', alone: true },
  {
    mistake: 'namespace',
    right: 'namespaces:\n  openai',
    wrong: 'namespace:\n  openai',
    says: 'did you mean "namespaces"?',
    alone: true,
  },
  { mistake: 'key', right: 'keys:\n  - name', wrong: 'key:\n  - name', says: 'did you mean "keys"?', alone: true },
  { mistake: 'clases', right: '      classes:\n', wrong: '      clases:\n', says: 'did you mean "classes"?', alone: true },
  { mistake: 'pluggin', right: '- plugin: explain', wrong: '- pluggin: explain', says: 'did you mean "plugin"?', alone: true },
  {
    mistake: 'provder',
    right: '    provider: anthropic',
    wrong: '    provder: anthropic',
    says: 'did you mean "provider"?',
    alone: true,
  },
  { mistake: 'base_url', right: 'baseUrl: "http', wrong: 'base_url: "http', says: 'did you mean "baseUrl"?', alone: true },
  {
    mistake: 'api_key',
    right: 'apiKey: "${env:ANTH',
    wrong: 'api_key: "${env:ANTH',
    says: 'did you mean "apiKey"?',
    alone: true,
  },
  { mistake: 'weigth', right: 'weight: 80', wrong: 'weigth: 80', says: 'did you mean "weight"?' },
  { mistake: 'attempt', right: 'attempts: 3', wrong: 'attempt: 3', says: 'did you mean "attempts"?' },
  { mistake: 'connectt', right: 'connect: 5s', wrong: 'connectt: 5s', says: 'did you mean "connect"?' },
  { mistake: 'totl', right: 'total: 10m', wrong: 'totl: 10m', says: 'did you mean "total"?', alone: true },
  { mistake: 'reqests', right: 'limits: { requests', wrong: 'limits: { reqests', says: 'did you mean "requests"?' },
  { mistake: 'expirs', right: 'expires: 2099', wrong: 'expirs: 2099', says: 'did you mean "expires"?', alone: true },
  { mistake: 'responce', right: 'response: {', wrong: 'responce: {', says: 'did you mean "response"?', alone: true },
  {
    mistake: 'namespace in when',
    right: 'when: { namespaces',
    wrong: 'when: { namespace',
    says: 'did you mean "namespaces"?',
    alone: true,
  },
  { mistake: 'failng', right: 'failing: {', wrong: 'failng: {', says: 'did you mean "failing"?', alone: true },
  { mistake: 'imput', right: 'input: 0.1', wrong: 'imput: 0.1', says: 'did you mean "input"?' },
]

/** Wrong values. */
const VALUES: readonly Mistake[] = [
  { mistake: 'a version in quotes', right: 'version: 1', wrong: 'version: "1"', says: 'version must be 1, without quotes' },
  { mistake: 'a rate without a unit', right: 'requests: 60/min', wrong: 'requests: 60', says: 'write it in quotes' },
  { mistake: 'a duration without a unit', right: 'firstByte: 20s', wrong: 'firstByte: 20', says: 'must be a duration' },
  { mistake: 'a share in percent', right: 'weight: 20', wrong: 'weight: 20%', says: 'must be a number' },
  {
    mistake: 'a text for a list',
    right: 'models: [claude-sonnet-5]',
    wrong: 'models: claude-sonnet-5',
    says: 'must be',
    alone: true,
  },
  { mistake: 'an unknown cause', right: 'on: [connect', wrong: 'on: [conect', says: 'did you mean "connect"?' },
  { mistake: 'a kind of key that there is not', right: 'kind: live', wrong: 'kind: prod', says: 'must be "live" or "test"' },
  { mistake: 'a hash that is not one', right: 'hash: sha256:0123', wrong: 'hash: sha256:xyz', says: 'SHA-256' },
  { mistake: 'a day that there is not', right: '2099-01-31', wrong: '2099-02-31', says: 'must be a date or an instant' },
  { mistake: 'a budget without its currency', right: '30 USD/day', wrong: '30/day', says: 'accounts.research.budget' },
  { mistake: 'an unknown preset', right: 'preset: openai', wrong: 'preset: opnai', says: 'did you mean "openai"?' },
  {
    mistake: 'an unknown plugin',
    right: 'plugin: explain',
    wrong: 'plugin: explian',
    says: 'did you mean "explain"?',
    alone: true,
  },
  {
    mistake: 'an unknown provider',
    right: 'provider: anthropic',
    wrong: 'provider: antropic',
    says: 'did you mean "anthropic"?',
    alone: true,
  },
  {
    mistake: 'a variable that is not set',
    right: 'ANTHROPIC_API_KEY}',
    wrong: 'CLAUDE_KEY}',
    says: 'CLAUDE_KEY is not set',
    alone: true,
  },
  {
    mistake: 'a reference without its braces',
    right: '"${env:OPENAI_API_KEY}"',
    wrong: '"$V2_KEY"',
    says: 'namespaces.openai.config.apiKey is not a reference to a variable; write "${env:V2_KEY}"',
  },
  {
    mistake: 'a reference that is not closed',
    right: 'OPENAI_API_KEY}"',
    wrong: 'OPENAI_API_KEY"',
    says: 'its "}" is missing',
    alone: true,
  },
  {
    mistake: 'a credential in a header',
    right: 'headers: { x-site: eu }',
    wrong: 'headers: { X-Api-Key: hunter2 }',
    says: 'namespaces.openai.config.headers.X-Api-Key is a secret and must not be in this file',
    alone: true,
  },
  {
    mistake: 'a secret in the file',
    right: '"${env:ANTHROPIC_API_KEY}"',
    wrong: 'hunter2',
    says: 'is a secret and must not be in this file',
  },
]

/** What plugins refuse when they are created. */
const REFUSED: readonly Mistake[] = [
  {
    mistake: 'a base URL without a scheme',
    right: 'http://127.0.0.1:9/v1',
    wrong: '127.0.0.1:9/v1',
    says: 'namespaces.local.config.baseUrl must be an http or https URL',
  },
  {
    mistake: 'a base URL with its endpoint',
    right: ':9/v1"',
    wrong: ':9/v1/chat/completions"',
    says: 'namespaces.local.config.baseUrl must end before',
    alone: true,
  },
  {
    mistake: 'a header that cannot be set',
    right: 'headers: { x-site',
    wrong: 'headers: { host',
    says: 'namespaces.openai.config.headers.host cannot be set',
    alone: true,
  },
  {
    mistake: 'an unknown place in a header',
    right: '"{cost_usd}"',
    wrong: '"{cost}"',
    says: 'chain[2].config.response.x-cost has a faulty template: unknown name {cost}',
  },
  {
    mistake: 'a place that only replies have',
    right: '"{tag.team}"',
    wrong: '"{served_model}"',
    says: 'chain[2].config.upstream.x-team has a faulty template',
  },
  {
    mistake: 'a header of the gateway',
    right: 'x-served-by',
    wrong: 'x-umg-model',
    says: 'chain[2].config.response.x-umg-model is set by the gateway',
  },
  {
    mistake: 'an unknown place in a tag',
    right: '"{header.x-team}"',
    wrong: '"{haeder.x-team}"',
    says: 'chain[1].config.tags.team has a faulty template',
    alone: true,
  },
  {
    mistake: 'a credential as a tag',
    right: '{header.x-team}',
    wrong: '{header.authorization}',
    says: 'chain[1].config.tags.team has a faulty template: {header.authorization} is a credential',
    alone: true,
  },
  {
    mistake: 'a glob for keys',
    right: 'keys: ["routes:search"]',
    wrong: 'keys: ["*"]',
    says: '"*" is not a key of this file; declared: routes:search (those of the database are named by their ids, as umg keys list shows them: key_…)',
    alone: true,
  },
  {
    mistake: 'a label that is no tag',
    right: 'metrics: [team]',
    wrong: 'metrics: [taem]',
    says: 'chain[1].config.metrics[0]: "taem" is not a tag; did you mean "team"? (if keys of the database have it, declare it under "tags" of rate-tagging, as taem: "{tag.taem}")',
    alone: true,
  },
  {
    mistake: 'a template with a tag that nothing sets',
    right: '{tag.team}',
    wrong: '{tag.cost-center}',
    says: ' (if keys of the database have it, declare it under "tags" of rate-tagging, as cost-center: "{tag.cost-center}")',
    alone: true,
  },
]

/** Names that lead nowhere, and rules without an effect. */
const NAMES: readonly Mistake[] = [
  {
    mistake: 'a class that is not declared, as the default',
    right: 'default: standard',
    wrong: 'default: standrd',
    says: 'did you mean "standard"?',
  },
  {
    mistake: 'a class that is not declared, of an account',
    right: 'class: batch',
    wrong: 'class: bacth',
    says: 'did you mean "batch"?',
  },
  { mistake: 'an unknown account', right: 'account: research', wrong: 'account: reserch', says: 'did you mean "research"?' },
  {
    mistake: 'an unknown namespace in when',
    right: '[openai, claude]',
    wrong: '[opnai, claude]',
    says: 'did you mean "openai"?',
  },
  { mistake: 'an unknown key', right: 'routes:search"', wrong: 'routes:serch"', says: 'did you mean "routes:search"?' },
  {
    mistake: 'an unknown model of a target',
    right: 'model: local/qwen3-32b',
    wrong: 'model: local/qwen3-23b',
    says: 'did you mean "qwen3-32b"?',
  },
  {
    mistake: 'an unknown namespace of a fallback',
    right: '[claude/claude',
    wrong: '[cluade/claude',
    says: 'did you mean "claude"?',
  },
  {
    mistake: 'an unknown model of an alias',
    right: 'gpt-4o: acme/smart',
    wrong: 'gpt-4o: acme/smrt',
    says: 'did you mean "smart"?',
  },
  { mistake: 'an unknown namespace of a glob', right: '"openai/*"]', wrong: '"opneai/*"]', says: 'did you mean "openai"?' },
  {
    mistake: 'a glob that fits no curated model',
    right: '    models: ["acme/*"]',
    wrong: '    models: ["acme/smrt*"]',
    says: 'matches none of the curated models',
  },
  {
    mistake: 'a price for an unknown model',
    right: 'local/qwen3-32b: { input',
    wrong: 'local/qwen3-23b: { input',
    says: 'did you mean "qwen3-32b"?',
  },
  {
    mistake: 'an expectation of an unknown model',
    right: 'gpt-4o: openai/gpt-5.5',
    wrong: 'gpt-4o: openai/gpt-5.6',
    says: 'did you mean "gpt-5.5"?',
  },
  {
    mistake: 'a failure of another namespace',
    right: 'failing: { openai: 5xx }',
    wrong: 'failing: { opnai: 5xx }',
    says: 'did you mean "openai"?',
  },
  {
    mistake: 'a timeout longer than the total',
    right: 'total: 5m',
    wrong: 'total: 10s',
    says: 'it is longer than "total"',
    alone: true,
  },
  {
    mistake: 'a place limit above the shared one',
    right: 'limit: 20, queue',
    wrong: 'limit: 50, queue',
    says: '"limits" allows no more calls at once',
    alone: true,
  },
  {
    mistake: 'a retry that is not made',
    right: 'attempts: 3',
    wrong: 'attempts: 1',
    says: 'has no effect because "attempts" is 1',
    alone: true,
  },
]

/** Sixty mistakes, and more, of people who used the gateway with nothing but its docs. */
export const MISTAKES: readonly Mistake[] = [...SYNTAX, ...FIELDS, ...VALUES, ...REFUSED, ...NAMES]

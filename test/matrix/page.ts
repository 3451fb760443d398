import type { Protocol } from '../e2e/clients/vendors.ts'
import { remedyOf } from '../support/requirements.ts'
import { COLUMNS, ROWS, type Row } from './rows.ts'

/** What came of a client and an upstream. */
export interface Cell {
  readonly failures: readonly string[]
  /** What was lost: the names of `x-umg-params-dropped`, and `THOUGHTS`. */
  readonly losses: readonly string[]
}

/** What came of a row. `cells`: by the upstream's name. */
export interface Result {
  readonly packageVersion: string
  readonly cells: ReadonlyMap<string, Cell>
}

/** Lost by clients that do not send back what a model has thought. */
export const THOUGHTS = 'earlier thoughts'

/** A protocol, with the rows of the clients that speak it. */
export interface Section {
  readonly title: string
  readonly path: string
  readonly rows: readonly Row[]
}

const section = (title: string, path: string, protocol: Protocol, version?: Row['version']): Section => ({
  title,
  path,
  rows: ROWS.filter((row) => row.protocol === protocol && row.version === version),
})

/** A section for each protocol. */
export const SECTIONS: readonly Section[] = [
  section('Chat Completions', '/v1/chat/completions', 'chat'),
  section('Responses', '/v1/responses', 'responses'),
  section('Messages, version 2026-10-21', '/v1/messages', 'messages', '2026-10-21'),
  section('Messages, version 2023-06-01', '/v1/messages', 'messages', '2023-06-01'),
]

/** The clients, each once, though it may speak several protocols. */
export const NAMES: readonly string[] = [...new Set(ROWS.map(({ name }) => name))]

/** Signs of cells. */
export const SIGNS = { works: '✓', fails: '✗', none: '–' } as const

/** The page of what came of all rows; those that could not run are absent. */
export function pageOf(results: ReadonlyMap<Row, Result>): string {
  const cells = [...results.values()].flatMap((result) => [...result.cells.values()])
  const notes = [...new Set(cells.flatMap(({ losses }) => losses))].sort()
  const failures = [...new Set(cells.flatMap((cell) => cell.failures))].sort()

  const cellOf = (cell: Cell | undefined): string => {
    if (cell === undefined) return SIGNS.none
    const { works, fails } = SIGNS
    if (cell.failures.length > 0) return [fails, ...cell.failures.map((one) => `F${failures.indexOf(one) + 1}`)].join(' ')
    return [works, ...cell.losses.map((loss) => notes.indexOf(loss) + 1).sort((one, other) => one - other)].join(' ')
  }

  const versionOf = (name: string): string =>
    ROWS.flatMap((row) => (row.name === name && results.has(row) ? [results.get(row)!.packageVersion] : []))[0] ?? SIGNS.none
  const skipped = [...new Map(ROWS.filter((row) => !results.has(row)).map((row) => [row.name, row])).values()]

  return `${[
    INTRODUCTION,
    '## Clients',
    '`✓`: the client speaks the protocol. `–`: it does not, so there is nothing to try.',
    table(
      ['client', 'version', ...SECTIONS.map(({ title }) => title)],
      NAMES.map((name) => [
        name,
        versionOf(name),
        ...SECTIONS.map(({ rows }) => (rows.some((row) => row.name === name) ? SIGNS.works : SIGNS.none)),
      ]),
    ),
    ...(skipped.length === 0
      ? []
      : [
          'Not here when the page was written, so that their cells are `–`:',
          skipped.map(({ name, needs }) => `- ${name}: ${remedyOf(needs!)}`).join('\n'),
        ]),
    '## Upstreams',
    table(
      ['upstream', '`provider`', 'model', 'reached by', 'refuses what its vendor refuses'],
      COLUMNS.map(({ name, provider, model, reachedBy, strict }) => [
        name,
        `\`${provider}\``,
        `\`${model}\``,
        reachedBy,
        strict ? 'yes' : 'no',
      ]),
    ),
    ...SECTIONS.flatMap(({ title, path, rows }) => [
      `## Clients of ${title}`,
      `\`POST ${path}\`. Numbers are those of the [notes](#notes).`,
      table(
        ['client', ...COLUMNS.map(({ name }) => name)],
        rows.map((row) => [row.name, ...COLUMNS.map(({ name }) => cellOf(results.get(row)?.cells.get(name)))]),
      ),
    ]),
    '## Notes',
    table(
      ['note', 'what is lost', 'why, and what it means'],
      notes.map((loss, index) => [String(index + 1), loss === THOUGHTS ? loss : `\`${loss}\``, meaningOf(loss)]),
    ),
    'Names in `code` are those of the header `x-umg-params-dropped`, by which the gateway tells the client of each loss of a request. [Parameters by provider](providers.md), [Messages](messages.md) and [Responses](responses.md) say how each member is handled.',
    ...(failures.length === 0 ? [] : ['What does not work:', failures.map((one, index) => `- F${index + 1}: ${one}`).join('\n')]),
  ].join('\n\n')}\n`
}

const INTRODUCTION = `# Compatibility

Which clients work with which upstreams through the gateway, and what they lose. Each cell was tried: a client as its users install it, which
has the gateway's address and a key; the gateway; and behind it a server that replies as the upstream's vendor does.

    npm run matrix

writes this page, in some five minutes. The rows of SDKs for Python and of coding agents need more than npm: the first lines of \`npm run matrix\` name
what is missing. \`npm test\` tries a part of it: every client with one strict upstream, every upstream by the wire of each protocol.

In each cell the client

- asks, gets an answer, asks again with both in the conversation, and gets another one: whole and streamed;
- has a model think and call a tool twice, and gets an answer to the results: whole and streamed;
- gets an object of a JSON schema, reads what the model thinks, and has tokens counted, if it has a way to do so;
- or, if it is a coding agent, makes a file by a command, and ends.

| cell | meaning |
|---|---|
| ✓ | all of it works |
| ✓ 1 | all of it works, but what [note](#notes) 1 names is lost |
| ✗ F1 | some of it does not work: F1, below the notes, says why |
| – | not tried: the client was not there |`

/** What the loss of a member means to a user. */
const meaningOf = (loss: string): string =>
  MEANINGS[loss] ?? (loss.startsWith('anthropic-beta.') ? 'the cloud refuses this beta' : 'the upstream has no counterpart')

const MEANINGS: Readonly<Record<string, string>> = {
  [THOUGHTS]:
    'this upstream wants back what the model thought before it called a tool, and the client does not send it: the model answers without it',
  'anthropic-beta': "the upstream has none of Anthropic's betas",
  cache_control: 'the upstream caches prompts by itself, or not at all',
  client_metadata: "notes of the client for OpenAI's statistics",
  context_management: 'the upstream removes nothing from a conversation: the client does, or the conversation ends at its limit',
  'metadata.user_id': 'the upstream takes no names of users',
  prompt_cache_key: 'the upstream caches prompts by itself, or not at all',
  reasoning_effort: 'the model does not take this effort: it gets the nearest one',
  thinking: 'the upstream is not asked to think: its models decide',
  'thinking.budget_tokens': 'the model takes an effort, not a number of tokens: it gets the nearest effort',
  'thinking.display': 'the upstream shows of its thoughts what it always shows',
  'tools.strict': 'the upstream does not promise arguments that fit their schema',
  'tools[].defer_loading': 'the model sees all tools at once',
  'tools[].eager_input_streaming': 'arguments of tools are streamed as the upstream streams them',
  'tools[].web_search': 'only OpenAI runs this tool: the model cannot call it',
  'x-anthropic-billing-header':
    "a line of Claude Code's prompt that is for Anthropic alone, and would spoil the caches of others",
}

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [`| ${heads.join(' | ')} |`, `|${'---|'.repeat(heads.length)}`, ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n')

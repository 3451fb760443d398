import { isRecord, parseRecord, textOf } from '../../sdk/json.ts'
import { argumentsOfInput, inputOfArguments } from '../custom-tools.ts'
import { fittedName } from '../tool-names.ts'
import { addedTools, membersOf } from './added-tools.ts'
import type { ItemStatus, Members, OutputItem, PatchOperation } from './wire.ts'

/** The kinds of tools that the client runs itself. */
export type ToolType = 'function' | 'custom' | 'tool_search' | 'local_shell' | 'shell' | 'apply_patch'

/** A tool that a client offers: what its calls are in the Responses API. */
export interface ClientTool {
  readonly type: ToolType
  readonly name: string
  readonly namespace?: string
}

/** What every call has. */
interface OwnCall {
  readonly id: string
  readonly status: ItemStatus
  readonly call_id: string
}

/** How the calls of a kind of tool are written: as items of the Responses API, and as calls of a function in chat completions. */
interface ToolKind {
  /** The type of a call, of its output, and the beginning of its id. */
  readonly call: OutputItem['type']
  readonly output: string
  readonly prefix: string
  /** The function, of a tool that the API defines: without its name. */
  definition?(tool: Members): { readonly description: string; readonly parameters: Members }
  /** The arguments of the function, of a call of the conversation. */
  toArguments(item: Members): string
  /** The output as content. */
  toContent(item: Members): unknown
  /** A call of the model. `text`: the arguments of the function. */
  toItem(own: OwnCall, tool: ClientTool, text: string): OutputItem
}

const object = (properties: Members, required: readonly string[]): Members => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const TIMEOUT = { type: 'integer', description: 'Milliseconds to wait at most.' }

const PATCH = {
  description:
    'Creates, updates or deletes a file. `diff` has lines that begin with a space (kept), `-` (removed) or `+` (added), in sections that begin ' +
    'with `@@`; of a new file each line begins with `+`.',
  parameters: object(
    {
      type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
      path: { type: 'string' },
      diff: { type: 'string', description: 'Not needed to delete a file.' },
    },
    ['type', 'path'],
  ),
}

/** The kinds by the type of the tool (openai-node 7.55, `Tool`). */
export const KINDS: Readonly<Record<ToolType, ToolKind>> = {
  function: {
    call: 'function_call',
    output: 'function_call_output',
    prefix: 'fc',
    toArguments: (item) => textOf(item.arguments) || '{}',
    toContent: ({ output }) => output,
    toItem: (own, { type: _, ...named }, text) => ({ ...own, ...named, type: 'function_call', arguments: text }),
  },
  custom: {
    call: 'custom_tool_call',
    output: 'custom_tool_call_output',
    prefix: 'ctc',
    toArguments: ({ input }) => argumentsOfInput(input),
    toContent: ({ output }) => output,
    toItem: (own, { type: _, ...named }, text) => ({ ...own, ...named, type: 'custom_tool_call', input: inputOfArguments(text) }),
  },
  tool_search: {
    call: 'tool_search_call',
    output: 'tool_search_output',
    prefix: 'tsc',
    definition: ({ description, parameters }) => ({
      description: textOf(description) || 'Finds tools by what they do. The tools that it finds can be called afterwards.',
      parameters: isRecord(parameters) ? parameters : object({ query: { type: 'string' } }, ['query']),
    }),
    toArguments: ({ arguments: asked }) => (typeof asked === 'string' ? asked : JSON.stringify(asked ?? {})),
    toContent: toFoundTools,
    toItem: (own, _, text) => ({ ...own, type: 'tool_search_call', execution: 'client', arguments: parseRecord(text) ?? {} }),
  },
  local_shell: {
    call: 'local_shell_call',
    output: 'local_shell_call_output',
    prefix: 'lsh',
    definition: () => ({
      description: "Runs a command on the user's machine.",
      parameters: object(
        {
          command: { type: 'array', items: { type: 'string' }, description: 'The program and its arguments.' },
          working_directory: { type: 'string' },
          timeout_ms: TIMEOUT,
        },
        ['command'],
      ),
    }),
    toArguments: ({ action }) => argumentsOf(action, ['command', 'working_directory', 'timeout_ms']),
    toContent: ({ output }) => textual(output),
    toItem: (own, _, text) => {
      const { command, working_directory: folder, timeout_ms: timeout } = parseRecord(text) ?? {}
      const limits = { timeout_ms: numberOf(timeout), working_directory: textOf(folder) || null }
      return { ...own, type: 'local_shell_call', action: { type: 'exec', command: textsOf(command), env: {}, ...limits } }
    },
  },
  shell: {
    call: 'shell_call',
    output: 'shell_call_output',
    prefix: 'sh',
    definition: () => ({
      description: "Runs commands in a shell on the user's machine.",
      parameters: object(
        {
          commands: { type: 'array', items: { type: 'string' } },
          timeout_ms: TIMEOUT,
          max_output_length: { type: 'integer', description: 'The most characters of output.' },
        },
        ['commands'],
      ),
    }),
    toArguments: ({ action }) => argumentsOf(action, ['commands', 'timeout_ms', 'max_output_length']),
    toContent: ({ output }) => textual(output),
    toItem: (own, _, text) => {
      const { commands, timeout_ms: timeout, max_output_length: most } = parseRecord(text) ?? {}
      const action = { commands: textsOf(commands), timeout_ms: numberOf(timeout), max_output_length: numberOf(most) }
      return { ...own, type: 'shell_call', action, environment: { type: 'local' } }
    },
  },
  apply_patch: {
    call: 'apply_patch_call',
    output: 'apply_patch_call_output',
    prefix: 'apc',
    definition: () => PATCH,
    toArguments: ({ operation }) => argumentsOf(operation, ['type', 'path', 'diff']),
    toContent: ({ status, output }) => [status, output].map(textOf).filter(Boolean).join('\n'),
    // The API knows no incomplete ones.
    toItem: ({ status, ...own }, _, text) => ({
      ...own,
      status: status === 'completed' ? status : 'in_progress',
      type: 'apply_patch_call',
      operation: toOperation(parseRecord(text) ?? {}),
    }),
  },
}

const TYPES = Object.keys(KINDS) as readonly ToolType[]

/** The kind of tool whose calls are items of this type; undefined for other items. */
export const typeOfCall = (item: unknown): ToolType | undefined => TYPES.find((type) => KINDS[type].call === item)
/** The kind of tool whose outputs are items of this type; undefined for other items. */
export const typeOfOutput = (item: unknown): ToolType | undefined => TYPES.find((type) => KINDS[type].output === item)

/** The kind of a tool that the client runs; undefined if the vendor runs it. */
export function typeOfTool({ type, execution, environment }: Members): ToolType | undefined {
  const known = TYPES.find((name) => name === type)
  // A search without this runs at the vendor, as do commands in its containers.
  if (known === 'tool_search' && execution !== 'client') return undefined
  if (known === 'shell' && isRecord(environment) && environment.type !== 'local') return undefined
  return known
}

/** The name in chat completions, which have no namespaces, of a tool or of what a call calls. `type`: the kind of the tool. */
export const chatNameOf = (type: ToolType, { namespace, name }: Members): string =>
  KINDS[type].definition === undefined ? fittedName([namespace, name].map(textOf).filter(Boolean).join('__')) : type

/** The tools of a list, by their names in chat completions. */
export function clientTools(tools: unknown): ReadonlyMap<string, ClientTool> {
  const known = new Map<string, ClientTool>()
  const add = (tool: Members, namespace?: string): void => {
    const type = typeOfTool(tool)
    if (type === undefined) return
    const named = { name: textOf(tool.name), ...(namespace !== undefined && { namespace }) }
    known.set(chatNameOf(type, named), { type, ...named })
  }
  for (const tool of membersOf(tools)) {
    if (tool.type === 'namespace') for (const inner of membersOf(tool.tools)) add(inner, textOf(tool.name))
    else add(tool)
  }
  return known
}

/** The tools that the items of a conversation have added, by their names in chat completions. */
export const conversationTools = (input: unknown): ReadonlyMap<string, ClientTool> =>
  clientTools(addedTools(input).map(({ tool }) => tool))

/** What a search has found: the tools themselves are among those of the request. */
function toFoundTools({ tools }: Members): string {
  const names = [...clientTools(tools).keys()]
  return names.length === 0 ? 'No tools were found.' : `These tools can be called now: ${names.join(', ')}`
}

function toOperation({ type, path, diff }: Members): PatchOperation {
  const place = { path: textOf(path) }
  if (type === 'delete_file') return { type, ...place }
  return { type: type === 'create_file' ? type : 'update_file', ...place, diff: textOf(diff) }
}

function argumentsOf(members: unknown, names: readonly string[]): string {
  const own: Members = isRecord(members) ? members : {}
  return JSON.stringify(Object.fromEntries(names.filter((name) => own[name] != null).map((name) => [name, own[name]])))
}

const textual = (output: unknown): string => (typeof output === 'string' ? output : JSON.stringify(output ?? ''))

/** A model may write one text for a list of one. */
const textsOf = (list: unknown): string[] => [list].flat().filter((one) => typeof one === 'string')

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)

import { type Call, defineCallFunction, type Host, isRecord } from 'unified-model-gateway/plugin'
import { BETA_HEADER } from './betas.ts'

/** How bodies of the Messages API differ at clouds from Anthropic's own. */
export interface CloudBody {
  /** Members to replace, or by `undefined` to remove. */
  readonly members: Readonly<Record<string, unknown>>
  /** The betas that the cloud does not take, as `fitBetas` names them. */
  readonly lostBetas: readonly string[]
  /** The beta in place of a tool's `eager_input_streaming`, for a cloud that refuses it (github.com/anthropics/claude-agent-sdk-python, issue 694). */
  readonly eagerBeta?: string
}

/** A body as a cloud takes it, and what it loses. */
export interface FittedBody {
  readonly body: Buffer
  readonly dropped: readonly string[]
}

/** The members that belong to betas: without these they are "Extra inputs" (github.com/anthropics/claude-code, issue 21612). */
const OF_BETAS: Readonly<Record<string, string>> = {
  'context-management-2025-06-27': 'context_management',
  'fast-mode-2026-02-01': 'speed',
  'structured-outputs-2025-11-13': 'output_format',
}

/** Members below the top level: the scan of a request says whether it has any. */
const NESTED = ['scope', 'eager_input_streaming']

/** A client's own body for a cloud. It is parsed only if it has something that clouds refuse. */
export async function cloudBody(call: Call, host: Pick<Host, 'compute'>, cloud: CloudBody): Promise<FittedBody> {
  const lost = cloud.lostBetas
    .map((name) => OF_BETAS[name.slice(BETA_HEADER.length + 1)])
    .filter((name) => name !== undefined && call.keys.includes(name)) as readonly string[]
  const members = { ...cloud.members, ...Object.fromEntries(lost.map((name) => [name, undefined])) }
  if (!call.keys.includes('cache_control') && !call.mayHave(NESTED)) return { body: call.splice(members), dropped: lost }
  const { body, dropped } = await host.compute(call, fittedBody, { ...cloud, members })
  return { body, dropped: [...lost, ...dropped] }
}

/**
 * Clouds choose no place for a cache by themselves (github.com/UKGovernmentBEIS/inspect_ai, pull request 3851, May 2026: "cache_control: Extra inputs
 * are not permitted"), and caches have no scope there (github.com/Wei-Shaw/claude-relay-service, pull request 965, February 2026).
 */
export const fittedBody = defineCallFunction(
  import.meta.url,
  'fittedBody',
  (call, { members, eagerBeta }: CloudBody): FittedBody => {
    const fitter = new Fitter(eagerBeta !== undefined)
    const names = PARTS.filter((name) => call.keys.includes(name))
    const parts = Object.fromEntries(names.map((name) => [name, fitter.fit(call.member(name))]))
    const mark = fitter.fitMark(call.member('cache_control'))
    return {
      body: call.splice({
        ...parts,
        ...(mark != null && { messages: withMarkAtEnd(parts.messages, mark) }),
        cache_control: undefined,
        ...members,
        ...(fitter.isEager && { anthropic_beta: [...((members.anthropic_beta as string[] | undefined) ?? []), eagerBeta] }),
      }),
      dropped: fitter.hasScope ? ['cache_control.scope'] : [],
    }
  },
)

const PARTS = ['system', 'tools', 'messages']
/** Members with the client's own data. */
const DATA: ReadonlySet<string> = new Set(['input_schema', 'input', 'input_examples'])

class Fitter {
  hasScope = false
  /** Whether a tool's arguments are to be streamed as they are written. */
  isEager = false
  readonly #refusesEager: boolean

  constructor(refusesEager: boolean) {
    this.#refusesEager = refusesEager
  }

  fit(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.fit(each))
    if (!isRecord(value)) return value
    const { eager_input_streaming: eager, ...others } = value
    const isMoved = eager !== undefined && this.#refusesEager
    if (isMoved) this.isEager ||= eager === true
    return Object.fromEntries(
      Object.entries(isMoved ? others : value).map(([name, member]) => {
        if (name === 'cache_control') return [name, this.fitMark(member)]
        return [name, DATA.has(name) ? member : this.fit(member)]
      }),
    )
  }

  fitMark(mark: unknown): unknown {
    if (!isRecord(mark) || !('scope' in mark)) return mark
    this.hasScope = true
    const { scope: _, ...rest } = mark
    return rest
  }
}

/** Messages with the mark that Anthropic would set by itself, at the last block. Thinking takes none. */
export function withMarkAtEnd(messages: unknown, mark: unknown): unknown {
  const last = Array.isArray(messages) ? messages.at(-1) : undefined
  if (!isRecord(last)) return messages
  const blocks = typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : last.content
  const block = Array.isArray(blocks) ? blocks.at(-1) : undefined
  if (!isRecord(block) || /thinking/.test(String(block.type))) return messages
  const content = [...(blocks as readonly unknown[]).slice(0, -1), { cache_control: mark, ...block }]
  return [...(messages as readonly unknown[]).slice(0, -1), { ...last, content }]
}

import { type CallState, compileTemplate, type Template } from 'unified-model-gateway/plugin'
import { type Direction, refusedHeader } from './rules.ts'

/** What the places of a template stand for; unknown ones leave their header out. */
const PLACES: Readonly<Record<string, (state: CallState) => string | undefined>> = {
  namespace: ({ model }) => model?.namespace,
  model: ({ model }) => model?.model,
  request_id: ({ id }) => id,
  key: ({ principal }) => principal?.name,
  account: ({ principal }) => principal?.account,
}

/** Known once someone has served the call: in a reply only. */
const PLACES_OF_REPLY: typeof PLACES = {
  served_namespace: ({ served }) => served?.namespace,
  served_model: ({ served }) => served?.model,
}

const ALL_PLACES = { ...PLACES, ...PLACES_OF_REPLY }
const TAG = 'tag.'

const PRINTABLE = /^[ -~]*$/
const UNPRINTABLE = /[^ -~]/g
const MAX_LENGTH = 256

/** Headers whose values are made call by call. */
export interface Headers {
  /** Whether a value can only be known once the body has been read. */
  readonly needModel: boolean
  /** Sets those headers whose values are all known; names are in lower case. */
  stamp(state: CallState, set: (name: string, value: string) => void): void
}

/** Compiles the headers of one direction. Throws an Error that names the header. */
export function compileHeaders(direction: Direction, config: Readonly<Record<string, string>>): Headers {
  const compiled = new Map<string, Template>()
  for (const [spelling, text] of Object.entries(config)) {
    const name = spelling.toLowerCase()
    try {
      if (compiled.has(name)) throw new Error('stands twice, in another spelling')
      compiled.set(name, compileHeader(direction, name, text))
    } catch (error) {
      throw new Error(`${direction}: the header "${spelling}" ${(error as Error).message}`)
    }
  }
  return {
    needModel: [...compiled.values()].some(({ names }) => names.includes('namespace') || names.includes('model')),
    stamp(state, set) {
      for (const [name, template] of compiled) {
        const value = template.fill((place) => textOf(place, state))
        if (value !== undefined) set(name, value)
      }
    },
  }
}

function compileHeader(direction: Direction, name: string, text: string): Template {
  const refused = refusedHeader(direction, name)
  if (refused !== undefined) throw new Error(refused)
  if (!PRINTABLE.test(text)) throw new Error('may only hold printable ASCII')
  const places = Object.keys(direction === 'response' ? ALL_PLACES : PLACES)
  try {
    return compileTemplate(text, [...places, `${TAG}*`])
  } catch (error) {
    throw new Error(`has a faulty template: ${(error as Error).message}`)
  }
}

function textOf(place: string, state: CallState): string | undefined {
  const filled = place.startsWith(TAG) ? tagOf(state, place.slice(TAG.length)) : ALL_PLACES[place]!(state)
  return headerText(filled ?? '') || undefined
}

const tagOf = ({ tags }: CallState, name: string): string | undefined => (Object.hasOwn(tags, name) ? tags[name] : undefined)

/** What a header can carry of a value that a client or an upstream chose. */
export const headerText = (value: string): string =>
  value.length <= MAX_LENGTH && PRINTABLE.test(value) ? value : value.replace(UNPRINTABLE, '').slice(0, MAX_LENGTH)

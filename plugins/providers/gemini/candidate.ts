import { isRecord } from 'unified-model-gateway/plugin'
import type { Candidate, ReplyPart } from './wire.ts'

/** What a part of a candidate says to a client. */
export type Piece =
  | { readonly kind: 'text' | 'thought'; readonly text: string }
  | { readonly kind: 'call'; readonly id?: string; readonly name: string; readonly json: string; readonly signature?: string }
  /** An image as a data URL. */
  | { readonly kind: 'image'; readonly url: string }
  /** The signature of a part that is no call: it may belong to the calls before it. */
  | { readonly kind: 'signature'; readonly signature: string }

/** The pieces of a candidate, in order. Whatever is not of the protocol is passed over. */
export function piecesOf({ content }: Candidate): Piece[] {
  const parts = isRecord(content) && Array.isArray(content.parts) ? content.parts.filter(isRecord) : []
  return parts.flatMap(toPieces)
}

/** The candidates of a reply or an event, each with the number of its choice. */
export function candidatesOf(candidates: unknown): { readonly index: number; readonly candidate: Candidate }[] {
  const all: readonly Candidate[] = Array.isArray(candidates) ? candidates.filter(isRecord) : []
  return all.map((candidate) => ({ index: toIndex(candidate.index), candidate }))
}

/** Google leaves out an index of 0. */
function toIndex(index: unknown): number {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < MAX_CHOICES ? index : 0
}

/** More than any model gives; OpenAI's own most. */
const MAX_CHOICES = 128

function toPieces({ text, thought, thoughtSignature, functionCall, inlineData }: ReplyPart): Piece[] {
  const signature = textOf(thoughtSignature) || undefined
  if (isRecord(functionCall) && typeof functionCall.name === 'string') {
    const { id, name, args } = functionCall
    const json = JSON.stringify(isRecord(args) ? args : {})
    return [{ kind: 'call', ...(textOf(id) && { id: textOf(id) }), name, json, ...(signature && { signature }) }]
  }
  if (thought === true) return textOf(text) ? [{ kind: 'thought', text: textOf(text) }] : []
  return [
    ...(textOf(text) ? [{ kind: 'text' as const, text: textOf(text) }] : []),
    ...(isRecord(inlineData) ? toImage(inlineData) : []),
    ...(signature ? [{ kind: 'signature' as const, signature }] : []),
  ]
}

function toImage({ mimeType, data }: NonNullable<ReplyPart['inlineData']>): Piece[] {
  if (typeof mimeType !== 'string' || typeof data !== 'string' || !mimeType.startsWith('image/')) return []
  return [{ kind: 'image', url: `data:${mimeType};base64,${data}` }]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

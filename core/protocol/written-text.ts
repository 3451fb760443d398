import type { UsageReport } from './usage-report.ts'

/**
 * The members whose text a model has written, in the events and replies of all protocols: text, thoughts, refusals, and what it passes to
 * tools. `delta` is the text of an event of the Responses API.
 */
const WRITTEN =
  /"(?:content|text|reasoning_content|reasoning|thinking|refusal|arguments|partial_json|input|delta|generated_text|transcript)"\s*:\s*"/g

/**
 * The length of the text that a model has written, in JSON. It is counted as it is written there, so an escape has several characters: the
 * result is never below the length of the text. Bytes, if the JSON is a text of bytes (latin1).
 */
export function writtenLength(json: string): number {
  let length = 0
  WRITTEN.lastIndex = 0
  while (WRITTEN.test(json)) {
    const start = WRITTEN.lastIndex
    const end = endOfString(json, start)
    length += end - start
    WRITTEN.lastIndex = end
  }
  return length
}

/**
 * Tokens of a picture in an answer of chat completions: as many as gpt-image-1 has in high quality, by its readers (community.openai.com/t/1275254);
 * Gemini's have at most 2000 (ai.google.dev/gemini-api/docs/pricing). Not confirmed by a vendor's page on 2026-11-26.
 */
export const DRAWN_TOKENS = 6240

/** Characters of base64 for each token of sound: OpenAI streams 48,000 bytes a second, and counts some 20 tokens. */
const SOUND_PER_TOKEN = 3200

/** Tokens of the base64 of sound. */
export const soundTokens = ({ length }: string): number => Math.ceil(length / SOUND_PER_TOKEN)

const ADDRESS = /"url"\s*:\s*"/g
const DATA = /"data"\s*:\s*"([^"]*)"/g

/** No event has more pictures or pieces of sound: a hostile one could have millions. */
const MOST = 100

/** Tells a report what chunks of chat completions, in JSON, have drawn or spoken. */
export function reportMade(report: UsageReport, chunks: string): void {
  if (chunks.includes('"images"')) {
    for (const _ of chunks.matchAll(ADDRESS).take(MOST)) report.made('image_tokens', DRAWN_TOKENS)
  }
  if (chunks.includes('"audio"')) {
    for (const [, data] of chunks.matchAll(DATA).take(MOST)) report.made('audio_tokens', soundTokens(data!))
  }
}

/** The place of the quote that ends a string which begins at `start`; the end of the text if there is none. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start); end >= 0; end = json.indexOf('"', end + 1)) {
    let slash = end
    while (slash > start && json[slash - 1] === '\\') slash--
    if ((end - slash) % 2 === 0) return end
  }
  return json.length
}

/**
 * The length of the text in a run of `count` events of one stream of chunks, which differ in little but their text: of three and more only the
 * first and the last are searched, and the others are taken to have the same framing.
 */
export function writtenInRun(frames: string, count: number): number {
  if (count <= 2) return writtenLength(frames)
  const ends = [frames.slice(0, frames.indexOf('\n') + 2), frames.slice(frames.lastIndexOf('\n', frames.length - 3) + 1)]
  const framings = ends.map(framingOf).filter((length) => length !== undefined)
  return framings.length === 0 ? 0 : Math.max(0, frames.length - count * Math.min(...framings))
}

/** OpenAI's padding, whose length differs from event to event. */
const PADDING = /"obfuscation"\s*:\s*"([^"]*)"/

/** The length of an event without its text; undefined if it has none. */
function framingOf(frame: string): number | undefined {
  const written = writtenLength(frame)
  return written === 0 ? undefined : frame.length - written - (PADDING.exec(frame)?.[1]?.length ?? 0)
}

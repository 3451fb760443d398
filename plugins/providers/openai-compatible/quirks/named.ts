import { emptyOverflow, googleError } from './errors.ts'
import type { Quirk } from './quirk.ts'
import { cachedTokens, thinkingParts, uncountedReasoning, usageInsideChunks } from './replies.ts'
import {
  alternatingRoles,
  autoToolChoice,
  developerRole,
  filledContent,
  forcedToolsOfKimi,
  forcedToolsOfQwen,
  forcedToolsWithoutThinking,
  googleThinking,
  maxTokens,
  mistralOrder,
  noEmptyTools,
  noMessageNames,
  noStreamOptions,
  oneSystemMessage,
  plainAnswers,
  randomSeed,
  typedTools,
  wordsOfToolChoice,
} from './requests.ts'
import { toolCallParts, toolFinish } from './tool-calls.ts'
import { shortToolIds } from './tool-ids.ts'

/** The quirks that a namespace may name for its own `baseUrl`: all but those with a table of the vendor's. */
export const QUIRKS: ReadonlyMap<string, Quirk> = new Map(
  [
    developerRole,
    oneSystemMessage,
    alternatingRoles,
    plainAnswers,
    mistralOrder,
    noMessageNames,
    filledContent,
    noEmptyTools,
    wordsOfToolChoice,
    autoToolChoice,
    forcedToolsWithoutThinking,
    forcedToolsOfKimi,
    forcedToolsOfQwen,
    typedTools,
    maxTokens,
    randomSeed,
    noStreamOptions,
    googleThinking,
    shortToolIds,
    toolCallParts,
    toolFinish,
    usageInsideChunks,
    uncountedReasoning,
    cachedTokens,
    thinkingParts,
    googleError,
    emptyOverflow,
  ].map((quirk) => [quirk.name, quirk]),
)

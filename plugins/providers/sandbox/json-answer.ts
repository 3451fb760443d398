import type { ResponseFormat } from 'unified-model-gateway/plugin'
import { Refusal } from './refusal.ts'
import { Budget } from './sample/budget.ts'
import { sample } from './sample/sample.ts'
import { Unsampleable } from './sample/unsampleable.ts'

/** The JSON that `response_format` asks for; undefined where it asks for none. Throws a `Refusal` for a schema that cannot be met. */
export function jsonAnswer(format: ResponseFormat | null | undefined, said: string): string | undefined {
  if (format?.type === 'json_object') return JSON.stringify({ reply: said })
  if (format?.type !== 'json_schema') return undefined
  return JSON.stringify(sampleFor('response_format.json_schema.schema', format.json_schema.schema ?? true, new Budget()))
}

/** A value for a schema of the request. Throws a `Refusal` that names the schema's place. */
export function sampleFor(param: string, schema: unknown, budget: Budget): unknown {
  try {
    return sample(schema, budget)
  } catch (error) {
    if (error instanceof Unsampleable)
      throw new Refusal(param, `The sandbox cannot make up a value for this schema: ${error.message}.`)
    throw error
  }
}

import { nearest } from '../../text/suggestions.ts'
import { asMap } from '../file/raw-config.ts'
import { routesSchema } from '../schema/routes-yaml.ts'

const SECTIONS: readonly string[] = Object.keys(routesSchema.properties)

/** Whether the file has a section under a misspelt name. The schema reports that; what the section declares is not unknown. */
export function isMisspelt(values: unknown, section: keyof typeof routesSchema.properties): boolean {
  const written = Object.keys(asMap(values)).filter((name) => !SECTIONS.includes(name))
  return written.some((name) => nearest(name, SECTIONS) === section)
}

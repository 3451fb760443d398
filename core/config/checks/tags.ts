import { asMap, type RawConfig } from '../file/raw-config.ts'
import { type LocatedNames, TAG } from './undeclared-names.ts'

/** A place of a template that is filled with a tag. */
const PLACE = /\{tag\.([^{}]+)\}/g

/** The tags that keys and accounts of the file have, and those that templates of the chain use. */
export function namesOfTags(raw: RawConfig): readonly LocatedNames[] {
  const { chain, keys, accounts } = asMap(raw.values)
  const owners = [...Object.values(asMap(keys)), ...Object.values(asMap(accounts))]
  const names = owners.flatMap((owner) => Object.keys(asMap(asMap(owner).tags)))
  const uses = Object.keys(asMap(chain)).flatMap((index) => {
    const scalars = [...raw.file.scalars(['chain', Number(index), 'config'])]
    return scalars.flatMap(([path, { source = '' }]) =>
      Array.from(source.matchAll(PLACE), ([, name]) => ({ kind: TAG, path, declares: false, names: [name!] })),
    )
  })
  return [{ kind: TAG, path: ['keys'], declares: true, names }, ...uses]
}

import { didYouMean } from '../../text/suggestions.ts'
import { formatPath, type Path } from '../file/path.ts'
import { asMap, type RawConfig } from '../file/raw-config.ts'

/** A place of a template that is filled with a tag. */
const TAG = /\{tag\.([^{}]+)\}/g

/**
 * Notices of templates with a tag that nothing in the file sets, and whose name is near to one that something sets. No errors: keys of
 * the database have tags too, and links may set some.
 */
export function noticesOfTags(raw: RawConfig, ofLinks: readonly string[]): readonly string[] {
  const { chain, keys, accounts } = asMap(raw.values)
  const owners = [...Object.values(asMap(keys)), ...Object.values(asMap(accounts))]
  const known = [...new Set([...ofLinks, ...owners.flatMap((owner) => Object.keys(asMap(asMap(owner).tags)))])]
  return Object.keys(asMap(chain)).flatMap((index) => {
    const scalars = [...raw.file.scalars(['chain', Number(index), 'config'])]
    return scalars.flatMap(([path, { source = '' }]) =>
      [...source.matchAll(TAG)].flatMap(([, tag]) => noticeOf(tag!, known, path, raw)),
    )
  })
}

function noticeOf(tag: string, known: readonly string[], path: Path, { file }: RawConfig): readonly string[] {
  const meant = known.includes(tag) ? '' : didYouMean(tag, known)
  if (meant === '') return []
  const { line } = file.position(file.valueSpan(path))
  return [`line ${line}: ${formatPath(path)}: nothing in this file sets the tag "${tag}"${meant}`]
}
